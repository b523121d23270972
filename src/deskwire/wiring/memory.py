"""Gives back to the machine what a start needed and serving does not."""

import ctypes


def give_back() -> None:
    """glibc keeps what was freed for later; other C libraries have no `malloc_trim`, and need none."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
