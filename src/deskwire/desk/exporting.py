"""Writing a workspace as a file of the record format, as it stands at one moment."""
