"""Batches in, batches out: files to elements, elements to line facts, heads to positions. No Spark, no JVM."""

from strandline.dialects.sdmp.kernels.elements import (
    ELEMENT_FIELDS,
    STRICT,
    TEXT_FRAME,
    is_strict,
    read_content,
    replayed,
)
from strandline.dialects.sdmp.kernels.facts import (
    LINE_FACTS_DDL,
    MALFORMED,
    MISMATCH,
    MISPLACED,
    NON_CANONICAL,
    Columns,
    line_facts,
)
from strandline.dialects.sdmp.kernels.findings import REJECTION_DDL, rejections
from strandline.dialects.sdmp.kernels.heads import RESOLVE_COLUMNS, resolve_heads
from strandline.dialects.sdmp.kernels.writer import WRITTEN_DDL, write_lines

__all__ = [
    "ELEMENT_FIELDS",
    "LINE_FACTS_DDL",
    "MALFORMED",
    "MISMATCH",
    "MISPLACED",
    "NON_CANONICAL",
    "REJECTION_DDL",
    "RESOLVE_COLUMNS",
    "STRICT",
    "TEXT_FRAME",
    "WRITTEN_DDL",
    "Columns",
    "is_strict",
    "line_facts",
    "read_content",
    "rejections",
    "replayed",
    "resolve_heads",
    "write_lines",
]
