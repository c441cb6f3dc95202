"""Contexts in Spark: joins and aggregates over accepted facts, without Python in the reduction of states."""
