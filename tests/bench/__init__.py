"""Measured figures: each a ratio of two pieces of work, done side by side in one run. `make bench` runs it."""
