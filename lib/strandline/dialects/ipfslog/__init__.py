"""Logs of ipfs-log 0, 1 and 2 and of @orbitdb/core: DAGs of signed entries that merge by set union."""
