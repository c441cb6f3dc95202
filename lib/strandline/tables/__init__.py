"""The only reads and writes of tables."""
