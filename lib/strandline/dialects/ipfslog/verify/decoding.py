"""Check 3: decoding a block by its bytes alone, and the range of its integers."""

from dataclasses import dataclass
from typing import Any

from strandline.core.encoding.strict_cbor import CborRefused
from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.verdict import Finding
from strandline.dialects.ipfslog.codec import (
    NESTING,
    dag_pb_data,
    has_unsafe_integer,
    is_dag_pb,
    parse_dag_cbor,
)
from strandline.dialects.ipfslog.verify.shape import Form


@dataclass(frozen=True, slots=True)
class Item:
    """A decoded block: its value, its form, and properties of its numbers."""

    value: Any
    form: Form
    has_short_floats: bool = False
    has_unsafe_integer: bool = False


def decoded(block: bytes) -> Item | Finding:
    """Return the content of a block, or why it cannot be decoded (check 3 without the range of integers)."""
    if is_dag_pb(block):
        data = dag_pb_data(block)
        if data is None:
            return Finding("NOT_AN_ENTRY", {"cause": "dag-pb with more than data"})
        try:
            return Item(strict_json(data, numbers="js", nesting=NESTING), "dag-pb")
        except JsonRefused as refused:
            return Finding("JSON_INVALID", refused.evidence)
    try:
        item = parse_dag_cbor(block)
    except CborRefused as refused:
        return Finding(refused.reason, refused.evidence)
    return Item(item.value, "dag-cbor", item.floats == "short", item.has_unsafe_integer)


def is_out_of_range(value: Any) -> bool:
    """Return whether an integer is beyond 2^53-1 where this is not allowed: only payloads of core2 may have such."""
    if type(value) is dict and type(value.get("identity")) is str:
        value = [member for name, member in value.items() if name != "payload"]
    return has_unsafe_integer(value)


def out_of_range() -> Finding:
    """Return the finding of an integer beyond 2^53-1."""
    return Finding("NUMBER_OUT_OF_RANGE", {"expected": "integers of at most 2^53-1 in magnitude"})
