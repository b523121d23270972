"""How things are kept."""
