"""The demo workspace: the support desk of an invented bicycle shop, as records of the record format."""

from deskwire.demo.workspace import records, write

__all__ = ["records", "write"]
