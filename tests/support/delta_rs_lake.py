"""Small lakes written with delta-rs, for tests of what reads them without a JVM."""

import functools
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, Schema, write_deltalake

from strandline.contracts.load import contract, tables
from strandline.core.ids import bucket_of
from support.places import BUCKETS

WHEN = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
_STATED = pa.struct([("namespace", pa.string()), ("commitment", pa.binary())])
_EFFECT = pa.struct(
    [
        ("op", pa.string()), ("op_key", pa.string()), ("value_json", pa.string()), ("item", pa.int32()),
        ("target", pa.string()),
    ]
)  # fmt: skip
_TYPES = {
    "STRING": pa.string(), "BINARY": pa.binary(), "BIGINT": pa.int64(), "INT": pa.int32(), "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"), "DOUBLE": pa.float64(), "ARRAY<STRING>": pa.list_(pa.string()),
    "MAP<STRING, BIGINT>": pa.map_(pa.string(), pa.int64()),
    "MAP<STRING, STRUCT<version: BIGINT, inserted: BIGINT>>": pa.map_(
        pa.string(), pa.struct([("version", pa.int64()), ("inserted", pa.int64())])
    ),
    "ARRAY<BINARY>": pa.list_(pa.binary()), "DECIMAL(20,0)": pa.decimal128(20, 0),
    "MAP<STRING, DECIMAL(20,0)>": pa.map_(pa.string(), pa.decimal128(20, 0)),
    "STRUCT<code: STRING, message: STRING, next: STRING>": pa.struct(
        [("code", pa.string()), ("message", pa.string()), ("next", pa.string())]
    ),
    "ARRAY<STRUCT<n: BIGINT, record_id: BINARY>>": pa.list_(
        pa.struct([("n", pa.int64()), ("record_id", pa.binary())])
    ),
    "ARRAY<STRUCT<branch: BINARY, seq: BIGINT>>": pa.list_(
        pa.struct([("branch", pa.binary()), ("seq", pa.int64())])
    ),
    "ARRAY<STRUCT<namespace: STRING, commitment: BINARY>>": pa.list_(_STATED),
    "ARRAY<STRUCT<authority: STRING, commitment: BINARY, sig: BINARY>>": pa.list_(
        pa.struct([("authority", pa.string()), ("commitment", pa.binary()), ("sig", pa.binary())])
    ),
    "ARRAY<STRUCT<op: STRING, op_key: STRING, value_json: STRING, item: INT, target: STRING>>": pa.list_(_EFFECT),
}  # fmt: skip
_DEFAULTS: Mapping[str, Any] = {
    "STRING": "", "BINARY": b"", "BIGINT": 0, "INT": 0, "BOOLEAN": False, "TIMESTAMP": WHEN, "DOUBLE": 0.0,
    "ARRAY<STRING>": [], "ARRAY<BINARY>": [],
}  # fmt: skip


def write(lake: Path, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append `rows` to `table`; columns that a row leaves out are null or, if they must not be, empty."""
    columns = contract(table).columns
    filled = [
        {column.name: _DEFAULTS.get(column.physical_type) if column.required else None for column in columns}
        | dict(row)
        for row in rows
    ]
    # As in a real lake: whether delta-rs can put columns together depends on their comments, and on which may be null.
    schema = pa.schema(
        [
            pa.field(
                column.name,
                _TYPES[column.physical_type],
                nullable=not column.required,
                metadata={"comment": column.description},
            )
            for column in columns
        ]
    )
    data = pa.Table.from_pylist(filled, schema=schema)
    if not (lake / table / "_delta_log").exists():
        partition = list(contract(table).partition)
        DeltaTable.create(str(lake / table), Schema.from_arrow(schema), partition_by=partition)
        set_properties(
            lake, table, {"strandline.contract": contract(table).version, "strandline.buckets": str(BUCKETS)}
        )
    if filled:
        write_deltalake(str(lake / table), data, mode="append")


def set_properties(lake: Path, table: str, properties: Mapping[str, str]) -> None:
    """Put `properties` into the table's first commit: delta-rs reads properties of others but writes only its own."""

    def change(actions: Mapping[str, Any]) -> None:
        actions["metaData"]["configuration"] |= properties

    change_first_commit(lake, table, change)


def add_feature(lake: Path, table: str, feature: str) -> None:
    """Say in the table's first commit that who reads and writes it must know `feature`."""

    def change(actions: Mapping[str, Any]) -> None:
        protocol = actions["protocol"]
        protocol |= {"minReaderVersion": 3, "minWriterVersion": 7}
        for features in ("readerFeatures", "writerFeatures"):
            protocol[features] = [*protocol.get(features, ()), feature]

    change_first_commit(lake, table, change)


def change_first_commit(lake: Path, table: str, change: Callable[[Mapping[str, Any]], None]) -> None:
    commit = lake / table / "_delta_log" / f"{0:020d}.json"
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    change({name: action for each in actions for name, action in each.items()})
    commit.write_text("".join(json.dumps(action) + "\n" for action in actions))


def rename_column(lake: Path, table: str, name: str, other: str | None) -> None:
    """Give a column another name in the table's first commit, or take it away, as Delta does without any file."""

    def change(actions: Mapping[str, Any]) -> None:
        schema = json.loads(actions["metaData"]["schemaString"])
        fields = [field | {"name": other} if field["name"] == name else field for field in schema["fields"]]
        schema["fields"] = [field for field in fields if field["name"] is not None]
        actions["metaData"]["schemaString"] = json.dumps(schema)

    change_first_commit(lake, table, change)


def map_columns(lake: Path, table: str, renamed: Sequence[str]) -> None:
    """Turn on Delta's column mapping in the table's first commit: `renamed` columns have other names in its files."""

    def change(actions: Mapping[str, Any]) -> None:
        schema = json.loads(actions["metaData"]["schemaString"])
        for number, field in enumerate(schema["fields"], 1):
            physical = f"col-{number}" if field["name"] in renamed else field["name"]
            field["metadata"] |= {
                "delta.columnMapping.id": number,
                "delta.columnMapping.physicalName": physical,
            }
        actions["metaData"]["schemaString"] = json.dumps(schema)
        actions["metaData"]["configuration"] |= {"delta.columnMapping.mode": "name"}
        actions["protocol"] |= {"minReaderVersion": 2, "minWriterVersion": 5}

    change_first_commit(lake, table, change)


def empty_lake(lake: Path) -> Path:
    """Make every table at version 0 without rows: a copy of those that this process made first."""
    for path, content in _empty_commits().items():
        commit = lake / path
        commit.parent.mkdir(parents=True)
        commit.write_bytes(content)
    return lake


@functools.cache
def _empty_commits() -> Mapping[Path, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        for table in tables():
            write(Path(folder), table, [])
        return {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*.json")}


def state(namespace: str, *, records: int = 1, reduced_version: int = 1) -> dict[str, Any]:
    """Return a row of namespace_state."""
    return {
        "namespace": namespace, "dialect": "sdmp", "record_count": records,
        "state_hash": sha256(namespace.encode()).digest(), "reducer_version": "sdmp/1",
        "reduced_version": reduced_version, "run_id": "r",
    }  # fmt: skip


def held(
    raw: bytes, *, namespace: str | None, status: str, reasons: Sequence[str], **more: Any
) -> dict[str, Any]:
    """Return a row of quarantine; its id is the hash of `raw`."""
    return {
        "quarantine_id": sha256(raw).digest(), "namespace": namespace, "dialect": "sdmp", "scope": "record",
        "status": status, "reasons": list(reasons), "raw": raw, "raw_sha256": sha256(raw).digest(),
        "raw_bytes": len(raw), "raw_whole": True, "rules_version": 1, "times_seen": 1, "source": "a.journal",
        "source_offset": 130, "evidence": '{"LINE_NUMBER_MISMATCH":{"expected":"aa","actual":"bb"}}',
        "first_run": "r", "last_run": "r",
    } | more  # fmt: skip


def rejected_namespaces(lake: Path, count: int, *, at_once: int = 250_000) -> None:
    """Fill quarantine with one rejected record of each of so many namespaces, by whole columns."""
    pattern = held(b"x", namespace="", status="rejected", reasons=["LINE_NUMBER_MISMATCH"])
    schema = pa.schema(DeltaTable(str(lake / "quarantine")).schema().to_arrow())
    for first in range(0, count, at_once):
        digests = [sha256(b"%d" % at).digest() for at in range(first, min(first + at_once, count))]
        names = [f"node:{digest.hex()}" for digest in digests]
        made = {
            "namespace": names, "quarantine_id": digests, "raw_sha256": digests,
            "bucket": [bucket_of(name, BUCKETS) for name in names],
        }  # fmt: skip
        same = {name: value for name, value in (_filled("quarantine") | pattern).items() if name not in made}
        columns = [
            pa.array(made[field.name], field.type) if field.name in made
            else pa.repeat(pa.scalar(same.get(field.name), field.type), len(names))
            for field in schema
        ]  # fmt: skip
        write_deltalake(str(lake / "quarantine"), pa.table(columns, schema=schema), mode="append")


def _filled(table: str) -> dict[str, Any]:
    return {
        column.name: _DEFAULTS[column.physical_type]
        for column in contract(table).columns
        if column.required and column.physical_type in _DEFAULTS
    }
