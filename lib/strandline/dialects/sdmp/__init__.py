"""Node journals of SDMP 0.9 and 0.12: each line starts with the hash of the line before it."""
