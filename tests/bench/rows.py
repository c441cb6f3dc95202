"""Node journals in one process: a Python loop verifies them, polars shapes their rows, delta-rs keeps them.

What a program does that needs neither Spark nor more than one machine: the other side of one figure, and the maker of
the rows that the figures about merging start from.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
from deltalake import DeltaTable, WriterProperties

from strandline.contracts.load import contract
from strandline.core.ids import bucket_of, namespace

TABLE = "node_journal_line"
_LINK = re.compile(rb"[0-9a-f]{64}@[0-9a-f]{64}/[0-9a-f]{64}").fullmatch
_FIRST = re.compile(rb"[0-9a-f]{64}").fullmatch
ID_CHARS = 64
LANDED_AT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines of one journal of profile 0.9 that follow each other, the first of them at position `first`."""

    namespace: str
    first: int
    lines: Iterable[bytes]


def hashes_and_compares(data: bytes) -> int:
    """Return how many lines of a text journal carry the hash of the line before: the least that verifying takes."""
    links = 0
    expected = b""
    for line in data.split(b"\n"):
        if line[:ID_CHARS] == expected:
            links += 1
        expected = hashlib.sha256(line).hexdigest().encode("ascii")
    return links


def verified(path: Path) -> Stretch:
    """Return the lines of a text journal up to the first that has no form or does not follow."""
    lines: list[bytes] = []
    expected = None
    for line in path.read_bytes().split(b"\n"):
        if expected is None:
            if not _FIRST(line):
                break
        elif not _LINK(line) or line[:ID_CHARS] != expected:
            break
        expected = hashlib.sha256(line).hexdigest().encode("ascii")
        lines.append(line)
    return Stretch(namespace("node", lines[0].decode("ascii")), 1, lines)


def journal_rows(stretches: Iterable[Stretch], *, run_id: str, buckets: int) -> pl.DataFrame:
    """Return the rows of `node_journal_line` of verified lines, sorted as the table wants them."""
    namespaces: list[str] = []
    numbers: list[int] = []
    places: list[int] = []
    lines: list[str] = []
    hashes: list[str] = []
    for stretch in stretches:
        place = bucket_of(stretch.namespace, buckets)
        for n, line in enumerate(stretch.lines, start=stretch.first):
            namespaces.append(stretch.namespace)
            numbers.append(n)
            places.append(place)
            lines.append(line.decode("ascii"))
            hashes.append(hashlib.sha256(line).hexdigest())
    columns = pl.DataFrame(
        {"namespace": namespaces, "n": numbers, "bucket": places, "line": lines, "line_hash": hashes},
        schema_overrides={"bucket": pl.Int32, "n": pl.Int64},
    )
    linked = pl.when(pl.col("n") > 1)
    shaped = columns.with_columns(
        record_id=pl.col("line_hash").str.decode("hex"),
        profile=pl.lit("0.9"),
        line_number=linked.then(pl.col("line").str.slice(0, ID_CHARS)),
        author_fp=linked.then(pl.col("line").str.slice(ID_CHARS + 1, ID_CHARS)),
        resource_id=linked.then(pl.col("line").str.slice(2 * ID_CHARS + 2, ID_CHARS)),
        origin=pl.lit("received"),
        run_id=pl.lit(run_id),
        source=pl.lit("/bench/journals"),
        landed_at=pl.lit(LANDED_AT),
    )
    return shaped.select(contract(TABLE).names).sort("bucket", "namespace", "n", "record_id")


def ingest_in_one_process(folders: Iterable[str], table: Path, *, buckets: int) -> int:
    """Verify the journals of the folders and merge their lines into a new Delta table. Return the rows added."""
    rows = journal_rows(map(verified, _files(folders)), run_id="bench", buckets=buckets)
    source = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    target = DeltaTable.create(table, schema=source.schema, partition_by=list(contract(TABLE).partition))
    merged = (
        target.merge(
            source,
            predicate="t.bucket = s.bucket AND t.namespace = s.namespace AND t.record_id = s.record_id",
            source_alias="s",
            target_alias="t",
            writer_properties=WriterProperties(compression="ZSTD"),
        )
        .when_not_matched_insert_all()
        .execute()
    )
    return int(merged["num_target_rows_inserted"])


def live_bytes(table: Path) -> int:
    """Return the bytes of the data files that a table's newest version consists of."""
    sizes = DeltaTable(table).get_add_actions(flatten=True)
    return int(pl.DataFrame(sizes)["size_bytes"].sum())


def _files(folders: Iterable[str]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(Path(folder).iterdir())
