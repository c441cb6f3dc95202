"""Entries as rows: which of them meet. DataFrame in, DataFrame out, lazy."""
