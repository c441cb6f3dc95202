"""Checkers for third parties: one file each, which imports neither Strandline nor Spark."""
