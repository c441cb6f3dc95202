"""Node journals in Spark: one module a use case, and the frames that they share."""
