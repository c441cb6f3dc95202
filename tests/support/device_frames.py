"""Entries of groups as frames of Spark, and their reduction without a lake."""

from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.core.ids import bucket_of
from strandline.dialect_api.reduction import ReduceScope
from strandline.dialects.devicelog.spark import increments, reduction

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


KEYS = {table: contract(table).key for table in (*reduction.TABLES.values(), increments.STATES)}


class Rows:
    """The tables of a lake in memory: a frame of entries, and rows of reduced tables by key."""

    def __init__(self, spark, entries):
        self.entries = entries
        self.tables = {table: {} for table in KEYS}
        self._spark = spark

    def read_version(self, table, version):
        assert (table, version) == (reduction.ENTRIES, 1)
        return self.entries

    def read(self, table):
        columns = [f"{each.name} {each.physical_type}" for each in contract(table).columns]
        rows = list(self.tables[table].values())
        return self._spark.createDataFrame(rows, ", ".join(columns), verifySchema=False).persist()

    def few_rows(self, table):
        """None: Spark reads all, so that no group is reduced whole because it is small."""
        return

    def has_partial_run(self, tables):
        return False

    def write(self, found):
        """Replace and delete rows as a reduction says."""
        states = found.states.withColumn("reduced_at", F.lit(None).cast("timestamp"))
        for table, frame in {**found.tables, increments.STATES: states}.items():
            rows, deletes = frame.collect(), found.deletes.get(table)
            for row in [] if deletes is None else deletes.collect():
                del self.tables[table][self._key(table, row)]
            names = contract(table).names
            for row in rows:
                held = row.asDict()
                self.tables[table][self._key(table, row)] = tuple(held.get(name) for name in names)

    def _key(self, table, row):
        return tuple(
            bytes(row[name]) if isinstance(row[name], bytearray) else row[name] for name in KEYS[table]
        )


class Uncounted:
    """Jobs that keep nothing."""

    def persist(self, frame, name):
        return frame.persist()

    def checkpoint(self, frame, name):
        return frame.persist()

    def row(self, frame):
        return frame.first()

    def has_rows(self, frame):
        return bool(frame.head(1))

    def few(self, frame, most):
        rows = frame.head(most + 1)
        return rows if len(rows) <= most else None


def reduce_entries(spark, entries, policy="keep-both", changes=None, lake=None):
    """The reduction of entries, all at once or those of the namespaces in `changes`."""
    is_frame = hasattr(entries, "select")
    frame = entries if is_frame else spark.createDataFrame(list(entry_rows(entries)), ENTRY_DDL)
    scope = ReduceScope(None, 1, "run", lake_options={reduction.POLICY: policy})
    tables, jobs = lake or Rows(spark, frame), Uncounted()
    return reduction.reduce(reduction.new_entries_of(changes, tables, jobs), tables, jobs, scope)
