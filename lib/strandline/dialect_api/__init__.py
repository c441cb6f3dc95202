"""What a dialect is, for those who write one."""
