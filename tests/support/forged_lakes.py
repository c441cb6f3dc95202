"""Lakes of others: rows written beside Spark, so that nothing checks them, and tables declared otherwise."""

import json
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from strandline.contracts.load import contract

NO_UTF8 = b"\xff\xfe\xed\xa0\x80"
MARKUP = '<b onload="x()">&{{7*7}}\'; DROP TABLE run; --\n\r\0\u2028'
_TYPES = {
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
}


@dataclass(frozen=True)
class Forgery:
    """A genuine row with one value changed; `is_refused`: its table's contract tells that it is no row of it."""

    table: str
    column: str
    value: Any
    is_refused: bool
    row: Mapping[str, Any]


def rows_of(lake: Path, table: str) -> list[dict[str, Any]]:
    """The rows of a table, in some order that is always the same."""
    return sorted(DeltaTable(str(lake / table)).to_pyarrow_table().to_pylist(), key=repr)


def put(lake: Path, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add rows as they are: no constraint, no NOT NULL and no partition is looked at."""
    by_bucket: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_bucket[row["bucket"]].append(row)
    adds = [_file(lake / table, table, bucket, each) for bucket, each in by_bucket.items()]
    commit(lake / table, adds)


def put_file(lake: Path, table: str, content: pa.Table, bucket: int = 0) -> None:
    """Add a file of any columns."""
    commit(lake / table, [_add(lake / table, bucket, content)])


def declare(lake: Path, table: str, changed: Mapping[str, Mapping[str, object] | None]) -> None:
    """Declare columns otherwise, by name: members of the column's declaration, or None to leave it out."""
    metadata = _metadata(lake / table)
    schema = json.loads(metadata["schemaString"])
    kept = [each for each in schema["fields"] if changed.get(each["name"], {}) is not None]
    fields = [{**each, **(changed.get(each["name"]) or {})} for each in kept]
    known = {each["name"] for each in schema["fields"]}
    fields += [
        {"name": name, "nullable": True, "metadata": {}, **more}
        for name, more in changed.items()
        if name not in known and more is not None
    ]
    commit(
        lake / table, [{"metaData": {**metadata, "schemaString": json.dumps({**schema, "fields": fields})}}]
    )


def older(lake: Path, table: str, columns: Collection[str]) -> None:
    """Change a table to that of an older minor version: without these columns, also in its files."""
    path, described = lake / table, _metadata(lake / table)
    configuration = {**described["configuration"], "strandline.contract": "1.0.0"}
    schema = json.loads(described["schemaString"])
    schema["fields"] = [each for each in schema["fields"] if each["name"] not in columns]
    now = DeltaTable(str(path))
    rows = now.to_pyarrow_table().drop_columns(list(columns))
    removed = [
        {"remove": {"path": str(Path(name).relative_to(path)), "dataChange": False}}
        for name in now.file_uris()
    ]
    added = [
        _add(path, bucket, rows.filter(pc.equal(rows["bucket"], bucket)).drop_columns("bucket"))
        for bucket in rows["bucket"].unique().to_pylist()
    ]
    changed = {**described, "schemaString": json.dumps(schema), "configuration": configuration}
    commit(path, [{"metaData": changed}, *removed, *added])


def commit(table: Path, actions: Iterable[Mapping[str, object]]) -> None:
    """Add a commit of these actions to the log."""
    version = DeltaTable(str(table)).version() + 1
    lines = [{"commitInfo": {"timestamp": 0, "operation": "WRITE", "operationParameters": {}}}, *actions]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (table / "_delta_log" / f"{version:020}.json").write_text(text, encoding="utf-8")


def _metadata(table: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted((table / "_delta_log").glob("*.json")):
        for line in path.read_text(encoding="utf-8").splitlines():
            found = json.loads(line).get("metaData", found)
    return found


def _file(path: Path, table: str, bucket: Any, rows: list[Mapping[str, Any]]) -> dict[str, object]:
    genuine = DeltaTable(str(path)).schema().to_arrow()
    columns = {}
    for column in contract(table).columns:
        if column.name == "bucket":
            continue
        values = [row[column.name] for row in rows]
        if column.physical_type == "STRING":
            raw = [value.encode() if isinstance(value, str) else value for value in values]
            array = pa.array(raw, pa.binary())
            # As text, whatever bytes it is.
            columns[column.name] = pa.Array.from_buffers(pa.string(), len(raw), array.buffers())
        else:
            kind = _TYPES.get(column.physical_type) or pa.schema(genuine).field(column.name).type
            columns[column.name] = pa.array(values, kind)
    return _add(path, bucket, pa.table(columns))


def _add(path: Path, bucket: Any, content: pa.Table) -> dict[str, object]:
    name = f"bucket={'none' if bucket is None else bucket}/{uuid.uuid4().hex}.parquet"
    (path / name).parent.mkdir(exist_ok=True)
    pq.write_table(content, path / name)
    return {
        "add": {
            "path": name, "partitionValues": {"bucket": None if bucket is None else str(bucket)},
            "size": (path / name).stat().st_size, "modificationTime": 0, "dataChange": True,
        }
    }  # fmt: skip


PROVENANCE = ("run_id", "source", "landed_at")
IGNORED = {
    "node_journal_line": {*PROVENANCE},
    "ipfs_log_entry": {
        "log_id", "key", "sig", "clock_id", "writer", "payload_json", "value_json", "next", "refs", "ops", "flags",
        *PROVENANCE,
    },
    "ipfs_log_identity": {"id", "public_key", "sig_id", "sig_public_key", "type", "valid", *PROVENANCE},
    "ipfs_log_manifest": {"log_id", "name", "type", "access", "write", *PROVENANCE},
    "device_log_entry": {*PROVENANCE},
}  # fmt: skip
"""Columns that are made from the record, and that nobody reads in another lake: what they say changes nothing."""


def forgeries(lake: Path, table: str, injected: str, profile: str = "native") -> Iterable[Forgery]:
    """Every column of a table forged in turn; `injected` is a text that breaks out of a JSON text.

    `profile` is that of the device log entry whose row is forged.
    """
    rows = rows_of(lake, table)
    row = next(row for row in rows if row.get("n", 3) == 3 and row.get("identity_digest", b"") is not None)
    if table == "device_log_entry":
        shaped = (each for each in rows if each["profile"] == profile and each["body"])
        row = next(each for each in shaped if each["deps"] or each["raw"])
    other = rows[-1]
    for column in contract(table).columns:
        own = row[column.name]
        is_read = column.name not in IGNORED[table]
        by_type: dict[str, list[Any]] = {
            "STRING": [
                "",
                MARKUP,
                injected,
                "x" * 300_000,
                "\udc80".encode("utf-8", "surrogatepass"),
                NO_UTF8,
            ],
            "BINARY": [b"", b"\0" * 31, b"\0" * 33, b"\1" * (3 << 20)],
            "INT": [-1, 2**31 - 1],
            "BIGINT": [-(2**63)],
            "BOOLEAN": [not own],
            "TIMESTAMP": [datetime(1, 1, 1, tzinfo=UTC)],
        }
        if table == "device_log_entry":
            by_type |= {"ARRAY<BINARY>": [[], [b"\1" * 31]]}
            by_type["BINARY"].append(NO_UTF8)
        for value in by_type.get(column.physical_type, [[]]):
            if value == own:
                continue
            is_refused = is_read or (isinstance(value, bytes) and column.physical_type == "STRING")
            yield Forgery(table, column.name, value, is_refused, row)
        if own is not None:
            yield Forgery(table, column.name, None, column.required or is_read, row)
        if other[column.name] not in (own, None) and column.name in (
            "record_id",
            "line_hash",
            "line_number",
            "block",
        ):
            yield Forgery(table, column.name, other[column.name], True, row)


def forged(found: Forgery) -> dict[str, Any]:
    """The row as it stands in the forged lake."""
    return {**found.row, found.column: found.value}
