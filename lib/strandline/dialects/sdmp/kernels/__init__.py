"""Functions from batches to batches without a JVM: files to elements, elements to facts, heads to positions."""

from strandline.dialects.sdmp.kernels.branches import BRANCH_SCHEMA, branches
from strandline.dialects.sdmp.kernels.chaining import CHAIN_SCHEMA, chains
from strandline.dialects.sdmp.kernels.chunk_rows import ACCEPTED_SCHEMA, accepted_lines
from strandline.dialects.sdmp.kernels.chunks import CHUNK_FRAME, CHUNK_LINE_BYTES, chunk_lines
from strandline.dialects.sdmp.kernels.elements import (
    ANNOUNCED,
    ELEMENT_FIELDS,
    read_content,
)
from strandline.dialects.sdmp.kernels.facts import (
    LINE_FACTS,
    MALFORMED,
    MISMATCH,
    MISPLACED,
    NOT_STORED,
    line_facts,
)
from strandline.dialects.sdmp.kernels.few_heads import (
    HEAD_SCHEMA,
    Place,
    PlacedHead,
    Segment,
    attached_heads,
    placed_heads,
)
from strandline.dialects.sdmp.kernels.findings import REJECTION_SCHEMA, rejections
from strandline.dialects.sdmp.kernels.heads import POSITION_SCHEMA, RESOLVE_COLUMNS, resolve_heads
from strandline.dialects.sdmp.kernels.replay import replayed
from strandline.dialects.sdmp.kernels.requests import REQUEST_SCHEMA, requests
from strandline.dialects.sdmp.kernels.texts import NO_CHUNKS, TEXT_FRAME, ChunkRules, is_strict
from strandline.dialects.sdmp.kernels.trunk import OFF_TRUNK_SCHEMA, off_trunk
from strandline.dialects.sdmp.kernels.whole_journals import JOURNAL_SCHEMA, LINE_COLUMNS, whole_journals
from strandline.dialects.sdmp.kernels.writer import WRITTEN_SCHEMA, write_lines

__all__ = [
    "ACCEPTED_SCHEMA",
    "ANNOUNCED",
    "BRANCH_SCHEMA",
    "CHAIN_SCHEMA",
    "CHUNK_FRAME",
    "CHUNK_LINE_BYTES",
    "ELEMENT_FIELDS",
    "HEAD_SCHEMA",
    "JOURNAL_SCHEMA",
    "LINE_COLUMNS",
    "LINE_FACTS",
    "MALFORMED",
    "MISMATCH",
    "MISPLACED",
    "NOT_STORED",
    "NO_CHUNKS",
    "OFF_TRUNK_SCHEMA",
    "POSITION_SCHEMA",
    "REJECTION_SCHEMA",
    "REQUEST_SCHEMA",
    "RESOLVE_COLUMNS",
    "TEXT_FRAME",
    "WRITTEN_SCHEMA",
    "ChunkRules",
    "Place",
    "PlacedHead",
    "Segment",
    "accepted_lines",
    "attached_heads",
    "branches",
    "chains",
    "chunk_lines",
    "is_strict",
    "line_facts",
    "off_trunk",
    "placed_heads",
    "read_content",
    "rejections",
    "replayed",
    "requests",
    "resolve_heads",
    "whole_journals",
    "write_lines",
]
