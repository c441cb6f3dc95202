"""What all dialects share in plain Python: errors, verdicts, ids, hashes, strict readers. No Spark here."""
