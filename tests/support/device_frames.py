"""Entries of groups as frames of Spark, and their reduction without a lake."""

from strandline.core.ids import bucket_of
from strandline.dialect_api.reduction import ReduceScope
from strandline.dialects.devicelog.spark import reduction

BUCKETS = 16
ENTRY_DDL = (
    "namespace STRING, bucket INT, record_id BINARY, log BINARY, profile STRING, kind STRING, seq BIGINT, "
    "lamport BIGINT, utc BIGINT, prev BINARY, deps ARRAY<BINARY>, body BINARY, body_size INT, body_hash BINARY, "
    "raw BINARY, sig BINARY"
)
COLUMNS = [each.split()[0] for each in ENTRY_DDL.split(", ")]


def entry_rows(entries):
    """Entries as rows of `device_log_entry`."""
    for entry in entries:
        held = {"namespace": entry.namespace, "bucket": bucket_of(entry.namespace, BUCKETS)}
        yield tuple(held.get(name, getattr(entry, name, None)) for name in COLUMNS)


class OneTable:
    """A lake of one table of entries, and of reduced tables without rows or as given."""

    def __init__(self, entries, stored=None):
        self._entries = entries
        self._stored = stored or {}

    def read_version(self, table, version):
        assert (table, version) == (reduction.ENTRIES, 1)
        return self._entries

    def read(self, table):
        return self._stored[table]

    def has_partial_run(self, tables):
        return False


class Uncounted:
    """Jobs that keep nothing."""

    def persist(self, frame, name):
        return frame.persist()

    def checkpoint(self, frame, name):
        return frame.persist()

    def row(self, frame):
        return frame.first()


def reduce_entries(spark, entries, policy="keep-both", changes=None, stored=None):
    """The reduction of entries, all at once or those of the namespaces in `changes`."""
    frame = (
        entries if hasattr(entries, "select") else spark.createDataFrame(list(entry_rows(entries)), ENTRY_DDL)
    )
    empty = {
        table: frame.limit(0).select("namespace", "bucket", "log", "record_id")
        for table in reduction.TABLES.values()
    }
    scope = ReduceScope(None, 1, "run", lake_options={reduction.POLICY: policy})
    return reduction.reduce(changes, OneTable(frame, stored or empty), Uncounted(), scope)
