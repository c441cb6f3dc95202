"""One use case per file. No pipeline names a dialect."""
