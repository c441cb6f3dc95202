"""Logs as the pipelines see them."""
