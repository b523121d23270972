"""Looking a database over: every derived value computed again and compared with what is kept."""

from deskwire.desk.checking.checking import check

__all__ = ["check"]
