"""Batches in, batches out: blocks to facts of entries, links to orders, parts of logs to state hashes. No JVM."""

from strandline.dialects.ipfslog.kernels.configurations import (
    CONFIGURATION_DDL,
    MANIFEST_COLUMNS,
    access_digests,
    configurations,
    database_digests,
)
from strandline.dialects.ipfslog.kernels.entries import ENTRY_FACTS, BlockColumns, entry_facts
from strandline.dialects.ipfslog.kernels.forks import PROOF_COLUMNS, PROOF_DDL, proofs, signed_digests
from strandline.dialects.ipfslog.kernels.signatures import valid_identities, verified
from strandline.dialects.ipfslog.kernels.states import STATE_COLUMNS, STATE_DDL, state_hashes
from strandline.dialects.ipfslog.kernels.walks import WALK_COLUMNS, WALK_DDL, walk_positions

__all__ = [
    "CONFIGURATION_DDL",
    "ENTRY_FACTS",
    "MANIFEST_COLUMNS",
    "PROOF_COLUMNS",
    "PROOF_DDL",
    "STATE_COLUMNS",
    "STATE_DDL",
    "WALK_COLUMNS",
    "WALK_DDL",
    "BlockColumns",
    "access_digests",
    "configurations",
    "database_digests",
    "entry_facts",
    "proofs",
    "signed_digests",
    "state_hashes",
    "valid_identities",
    "verified",
    "walk_positions",
]
