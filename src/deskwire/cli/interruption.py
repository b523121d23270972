"""A signal that ends a command before it is done."""

import signal


class Interrupted(KeyboardInterrupt):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def exit_code(interruption: KeyboardInterrupt) -> int:
    """As shells tell it: 128 and the number of the signal."""
    return 128 + (interruption.number if isinstance(interruption, Interrupted) else signal.SIGINT)
