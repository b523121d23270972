"""Importing a file of the record format: all of it or nothing, every bad line named."""

from deskwire.desk.importing.importing import import_file
from deskwire.desk.importing.report import BadLine, ImportReport

__all__ = ["BadLine", "ImportReport", "import_file"]
