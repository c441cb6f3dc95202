"""Reports for people, on standard output."""

from strandline.cli.show.check import check
from strandline.cli.show.checkpoints import checkpoint, prove
from strandline.cli.show.maintain import maintain
from strandline.cli.show.pruning import gc, snapshot
from strandline.cli.show.quarantine import quarantine
from strandline.cli.show.reports import (
    demo,
    doctor,
    explain,
    export,
    ingest,
    init,
    reduce,
    repeated,
    report,
    stream,
    unpack,
)
from strandline.cli.show.rows import config, sql, write_rows
from strandline.cli.show.status import status
from strandline.cli.show.sync import sync, sync_lakes

__all__ = [
    "check",
    "checkpoint",
    "config",
    "demo",
    "doctor",
    "explain",
    "export",
    "gc",
    "ingest",
    "init",
    "maintain",
    "prove",
    "quarantine",
    "reduce",
    "repeated",
    "report",
    "snapshot",
    "sql",
    "status",
    "stream",
    "sync",
    "sync_lakes",
    "unpack",
    "write_rows",
]
