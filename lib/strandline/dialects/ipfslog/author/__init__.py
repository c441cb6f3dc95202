"""Writing logs without Spark: identities, entries, snapshots, CARs, and the class `Log`."""

from strandline.dialects.ipfslog.author.entries import sign_entry
from strandline.dialects.ipfslog.author.gset import GSet
from strandline.dialects.ipfslog.author.identity import Identity, IdentityType
from strandline.dialects.ipfslog.author.log import ClockSaturated, Log
from strandline.dialects.ipfslog.author.reading import OpenedLogs, open_logs
from strandline.dialects.ipfslog.author.writers import (
    to_blocks,
    to_car,
    to_json,
    to_lines,
    to_manifest,
    to_snapshot,
)

__all__ = [
    "ClockSaturated",
    "GSet",
    "Identity",
    "IdentityType",
    "Log",
    "OpenedLogs",
    "open_logs",
    "sign_entry",
    "to_blocks",
    "to_car",
    "to_json",
    "to_lines",
    "to_manifest",
    "to_snapshot",
]
