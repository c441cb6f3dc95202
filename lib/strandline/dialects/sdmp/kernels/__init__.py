"""Batches in, batches out: files to elements, elements to facts, heads to positions, lines to chains. No JVM."""

from strandline.dialects.sdmp.kernels.branches import BRANCH_SCHEMA, branches
from strandline.dialects.sdmp.kernels.chaining import CHAIN_DDL, chains
from strandline.dialects.sdmp.kernels.elements import (
    ANNOUNCED,
    ELEMENT_FIELDS,
    TEXT_FRAME,
    is_strict,
    read_content,
)
from strandline.dialects.sdmp.kernels.facts import (
    LINE_FACTS_DDL,
    MALFORMED,
    MISMATCH,
    MISPLACED,
    NON_CANONICAL,
    NOT_HELD,
    Columns,
    line_facts,
)
from strandline.dialects.sdmp.kernels.findings import REJECTION_DDL, rejections
from strandline.dialects.sdmp.kernels.heads import RESOLVE_COLUMNS, resolve_heads
from strandline.dialects.sdmp.kernels.replay import replayed
from strandline.dialects.sdmp.kernels.requests import REQUEST_SCHEMA, requests
from strandline.dialects.sdmp.kernels.trunk import OFF_TRUNK_DDL, off_trunk
from strandline.dialects.sdmp.kernels.writer import WRITTEN_DDL, write_lines

__all__ = [
    "ANNOUNCED",
    "BRANCH_SCHEMA",
    "CHAIN_DDL",
    "ELEMENT_FIELDS",
    "LINE_FACTS_DDL",
    "MALFORMED",
    "MISMATCH",
    "MISPLACED",
    "NON_CANONICAL",
    "NOT_HELD",
    "OFF_TRUNK_DDL",
    "REJECTION_DDL",
    "REQUEST_SCHEMA",
    "RESOLVE_COLUMNS",
    "TEXT_FRAME",
    "WRITTEN_DDL",
    "Columns",
    "branches",
    "chains",
    "is_strict",
    "line_facts",
    "off_trunk",
    "read_content",
    "rejections",
    "replayed",
    "requests",
    "resolve_heads",
    "write_lines",
]
