"""Readers of untrusted encodings: each takes exactly one spelling of a value, or says why not."""
