"""Deskwire: customer-support conversations behind a precise API."""

__version__ = "0.1.0"
