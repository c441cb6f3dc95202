"""Batches in, batches out: blocks to facts of entries, signatures and identities to verdicts. No Spark, no JVM."""

from strandline.dialects.ipfslog.kernels.entries import ENTRY_FACTS, BlockColumns, entry_facts
from strandline.dialects.ipfslog.kernels.signatures import valid_identities, verified

__all__ = ["ENTRY_FACTS", "BlockColumns", "entry_facts", "valid_identities", "verified"]
