"""Chains of notes: the smallest dialect, an example for those who write one. It is a package of its own."""
