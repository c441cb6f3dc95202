"""All reads and writes of tables."""
