"""Functions from batches to batches without a JVM: files to documents, blocks to verdicts, links to orders."""

from strandline.dialects.ipfslog.kernels.configurations import (
    CONFIGURATION_SCHEMA,
    LISTED_COLUMNS,
    LISTED_SCHEMA,
    MANIFEST_COLUMNS,
    TEXT_BYTES,
    access_digests,
    configurations,
    database_digests,
    listed_configurations,
    texts_bytes,
)
from strandline.dialects.ipfslog.kernels.documents import DOCUMENT_FIELDS, read_content
from strandline.dialects.ipfslog.kernels.forks import PROOF_COLUMNS, PROOF_SCHEMA, proofs, signed_digests
from strandline.dialects.ipfslog.kernels.identity_verdicts import (
    IDENTITY,
    IDENTITY_CHARS,
    REFUTED,
    REFUTED_COLUMNS,
    STORED_IDENTITY,
    identities,
    refuted,
)
from strandline.dialects.ipfslog.kernels.judgement import JUDGED, judge
from strandline.dialects.ipfslog.kernels.packing import packed
from strandline.dialects.ipfslog.kernels.parts import PART_DDL, Iterate, Traverse, part
from strandline.dialects.ipfslog.kernels.pruning import (
    CARRY_COLUMNS,
    CARRY_SCHEMA,
    ENCODED_SCHEMA,
    ENTRY_COLUMNS,
    carries,
    encoded_skeletons,
)
from strandline.dialects.ipfslog.kernels.replay import replay
from strandline.dialects.ipfslog.kernels.sections import sections
from strandline.dialects.ipfslog.kernels.skeletons import SKELETON_COLUMNS, SKELETON_SCHEMA, skeletons
from strandline.dialects.ipfslog.kernels.states import STATE_COLUMNS, STATE_SCHEMA, state_hashes
from strandline.dialects.ipfslog.kernels.walks import WALK_COLUMNS, WALK_SCHEMA, walk_positions
from strandline.dialects.ipfslog.kernels.whole_logs import LOG_COLUMNS, LOG_NODE, LOG_SCHEMA, whole_logs

__all__ = [
    "CARRY_COLUMNS",
    "CARRY_SCHEMA",
    "CONFIGURATION_SCHEMA",
    "DOCUMENT_FIELDS",
    "ENCODED_SCHEMA",
    "ENTRY_COLUMNS",
    "IDENTITY",
    "IDENTITY_CHARS",
    "JUDGED",
    "LISTED_COLUMNS",
    "LISTED_SCHEMA",
    "LOG_COLUMNS",
    "LOG_NODE",
    "LOG_SCHEMA",
    "MANIFEST_COLUMNS",
    "PART_DDL",
    "PROOF_COLUMNS",
    "PROOF_SCHEMA",
    "REFUTED",
    "REFUTED_COLUMNS",
    "SKELETON_COLUMNS",
    "SKELETON_SCHEMA",
    "STATE_COLUMNS",
    "STATE_SCHEMA",
    "STORED_IDENTITY",
    "TEXT_BYTES",
    "WALK_COLUMNS",
    "WALK_SCHEMA",
    "Iterate",
    "Traverse",
    "access_digests",
    "carries",
    "configurations",
    "database_digests",
    "encoded_skeletons",
    "identities",
    "judge",
    "listed_configurations",
    "packed",
    "part",
    "proofs",
    "read_content",
    "refuted",
    "replay",
    "sections",
    "signed_digests",
    "skeletons",
    "state_hashes",
    "texts_bytes",
    "walk_positions",
    "whole_logs",
]
