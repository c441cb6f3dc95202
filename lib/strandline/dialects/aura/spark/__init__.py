"""Facts of Aura over frames of Spark: lazy, starts no action."""
