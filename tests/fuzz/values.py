"""Checks of what one value is: JSON, CBOR, addresses, blocks."""

import json
import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from strandline.core.encoding import base_n, strict_cbor, strict_json
from strandline.core.encoding import json_slices as slices
from strandline.core.encoding.js_json import stringified
from strandline.core.encoding.strict_cbor import CborRefused, encode_cbor
from strandline.core.encoding.strict_json import JsonRefused, NumberToken
from strandline.core.encoding.varint import parse_varint, varint
from strandline.core.limits import MAX_VALUES, VALUE_BYTES
from strandline.dialects.ipfslog import codec
from strandline.dialects.ipfslog.codec import stored
from strandline.dialects.ipfslog.info import PROFILE
from strandline.dialects.ipfslog.kernels.judgement import JUDGED, judge
from strandline.dialects.ipfslog.reduce.skeletons import decode_carry, decode_skeleton
from strandline.dialects.ipfslog.types import BlockDocument, Cid
from strandline.dialects.ipfslog.verify import verify_block, verify_identity
from strandline.dialects.ipfslog.verify.documents import read_element
from strandline.kernels.containers import StreamLimits
from strandline.kernels.judging import Judging, judged
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import ReadOptions

LARGE = 1 << 15


def in_bounded_memory(work: Callable[[], Any], size: int) -> Any:
    """Return what `work` does; of large inputs, whose memory is looked at, at most what a document may take."""
    if size < LARGE:
        return work()
    tracemalloc.start()
    try:
        found = work()
        assert tracemalloc.get_traced_memory()[1] < 2 * (MAX_VALUES * VALUE_BYTES + 9 * size)
    finally:
        tracemalloc.stop()
    return found


def strict_json_reads_what_json_reads(raw: bytes) -> None:
    """What is taken is what the standard library takes, and no number loses digits."""
    for options in (
        {"numbers": "exact", "nesting": 32, "surrogates": "keep"},
        {"numbers": "js", "nesting": 129},
        {"numbers": "parsed", "nesting": 128, "duplicates": "last", "surrogates": "keep"},
    ):
        try:
            value = in_bounded_memory(
                lambda options=options: strict_json.strict_json(raw, **options), len(raw)
            )
        except JsonRefused:
            continue
        # Python reads no integer of more than 4,300 digits.
        integer = float if options["numbers"] == "parsed" else int
        assert same(value, json.loads(raw.decode("utf-8"), parse_int=integer))
        if options["numbers"] == "parsed":
            text = stringified(value, 2)
            assert stringified(strict_json.strict_json(text.encode(), **options), 2) == text
        if options["numbers"] == "js":
            again = strict_json.strict_json(stringified(value).encode(), numbers="js", nesting=129)
            assert same(again, value)
            assert json.loads(codec.sorted_json(value)) == json.loads(stringified(value))


def same(value: Any, plain: Any) -> bool:
    """Whether a value of the strict reader is that of the standard library."""
    if isinstance(value, NumberToken):
        return json.loads(value.text) == plain
    if isinstance(value, dict):
        return value.keys() == plain.keys() and all(same(each, plain[name]) for name, each in value.items())
    if isinstance(value, list):
        return len(value) == len(plain) and all(map(same, value, plain))
    if isinstance(value, float):
        return value == float(plain)  # as JavaScript has it, the reader that keeps all digits gives no float
    return value == plain and isinstance(value, bool) == isinstance(plain, bool)


def cbor_is_written_as_it_was_read(raw: bytes) -> None:
    try:
        item = in_bounded_memory(lambda: codec.parse_dag_cbor(raw), len(raw))
    except CborRefused as refused:
        assert refused.reason in ("CBOR_INVALID", "CBOR_NOT_CANONICAL")
    else:
        assert encode_cbor(item.value, floats=item.floats or "wide") == raw
        assert strict_cbor.begins_cbor(raw + b"\x80" * 9, codec.NESTING) == item.value
        if codec.json_fitness(item.value) != "beyond":
            assert json.loads(codec.sorted_json(item.value)) is not math.nan
    try:
        strict_cbor.begins_cbor(raw, codec.NESTING)
    except CborRefused:
        return


def dag_pb_is_written_as_it_was_read(raw: bytes) -> None:
    data = codec.dag_pb_data(raw)
    assert data is None or codec.dag_pb_block(data) == raw
    found = parse_varint(raw, 0)
    assert isinstance(found, str) or raw.startswith(varint(found[0]))


def bases_are_written_as_they_were_read(raw: bytes) -> None:
    text = raw[:300].decode("utf-8", "surrogateescape")  # no longer one is ever decoded
    for parse, write in (
        (base_n.parse_base58, base_n.base58), (base_n.parse_base32, base_n.base32), (base_n.parse_base16, bytes.hex),
    ):  # fmt: skip
        data = parse(text)
        assert data is None or write(data) == text
    base_n.parse_base64(text)


def addresses_have_one_text(raw: bytes) -> None:
    text = raw.decode("utf-8", "surrogateescape")
    cid = codec.parse_cid(text)
    assert isinstance(cid, Cid) or cid in ("CID_MALFORMED", "CID_UNSUPPORTED")
    for found in (cid, codec.parse_cid_bytes(raw)):
        if isinstance(found, Cid):
            assert (
                codec.parse_cid(codec.cid_text(found.raw))
                == codec.parse_cid(codec.address_text(found.raw))
                == found
            )
    held = codec.cid_bytes(text)
    assert not isinstance(cid, Cid) or held == cid.raw
    stored.multihash_of(text)


def slices_lie_in_their_document(raw: bytes) -> None:
    if raw[:1] not in (b"[", b"{"):
        return
    try:
        parts = slices.parts_of(raw, 0, len(raw), 1_000)
    except JsonRefused as refused:
        assert refused.cause == "values"
        return
    places = [place for piece in parts.pieces for place in (piece.start, piece.end)]
    assert places == sorted(places)
    assert not places or 1 <= places[0] <= places[-1] <= len(raw)
    try:
        value = strict_json.strict_json(raw, duplicates="last", surrogates="keep", nesting=200)
    except JsonRefused:
        return
    read = [strict_json.strict_json(raw[each.start : each.end], nesting=200, duplicates="last", surrogates="keep")
            for each in parts.pieces] if isinstance(value, list) else None  # fmt: skip
    assert read is None or read == value


def blocks_get_a_verdict(raw: bytes) -> None:
    for profile in ("strict", "compat"):
        for claimed in (None, codec.canonical_cid(b"\x01" * 32), b"\x01\x71\x12\x20" + b"\x01" * 32):
            read_element(BlockDocument(raw, claimed, 0), profile)
            verdict = verify_block(raw, claimed, profile)
            assert verdict.status in ("accepted", "rejected", "deferred")
            assert (verdict.status == "accepted") == (not verdict.reasons)
            assert "INTERNAL_ERROR" not in verdict.reasons
        rows = [{"judge_id": b"", "record_id": b"", "block": raw, "claimed": None, "snapshot_id": None}]
        names = [("judge_id", pa.binary()), ("record_id", pa.binary()), ("block", pa.binary())]
        schema = pa.schema([*names, ("claimed", pa.string()), ("snapshot_id", pa.string())])
        options = ReadOptions({PROFILE: profile}, StreamLimits(2**30, 100), RawLimits(2**22, 2**16))
        [batch] = judged([pa.RecordBatch.from_pylist(rows, schema)], Judging(judge, JUDGED), options)
        assert "INTERNAL_ERROR" not in (batch.to_pylist()[0]["reasons"] or [])
    codec.peek_log_id(raw)


def identities_get_a_verdict(raw: bytes) -> None:
    try:
        value = codec.parse_dag_cbor(raw).value
    except CborRefused:
        return
    for each in (value, value.get("identity") if isinstance(value, dict) else None):
        if codec.is_identity_shape(each):
            identity = codec.identity_of(each)
            verify_identity(identity)
            assert codec.parse_dag_cbor(identity.block).value == codec.identity_map(
                codec.identity_value(identity)
            )


def skeletons_are_read_or_refused(raw: bytes) -> None:
    for decode in (decode_skeleton, decode_carry):
        try:
            decode(raw)
        except ValueError:
            continue


def stored_blocks_become_sections(raw: bytes) -> None:
    key, _, value = raw.partition(b"\n")
    for made in (
        stored.section_of_entry(key, value),
        stored.section_of_entry(raw, raw),
        stored.section_of_file("x", raw),
    ):
        assert made is None or parse_varint(made, 0) is not None
    roots = stored.heads_of(raw)
    assert codec.car_header(roots)
