"""Plain Python that all dialects share: errors, verdicts, ids, hashes, strict readers. No Spark."""
