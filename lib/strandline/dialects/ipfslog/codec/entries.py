"""Blocks of entries and their signed bytes: each variant from its fields, each signed text from a block."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strandline.core.encoding.js_json import js_number, quoted, stringified
from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.dialects.ipfslog.codec.cids import link
from strandline.dialects.ipfslog.codec.dag_cbor import NESTING, dag_cbor
from strandline.dialects.ipfslog.codec.dag_pb import dag_pb_block, dag_pb_data, is_dag_pb
from strandline.dialects.ipfslog.codec.identities import identity_map
from strandline.dialects.ipfslog.codec.json_text import sorted_json
from strandline.dialects.ipfslog.types import Floats, Variant

FIELDS: Final[Mapping[Variant, tuple[str, ...]]] = {
    "v0": ("hash", "id", "payload", "next", "v", "clock", "key", "sig"),
    "v1": ("v", "id", "key", "sig", "hash", "next", "clock", "payload", "identity"),
    "v2": ("v", "id", "key", "sig", "hash", "next", "refs", "clock", "payload", "identity"),
    "core2": ("v", "id", "key", "sig", "next", "refs", "clock", "payload", "identity"),
}
"""The members of each variant, in the order of its block."""

_ENTRY_STARTS: Final = (b"\xa9\x61v", b"\xaa\x61v")
_ID_NAME: Final = b"\x62id"
_SHORT_TEXT: Final = 0x60
_TEXT_LENGTH_BYTES: Final = {0x78: 1, 0x79: 2, 0x7A: 4}
JSON_ORDER: Final = ("hash", "id", "payload", "next", "refs", "v", "clock", "key", "identity", "sig")
_SIGNED_BITS_BYTES: Final = 32
_GO_ESCAPES: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry as stored: its members and its block."""

    fields: Mapping[str, Any]
    block: bytes


def stored_entry(
    variant: Variant, fields: Mapping[str, Any], links: Mapping[str, Sequence[bytes]], floats: Floats = "wide"
) -> StoredEntry:
    """Return an entry as stored, from its fields as in JSON.

    `links` are the bytes of the content addresses in `next` and `refs`, which v1 and v2 store as links.
    """
    stored = {name: fields.get(name) for name in FIELDS[variant]}
    if variant == "v0":
        stored["hash"] = None
        return StoredEntry(stored, dag_pb_block(stringified(stored).encode("utf-8")))
    stored["clock"] = {"id": fields["clock"]["id"], "time": fields["clock"]["time"]}
    if variant != "core2":
        stored["hash"] = None
        stored["identity"] = identity_map(fields["identity"])
        stored |= {name: [link(raw) for raw in raws] for name, raws in links.items() if name in stored}
    return StoredEntry(stored, dag_cbor(stored, floats))


def signed_json(
    fields: Mapping[str, Any], next_texts: Sequence[str], refs_texts: Sequence[str], *, plain: bool
) -> str:
    """Return the text that v1 and v2 sign: sorted JSON of `clock, hash: null, id, next, payload, refs (v2), v`.

    `plain`: the payload meets the condition for `plain` of `sorted_json`.
    """
    clock = fields["clock"]
    refs = '"refs":' + _texts(refs_texts) + "," if fields["v"] == 2 else ""
    return (
        f'{{"clock":{{"id":{quoted(clock["id"])},"time":{js_number(clock["time"])}}},"hash":null,'
        f'"id":{quoted(fields["id"])},"next":{_texts(next_texts)},'
        f'"payload":{sorted_json(fields["payload"], bytes_as="members", plain=plain)},{refs}"v":{fields["v"]}}}'
    )


def _texts(texts: Sequence[str]) -> str:
    # Content addresses need no escape.
    return '["' + '","'.join(texts) + '"]' if texts else "[]"


def go_escaped(text: str) -> str:
    """Return signed JSON as Go's encoder writes it: `<`, `>`, `&`, U+2028 and U+2029 escaped."""
    return text.translate(_GO_ESCAPES)


def signed_digest_v0(log_id: str) -> bytes:
    """Return the 32 bytes that a v0 signature covers.

    v0 signs the JSON of `{hash, id, payload, next, v, clock}` without hashing it, and the curve uses only the first
    256 bits: a constant and the beginning of the log id. Payload, clock and `next` are not covered.
    """
    text = f'{{"hash":null,"id":{quoted(log_id)},"payload":'
    return text.encode("utf-8")[:_SIGNED_BITS_BYTES]


def signed_cbor(block: bytes, fields: Mapping[str, Any]) -> bytes:
    """Return the bytes that core2 signs, cut from its canonical block: all but `key`, `sig` and `identity`."""
    key_at = 1 + 3 + 3 + _size(fields["id"])
    next_at = key_at + 4 + _size(fields["key"]) + 4 + _size(fields["sig"])
    identity_at = len(block) - 9 - _size(fields["identity"])
    return b"\xa6" + block[1:key_at] + block[next_at:identity_at]


def peek_log_id(block: bytes) -> str | None:
    """Return the log id of an entry's block without reading the rest; for other blocks the result is arbitrary.

    `v` and `id` are the first two members of a canonical map; v0, JSON in dag-pb, is read whole.
    """
    if is_dag_pb(block):
        return _log_id_v0(dag_pb_data(block))
    if block[:3] not in _ENTRY_STARTS or block[4:7] != _ID_NAME:
        return None
    head = block[7] if len(block) > 7 else 0
    extra = _TEXT_LENGTH_BYTES.get(head, 0)
    size = int.from_bytes(block[8 : 8 + extra], "big") if extra else head - _SHORT_TEXT
    start = 8 + extra
    if not 0 <= size <= len(block) - start or not (extra or _SHORT_TEXT <= head < _SHORT_TEXT + 24):
        return None
    try:
        return str(block[start : start + size], "utf-8")
    except UnicodeDecodeError:
        return None


def _log_id_v0(data: bytes | None) -> str | None:
    try:
        value = None if data is None else strict_json(data, numbers="js", nesting=NESTING)
    except JsonRefused:
        return None
    log_id = value.get("id") if isinstance(value, dict) else None
    return log_id if isinstance(log_id, str) else None


def _size(text: str) -> int:
    """Return the number of bytes of a text in canonical CBOR."""
    size = len(text.encode("utf-8"))
    return size + (1 if size < 24 else 2 if size < 256 else 3 if size < 65536 else 5)
