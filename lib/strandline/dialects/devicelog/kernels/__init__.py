"""Functions from batches to batches without a JVM."""
