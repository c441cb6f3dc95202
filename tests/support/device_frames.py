"""Entries of groups as frames of Spark, and their reduction without a lake."""

from strandline.contracts.load import contract
from strandline.core.ids import bucket_of
from strandline.dialect_api.reduction import ReduceScope
from strandline.dialects.devicelog.info import FORK_POLICY
from strandline.dialects.devicelog.spark import reduction
from support.places import BUCKETS

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


class Entries:
    """A lake that holds entries alone."""

    def __init__(self, entries):
        self.entries = entries

    def read_version(self, table, version):
        assert (table, version) == (reduction.ENTRIES, 1)
        return self.entries

    def read(self, table):
        columns = [f"{each.name} {each.physical_type}" for each in contract(table).columns]
        return self.entries.sparkSession.createDataFrame([], ", ".join(columns))


class Uncounted:
    """Jobs that keep nothing."""

    def persist(self, frame, name):
        return frame.persist()

    def checkpoint(self, frame, name):
        return frame.persist()

    def row(self, frame):
        return frame.first()

    def few(self, frame, most):
        rows = frame.head(most + 1)
        return rows if len(rows) <= most else None


def reduce_entries(entries, policy):
    """The reduction of all entries of a frame."""
    scope = ReduceScope(None, 1, "run", lake_options={FORK_POLICY: policy})
    return reduction.reduce(None, Entries(entries), Uncounted(), scope)
