"""How things are kept: tables, statements, two engines, search, attachments' bytes, migrations."""
