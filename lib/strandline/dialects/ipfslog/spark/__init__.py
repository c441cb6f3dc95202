"""Logs in Spark, one module a use case."""
