"""Journal documents: `{"namespace": .., "facts": [..]}`, whose facts are found and parsed one by one."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from strandline.core.encoding.json_slices import Member, Parts, Slice, members_of
from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.limits import most_elements
from strandline.core.verdict import Finding, evidence_of, shown
from strandline.dialects.aura.codec.facts import (
    NESTING,
    fact_forms,
    parse_fact_text,
    read_namespace,
)
from strandline.dialects.aura.codec.forms import Form, ShapeRefused, wrong_type
from strandline.dialects.aura.types import Document, FactDocument, Namespace, Unreadable

_FACTS: Final = "facts"
_MEMBERS: Final = {"namespace", _FACTS}


def unreadable(finding: Finding, raw: bytes, offset: int, namespace: Namespace | None = None) -> Unreadable:
    """Return the record of bytes that are not a fact, with their one fault."""
    return Unreadable((finding.reason,), raw, offset, evidence_of([finding]), namespace)


def has_facts(data: bytes, piece: Slice) -> bool:
    """Return whether the object at `piece` has the member of a journal document, even if its facts are not JSON."""
    members = _members(data, piece)
    return isinstance(members, dict) and _FACTS in members


def journal_document(data: bytes, piece: Slice, *, transitions: bool) -> Iterator[Document]:
    """Yield the facts of the journal document at `piece`, or one rejected record for all of it.

    Its own members come first: unknown ones (`FIELD_UNKNOWN`), its namespace, which the facts inherit, then the list of
    facts. A fact that is not JSON or has a wrong form is rejected with its exact bytes; the other facts are not
    affected. `transitions` as in `fact_forms`.
    """
    members = _members(data, piece)
    if isinstance(members, JsonRefused):
        yield _refused(data, piece, Finding("JSON_INVALID", members.evidence))
        return
    parts = members[_FACTS].parts if _FACTS in members else None
    if isinstance(parts, JsonRefused):
        yield _refused(data, piece, Finding("JSON_INVALID", parts.evidence))
        return
    try:
        envelope = strict_json(_envelope(data, piece, members, parts), nesting=NESTING)
        namespace = _namespace(envelope)
    except JsonRefused as refused:
        yield _refused(data, piece, Finding("JSON_INVALID", refused.evidence))
        return
    except ShapeRefused as refused:
        yield _refused(data, piece, refused.finding)
        return
    form = fact_forms(namespace, transitions=transitions)
    for element in parts.pieces if parts is not None else ():
        yield _fact(data[element.start : element.end], element.start, namespace, form)


def _fact(raw: bytes, offset: int, namespace: Namespace, form: Form) -> Document:
    fact = parse_fact_text(raw, form)
    if isinstance(fact, Finding):
        return unreadable(fact, raw, offset, namespace)
    return FactDocument(fact, offset)


def _members(data: bytes, piece: Slice) -> Mapping[str, Member] | JsonRefused:
    if data[piece.start : piece.start + 1] != b"{":
        return {}
    try:
        return members_of(data, piece, most_elements(piece.end - piece.start), (_FACTS,))
    except JsonRefused as refused:
        return refused


def _envelope(data: bytes, piece: Slice, members: Mapping[str, Member], parts: Parts | None) -> bytes:
    """Return the document without its facts. If their list is not closed, neither is the document."""
    if parts is None:
        return data[piece.start : piece.end]
    facts = members[_FACTS].value
    end = facts.end if parts.end is None else parts.end
    return data[piece.start : facts.start] + b"[]" + data[end : piece.end]


def _namespace(envelope: Any) -> Namespace:
    """Return the namespace of a document, given without its facts, whose members have their forms."""
    if type(envelope) is not dict:
        raise wrong_type(envelope, "map")
    if not envelope.keys() <= _MEMBERS:
        raise ShapeRefused("FIELD_UNKNOWN").inside(shown(min(envelope.keys() - _MEMBERS)))
    for name in ("namespace", _FACTS):
        if name not in envelope:
            raise ShapeRefused("FIELD_MISSING").inside(name)
        if name == "namespace":
            try:
                namespace = read_namespace(envelope[name])
            except ShapeRefused as refused:
                raise refused.inside(name) from None
    if type(envelope[_FACTS]) is not list:
        raise wrong_type(envelope[_FACTS], "list").inside(_FACTS)
    return namespace


def _refused(data: bytes, piece: Slice, finding: Finding) -> Unreadable:
    return unreadable(finding, data[piece.start : piece.end], piece.start)
