"""Batches in, batches out: files to documents, blocks to facts, identities to verdicts. No Spark, no JVM."""

from strandline.dialects.ipfslog.kernels.again import replayed
from strandline.dialects.ipfslog.kernels.documents import DOCUMENT_FIELDS, read_content
from strandline.dialects.ipfslog.kernels.entries import ENTRY_FACTS, BlockColumns, entry_facts
from strandline.dialects.ipfslog.kernels.judgement import (
    IDENTITY,
    JUDGED,
    NEXT_RULES,
    REFUTED,
    identities,
    judged,
    refuted,
)
from strandline.dialects.ipfslog.kernels.signatures import verified

__all__ = [
    "DOCUMENT_FIELDS",
    "ENTRY_FACTS",
    "IDENTITY",
    "JUDGED",
    "NEXT_RULES",
    "REFUTED",
    "BlockColumns",
    "entry_facts",
    "identities",
    "judged",
    "read_content",
    "refuted",
    "replayed",
    "verified",
]
