"""Functions from batches to batches without a JVM: files to entries, entries to verdicts, rows to lines."""

from strandline.dialects.devicelog.kernels.documents import DOCUMENT_FIELDS, read_content
from strandline.dialects.devicelog.kernels.forks import FORK_COLUMNS, fork_rows
from strandline.dialects.devicelog.kernels.judgement import ENTRY_FIELDS, JUDGED, judge, parsed
from strandline.dialects.devicelog.kernels.packing import STORED_COLUMNS, packed, stored_entry
from strandline.dialects.devicelog.kernels.references import (
    CANDIDATE_COLUMNS,
    LOCAL_SCHEMA,
    NAMED_ENTRY,
    VERDICT_SCHEMA,
    judged_in_order,
    judged_locally,
)
from strandline.dialects.devicelog.kernels.replay import replay

__all__ = [
    "CANDIDATE_COLUMNS",
    "DOCUMENT_FIELDS",
    "ENTRY_FIELDS",
    "FORK_COLUMNS",
    "JUDGED",
    "LOCAL_SCHEMA",
    "NAMED_ENTRY",
    "STORED_COLUMNS",
    "VERDICT_SCHEMA",
    "fork_rows",
    "judge",
    "judged_in_order",
    "judged_locally",
    "packed",
    "parsed",
    "read_content",
    "replay",
    "stored_entry",
]
