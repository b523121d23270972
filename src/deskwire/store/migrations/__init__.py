"""The revisions of the schema, for both engines."""
