"""Stores: the effects of payloads on a key-value store, a document store, a feed or a counter."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from strandline.core.encoding.js_json import js_number
from strandline.core.encoding.strict_json import MAX_SAFE_INTEGER
from strandline.dialects.ipfslog.codec import is_canonical, json_fitness, parse_cid, sorted_json
from strandline.dialects.ipfslog.types import Cid, Entry

Store: TypeAlias = Literal["none", "eventlog", "feed", "keyvalue", "documents", "counter"]

STORES: Final[Mapping[str, Store]] = {
    "none": "none",
    "eventlog": "eventlog",
    "events": "eventlog",
    "feed": "feed",
    "keyvalue": "keyvalue",
    "documents": "documents",
    "docstore": "documents",
    "counter": "counter",
}
"""The store of every store name; OrbitDB core has other names."""

STORES_WITH_ROWS: Final[frozenset[Store]] = frozenset({"keyvalue", "documents", "counter"})
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Op:
    """One possible effect of a payload. `value_json` is the document, count or value; None if it is absent.

    `target` is the canonical content address in a `DEL` of a feed. `item` numbers the documents of one entry.
    """

    op: str
    op_key: str | None
    value_json: str | None
    item: int
    target: str | None


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """The newest value of a key, or the greatest count of an id. `value_json` is None if deleted or absent."""

    document_key: str
    record_id: bytes
    item: int
    deleted: bool
    value_json: str | None


def payload_json(entry: Entry) -> str:
    """Return the payload as sorted JSON; bytes are `{"/":{"bytes":..}}`, links `{"/":"<cid>"}`."""
    return _json(entry.payload)


def value_json(entry: Entry) -> str | None:
    """Return the `value` of the payload as sorted JSON, None if it has none."""
    payload = entry.payload
    return _json_or_absent(payload.get("value", _ABSENT)) if isinstance(payload, dict) else None


def _json(value: Any) -> str:
    return sorted_json(value, plain=json_fitness(value) == "plain")


def _json_or_absent(value: Any) -> str | None:
    return None if value is _ABSENT else _json(value)


def ops_of(entry: Entry) -> tuple[Op, ...]:
    """Return the possible effects of an entry on a store of any kind; an op with unsuitable members has none."""
    payload = entry.payload
    if not isinstance(payload, dict):
        return ()
    op, value = payload.get("op"), payload.get("value", _ABSENT)
    if op == "ADD":
        return (Op(op, None, _json_or_absent(value), 0, None),)
    if op == "PUT":
        key = _property_name(payload.get("key", _ABSENT))
        return () if key is None else (Op(op, key, _json_or_absent(value), 0, None),)
    if op == "DEL":
        key, target = _property_name(payload.get("key", _ABSENT)), _target(value)
        return () if key is None and target is None else (Op(op, key, _json_or_absent(value), 0, target),)
    if op == "PUTALL" and entry.variant != "core2":
        return tuple(_documents(payload.get("docs")))
    return tuple(_counts(value)) if op == "COUNTER" else ()


def _property_name(key: Any) -> str | None:
    """Return the property name that JavaScript uses for a key, None for objects and arrays, which share one name."""
    if isinstance(key, str):
        return key
    if key is _ABSENT:
        return "undefined"
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return js_number(key) if isinstance(key, int | float) else None


def _target(value: Any) -> str | None:
    cid = parse_cid(value) if isinstance(value, str) else None
    if not isinstance(cid, Cid):
        return None
    return value if is_canonical(value, cid) or value.startswith("Qm") else None


def _documents(docs: Any) -> Iterator[Op]:
    for item, document in enumerate(docs if isinstance(docs, list) else ()):
        if isinstance(document, dict):
            key = _property_name(document.get("key", _ABSENT))
            if key is not None:
                yield Op("PUTALL", key, _json_or_absent(document.get("value", _ABSENT)), item, None)


def _counts(value: Any) -> Iterator[Op]:
    counters = value.get("counters") if isinstance(value, dict) else None
    for name, count in (counters if isinstance(counters, dict) else {}).items():
        is_number = isinstance(count, int | float) and not isinstance(count, bool)
        # Core cannot compare integers beyond 2^53-1, which are not exact doubles.
        if is_number and not (isinstance(count, int) and abs(count) > MAX_SAFE_INTEGER):
            yield Op("COUNTER", name, js_number(count), 0, None)


def document_rows(store: Store, effects: Iterable[tuple[bytes, Iterable[Op]]]) -> dict[str, DocumentRow]:
    """Return the rows of a store by key, from the ids of entries with their `ops_of`, in the order of their positions.

    - `keyvalue`: of the `PUT` and `DEL` with a key, the one with the greatest position;
    - `documents`: the same, with `PUTALL`; of equal keys in one entry the first;
    - `counter`: the greatest count of each id, at least 0; of equal ones the one with the greatest position.
    """
    rows: dict[str, DocumentRow] = {}
    taken = {"keyvalue": ("PUT", "DEL"), "documents": ("PUT", "DEL", "PUTALL"), "counter": ("COUNTER",)}.get(
        store, ()
    )
    for record_id, ops in effects:
        for op in ops:
            if op.op not in taken or op.op_key is None:
                continue
            before = rows.get(op.op_key)
            if store == "counter":
                if before is None or _count(op) >= _count(before):
                    rows[op.op_key] = DocumentRow(op.op_key, record_id, 0, False, js_number(_count(op)))
            elif before is None or before.record_id != record_id:
                deleted = op.op == "DEL"
                rows[op.op_key] = DocumentRow(
                    op.op_key, record_id, op.item, deleted, None if deleted else op.value_json
                )
    return rows


def _count(row: Op | DocumentRow) -> float:
    text = row.value_json or "0"
    number = float(text)
    return (
        0
        if number <= 0
        else int(number)
        if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER
        else number
    )


def feed(values: Iterable[Entry]) -> list[bytes]:
    """Return the ids of the `ADD` entries that no `DEL` with a greater position names, in order."""
    added: dict[str, bytes] = {}
    for entry in values:
        for op in ops_of(entry):
            if op.op == "ADD":
                added[entry.cid] = entry.record_id
            elif op.op == "DEL" and op.target is not None:
                added.pop(op.target, None)
    return list(added.values())


def counter(rows: Iterable[DocumentRow]) -> float:
    """Return the sum of a counter: doubles, added in ascending order."""
    return float(sum(sorted(float(row.value_json or "0") for row in rows)))


def document_groups(rows: Iterable[DocumentRow]) -> tuple[bytes, ...]:
    """Return the 256 hashes of the rows, grouped by the first byte of their encoding, each group sorted."""
    groups: list[list[bytes]] = [[] for _ in range(256)]
    for row in rows:
        encoded = _encoded(row)
        groups[encoded[0]].append(encoded)
    return tuple(hashlib.sha256(b"".join(sorted(group))).digest() for group in groups)


def _encoded(row: DocumentRow) -> bytes:
    key = hashlib.sha256(row.document_key.encode("utf-8")).digest()
    value = hashlib.sha256((row.value_json or "").encode("utf-8")).digest()
    return key + row.record_id + row.item.to_bytes(4, "big") + (b"\x01" if row.deleted else b"\x00") + value
