"""Signed append-only logs of the devices of one user, merged into one order of messages."""
