"""Readers of untrusted encodings: each accepts only one encoding of a value, or names the cause."""
