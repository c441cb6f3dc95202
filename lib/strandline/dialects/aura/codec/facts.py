"""Values to facts and back. Phase 1 of verification checks only the form of a fact."""

import json
from collections.abc import Mapping
from typing import Any, Final

from strandline.core.encoding.strict_cbor import CborRefused, strict_cbor
from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.verdict import Finding, shown
from strandline.dialects.aura.codec import ids
from strandline.dialects.aura.codec.containers import spelled
from strandline.dialects.aura.codec.forms import Form, ShapeRefused
from strandline.dialects.aura.codec.operations import attested_op
from strandline.dialects.aura.codec.shapes import CONTENT, NAMESPACE, TIMESTAMP, UUID, fact_form
from strandline.dialects.aura.types import (
    MAX_FACT_BYTES,
    Attestation,
    Fact,
    FactKind,
    Namespace,
)

NESTING: Final = 32
"""Levels of one fact, wherever it is."""

_KINDS: Final[tuple[FactKind, ...]] = ("AttestedOp", "Relational", "Snapshot", "RendezvousReceipt")
_PREFIXES: Final = {"authority:": "Authority", "context:": "Context"}


def _namespace_from_json(value: Any) -> Any:
    if type(value) is not str:
        return NAMESPACE.from_json(value)
    for prefix, variant in _PREFIXES.items():
        if value.startswith(prefix):
            return {variant: UUID.from_json(value[len(prefix) :])}
    raise ShapeRefused("TYPE_INVALID", expected="authority:<uuid> or context:<uuid>", actual=shown(value))


_NAMESPACE: Final = spelled(NAMESPACE, _namespace_from_json)
_PLAIN: Final = fact_form(_NAMESPACE, transitions=False)
_FACT: Final = fact_form(_NAMESPACE, transitions=True)


def read_namespace(value: Any) -> Namespace:
    """Return the namespace that a JSON value names.

    Raises:
        ShapeRefused: it names none.
    """
    return _namespace(_NAMESPACE.from_json(value))


def own_namespace(value: Any) -> Namespace | None:
    """Return the namespace that a JSON value of any form names as its own, or None."""
    try:
        return read_namespace(value["namespace"]) if type(value) is dict and "namespace" in value else None
    except ShapeRefused:
        return None


def _namespace(value: Mapping[str, bytes]) -> Namespace:
    if "Authority" in value:
        return Namespace("authority", value["Authority"])
    return Namespace("context", value["Context"])


def namespace_value(namespace: Namespace) -> dict[str, bytes]:
    """Return the canonical value of a namespace."""
    return {namespace.kind.capitalize(): namespace.id}


def _inside(namespace: Namespace, *, transitions: bool) -> Form:
    """Return the form of a fact in a document of this namespace: it may leave the member out."""

    def from_json(value: Any) -> Any:
        found = _namespace_from_json(value)
        if _namespace(found) != namespace:
            raise ShapeRefused("NAMESPACE_MISMATCH", expected=namespace.text, actual=_namespace(found).text)
        return found

    return fact_form(
        Form(from_json, NAMESPACE.from_cbor, NAMESPACE.to_json, lambda: namespace_value(namespace)),
        transitions=transitions,
    )


def fact_forms(namespace: Namespace | None, *, transitions: bool = False) -> Form:
    """Return the form of facts in a document of this namespace; None for facts outside of a document.

    `transitions`: AMP transitions are facts; without it their variants are unknown.
    """
    if namespace is None:
        return _FACT if transitions else _PLAIN
    return _inside(namespace, transitions=transitions)


def parse_fact_json(value: Any, form: Form = _PLAIN) -> Fact | Finding:
    """Return the fact of a strict JSON value, or the first member that does not have its form.

    These hold, each with its code:
    - members and variants are those of the form: `FIELD_UNKNOWN`, `FIELD_MISSING`, `VARIANT_UNKNOWN`, `OP_LAYER2`;
    - values have their type, range and length: `TYPE_INVALID`, `INT_RANGE`, `LENGTH_INVALID`;
    - lists have no element twice: `LIST_DUPLICATE`; a range of times ascends: `TIME_RANGE_INVERTED`;
    - superseded facts are named by order and id: `SNAPSHOT_UNBOUND`;
    - its namespace is that of the document around it: `NAMESPACE_MISMATCH`;
    - its canonical encoding has at most 1 MiB: `FACT_TOO_LARGE`, checked last.
    """
    try:
        canonical = form.from_json(value)
    except ShapeRefused as refused:
        return refused.finding
    cbor = ids.canonical(canonical)
    return _too_large(len(cbor)) or fact_of(canonical, cbor)


def parse_fact_text(raw: bytes, form: Form = _PLAIN) -> Fact | Finding:
    """Return the fact of JSON bytes, as `parse_fact_json`; `JSON_INVALID` if they are not one strict JSON value."""
    try:
        value = strict_json(raw, nesting=NESTING)
    except JsonRefused as refused:
        return Finding("JSON_INVALID", refused.evidence)
    return parse_fact_json(value, form)


def parse_fact_cbor(raw: bytes, form: Form = _PLAIN) -> Fact | Finding:
    """Return the fact of one CBOR item: the same forms, but only the canonical encoding.

    These hold, each with its code: at most 1 MiB, checked first (`FACT_TOO_LARGE`); as `strict_cbor` without floats and
    tags (`CBOR_INVALID`, `CBOR_NOT_CANONICAL`); all members, lists ascending (`LIST_DUPLICATE`, else
    `CBOR_NOT_CANONICAL`), values as in `parse_fact_json`.
    """
    if found := _too_large(len(raw)):
        return found
    try:
        item = strict_cbor(raw, tags=frozenset(), floats=("none",), nesting=NESTING)
    except CborRefused as refused:
        return Finding(refused.reason, refused.evidence)
    try:
        canonical = form.from_cbor(item.value)
    except ShapeRefused as refused:
        return refused.finding
    return fact_of(canonical, raw)


def stored_fact(cbor: bytes) -> Fact:
    """Return the fact of bytes that were read as one before.

    Raises:
        ValueError: they are none.
    """
    fact = parse_fact_cbor(cbor, _FACT)
    if isinstance(fact, Finding):
        raise ValueError(f"the bytes are no fact: {fact.reason}")
    return fact


def _too_large(size: int) -> Finding | None:
    if size <= MAX_FACT_BYTES:
        return None
    return Finding("FACT_TOO_LARGE", {"expected": MAX_FACT_BYTES, "actual": size})


def fact_of(value: Mapping[str, Any], cbor: bytes) -> Fact:
    """Return the fact of a canonical value and its encoding."""
    namespace = _namespace(value["namespace"])
    ((name, content),) = value["content"].items()
    kind: FactKind = _KINDS[_KINDS.index(name)]
    variant, attested, op_id = name, None, None
    if kind == "AttestedOp":
        attested = attested_op(content)
        variant = attested.op.kind
        op_id = ids.op_id(namespace, ids.canonical(content["op"]))
    elif kind == "Relational":
        ((variant, content),) = content.items()
    return Fact(
        fact_id=ids.fact_id(cbor),
        body_id=ids.body_id(value),
        namespace=namespace,
        order=value["order"],
        kind=kind,
        variant=variant,
        content=content,
        attest=tuple(Attestation(**each) for each in value["attest"]),
        value=value,
        cbor=cbor,
        attested=attested,
        op_id=op_id,
    )


def encode(value: Mapping[str, Any]) -> Fact:
    """Return the fact of a canonical value whose maps may be in any order.

    Raises:
        ValueError: the value does not have the form of a fact.
    """
    canonical = _FACT.from_cbor(dict(value))
    cbor = ids.canonical(canonical)
    if _too_large(len(cbor)):
        raise ShapeRefused("FACT_TOO_LARGE", expected=MAX_FACT_BYTES, actual=len(cbor))
    return fact_of(canonical, cbor)


def to_json(fact: Fact) -> str:
    """Return a fact as one line of JSON: members in the order of the encoding, lower-case hex, no blanks."""
    return _compact(_FACT.to_json(fact.value))


def content_json(fact: Fact) -> str:
    """Return the member `content` in the form of `to_json`."""
    return _compact(CONTENT.to_json(fact.value["content"]))


def timestamp_json(fact: Fact) -> str:
    """Return the member `timestamp` in the form of `to_json`."""
    return _compact(TIMESTAMP.to_json(fact.value["timestamp"]))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
