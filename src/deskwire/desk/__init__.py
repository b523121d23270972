"""What can be done: one operation is one function is one transaction."""
