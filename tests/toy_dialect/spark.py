"""The dialect as the object that pipelines call."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.demo import Demo, DemoFile, DemoRejection
from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.parents import ParentedDialect
from strandline.dialect_api.ports import Jobs, LakeSnapshot, OtherLakeSnapshot, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.frames.buckets import bucket_of
from strandline.frames.namespaces import only_namespaces
from strandline.frames.sets import set_hashes
from strandline.frames.states import as_namespace_state
from strandline.kernels.blocks import BLOCK_FIELDS
from toy_dialect import kernels
from toy_dialect.info import INFO
from toy_dialect.notes import write_note

NOTES: Final = INFO.record_table
[TIPS] = INFO.reduced_tables
KEY: Final = ["namespace", "record_id"]


class Toy(ParentedDialect):
    """Chains of notes."""

    info = INFO
    document_fields = BLOCK_FIELDS
    judged = kernels.JUDGED
    links = "parents"
    missing_reason = "NOTE_PARENT_UNKNOWN"

    def count_records(self, content: bytes, format: str | None) -> int:  # noqa: A002
        """Each line is a record."""
        return len(content.removesuffix(b"\n").split(b"\n")) if content else 0

    read_content = staticmethod(kernels.read_content)
    judge = staticmethod(kernels.judge)
    replay = staticmethod(kernels.replay)

    def as_records(self, accepted: DataFrame, buckets: int) -> DataFrame:
        """Shape notes to the contract of `toy_note`."""
        bucket = bucket_of(F.col("namespace"), buckets).alias("bucket")
        return accepted.select(*KEY, bucket, "block", "parents", "text", "source")

    def reduce(self, changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
        """Find the tips of all chains, or of those with changes, from all of their notes."""
        notes = tables.read_version(NOTES, scope.version).select(*KEY, "bucket", "parents")
        stored = tables.read(TIPS).select(*KEY, "bucket")
        if changes is not None:
            touched = changes.select("namespace").distinct()
            notes, stored = (each.join(touched, "namespace", "left_semi") for each in (notes, stored))
        notes = jobs.persist(notes, "notes")
        tips = jobs.checkpoint(_tips(notes), "tips")
        hashes = set_hashes(notes.select("namespace", F.col("record_id").alias("value")))
        states = notes.select("namespace", "bucket").distinct().join(hashes, "namespace").select(
            "namespace", "bucket", F.col("size").alias("record_count"), F.col("set_hash").alias("state_hash"),
            F.lit("toy-1").alias("reducer_version"),
        )  # fmt: skip
        shaped = as_namespace_state(
            states,
            dialect=INFO.name,
            reduced_version=scope.version,
            run_id=scope.run_id,
        )
        return Reduction({TIPS: tips}, shaped, {TIPS: stored.join(tips, KEY, "left_anti")})

    def export(self, lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
        """Write chains as a file of lines."""
        notes = only_namespaces(lake.read(NOTES), namespaces, lake.buckets)
        rows = notes.select(_lines().alias("content"), F.lit(1).cast("bigint").alias("records"))
        return ExportFile("notes", b"", rows, notes.select(*KEY), _tips(notes).select(*KEY))

    def to_files(self, rows: Mapping[str, DataFrame], there: OtherLakeSnapshot, jobs: Jobs) -> DataFrame:
        """Write each note as a file of one line."""
        return rows[NOTES].select(F.lit("lines").alias("format"), _lines().alias("content"))

    def hashed_content(self, row: Mapping[str, Any]) -> bytes:
        """The id of a note is the hash of its block."""
        return bytes(row["block"])

    def demo(self) -> Demo:
        """One chain, and a line of another that is no note."""
        good, bad = write_note("demo", b"", "hello"), b'{"chain":"other","parent":1,"text":""}'
        file = DemoFile("notes.toy", "a note and a line that is none", 2, good + b"\n" + bad + b"\n")
        rejection = DemoRejection("A line that is no note", file.name, "chain:other", "NOTE_SHAPE")
        return Demo((file,), rejection, "SELECT text FROM toy_note", "SELECT * FROM toy_tip")


def _tips(notes: DataFrame) -> DataFrame:
    followed = notes.select("namespace", F.explode("parents").alias("record_id"))
    return notes.join(followed, KEY, "left_anti").select(*KEY, "bucket")


def _lines() -> Any:
    return F.concat("block", F.lit(b"\n"))


TOY = Toy()
