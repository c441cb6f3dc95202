"""Device logs over frames of Spark: lazy, starts no action."""
