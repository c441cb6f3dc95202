"""Batches in, batches out: files to documents, blocks to verdicts, links to orders, logs to state hashes. No JVM."""

from strandline.dialects.ipfslog.kernels.configurations import (
    CONFIGURATION_DDL,
    MANIFEST_COLUMNS,
    access_digests,
    configurations,
    database_digests,
)
from strandline.dialects.ipfslog.kernels.documents import DOCUMENT_FIELDS, read_content
from strandline.dialects.ipfslog.kernels.entries import ENTRY_FACTS, BlockColumns, entry_facts
from strandline.dialects.ipfslog.kernels.forks import PROOF_COLUMNS, PROOF_DDL, proofs, signed_digests
from strandline.dialects.ipfslog.kernels.identity_verdicts import IDENTITY, REFUTED, identities, refuted
from strandline.dialects.ipfslog.kernels.judgement import JUDGED, NEXT_RULES, judged
from strandline.dialects.ipfslog.kernels.packing import FILE_SCHEMA, packed
from strandline.dialects.ipfslog.kernels.parts import NODE_COLUMNS, PART_DDL, Iterate, Traverse, part
from strandline.dialects.ipfslog.kernels.replay import replayed
from strandline.dialects.ipfslog.kernels.sections import SECTION_SCHEMA, sections
from strandline.dialects.ipfslog.kernels.signatures import verified
from strandline.dialects.ipfslog.kernels.skeletons import SKELETON_COLUMNS, SKELETON_DDL, skeletons
from strandline.dialects.ipfslog.kernels.states import STATE_COLUMNS, STATE_DDL, state_hashes
from strandline.dialects.ipfslog.kernels.walks import WALK_COLUMNS, WALK_DDL, walk_positions

__all__ = [
    "CONFIGURATION_DDL",
    "DOCUMENT_FIELDS",
    "ENTRY_FACTS",
    "FILE_SCHEMA",
    "IDENTITY",
    "JUDGED",
    "MANIFEST_COLUMNS",
    "NEXT_RULES",
    "NODE_COLUMNS",
    "PART_DDL",
    "PROOF_COLUMNS",
    "PROOF_DDL",
    "REFUTED",
    "SECTION_SCHEMA",
    "SKELETON_COLUMNS",
    "SKELETON_DDL",
    "STATE_COLUMNS",
    "STATE_DDL",
    "WALK_COLUMNS",
    "WALK_DDL",
    "BlockColumns",
    "Iterate",
    "Traverse",
    "access_digests",
    "configurations",
    "database_digests",
    "entry_facts",
    "identities",
    "judged",
    "packed",
    "part",
    "proofs",
    "read_content",
    "refuted",
    "replayed",
    "sections",
    "signed_digests",
    "skeletons",
    "state_hashes",
    "verified",
    "walk_positions",
]
