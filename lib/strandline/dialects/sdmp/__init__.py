"""Node journals of SDMP 0.9 and 0.12: lines that each start with the hash of the line before."""
