"""The statements of manifests and the contents of their files, as frames that can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from strandline.core.hashing import set_hash
from strandline.frames.lift import map_batches
from strandline.kernels.batches import as_batch
from strandline.kernels.containers import StreamLimits
from strandline.kernels.contents import CONTENT_SCHEMA, contents
from strandline.kernels.manifests import StatedFile, StatedNamespace
from strandline.tables.sources import InputFile, tasks_for

_FILES: Final = pa.schema(
    [
        pa.field("manifest_no", pa.int32(), nullable=False),
        pa.field("file_no", pa.int64(), nullable=False),
        pa.field("records", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("sha256", pa.string(), nullable=False),
    ]
)
_NAMESPACES: Final = pa.schema(
    [
        pa.field("manifest_no", pa.int32(), nullable=False),
        pa.field("namespace", pa.string(), nullable=False),
        pa.field("records", pa.int64(), nullable=False),
        pa.field("set_hash", pa.string(), nullable=False),
        pa.field("heads", pa.int64(), nullable=False),
        pa.field("heads_hash", pa.string()),
        pa.field("least_head", pa.string()),
    ]
)
_PATHS: Final = pa.schema(
    [pa.field("file_no", pa.int64(), nullable=False), pa.field("path", pa.binary(), nullable=False)]
)

Stated = Sequence[tuple[int, Mapping[int, StatedFile]]]
"""(manifest_no, its statements about files of the run by file_no)."""


def stated_files(spark: SparkSession, stated: Stated) -> DataFrame:
    """Return manifest_no, file_no, records, bytes, sha256 (hex): one row per file and manifest that names it."""
    rows = [
        (number, file_no, file.records, file.bytes, file.sha256)
        for number, files in stated
        for file_no, file in files.items()
    ]
    return _frame(spark, rows, _FILES)


def stated_namespaces(
    spark: SparkSession, stated: Sequence[tuple[int, Sequence[StatedNamespace]]]
) -> DataFrame:
    """Return the statements of manifests about namespaces, one row per manifest and namespace.

    Gives: manifest_no, namespace, records, set_hash, heads (their number), heads_hash (their set_hash; null: no head),
    least_head. Digests are hex.
    """
    rows = [
        (
            number, each.namespace, each.records, each.set_hash, len(each.heads),
            set_hash(map(bytes.fromhex, each.heads)).hex() if each.heads else None, min(each.heads, default=None),
        )
        for number, namespaces in stated
        for each in namespaces
    ]  # fmt: skip
    return _frame(spark, rows, _NAMESPACES)


def content_of(spark: SparkSession, files: Sequence[InputFile], limits: StreamLimits) -> DataFrame:
    """Return file_no, bytes, sha256 (hex), damage of the decompressed content of files; tasks open the paths."""
    paths = _frame(spark, [(file.file_no, file.guarded) for file in files], _PATHS)
    return map_batches(
        paths.repartition(tasks_for([file.size for file in files])), contents, CONTENT_SCHEMA, limits=limits
    )


def _frame(spark: SparkSession, rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> DataFrame:
    batches = [as_batch(rows, schema)] if rows else []
    return spark.createDataFrame(pa.Table.from_batches(batches, schema=schema))
