"""The database's side of a delivery: finding what is due, claiming it, what to send, what came of it."""
