"""The public HTTP API: a table of endpoints, and what turns a request into an answer."""
