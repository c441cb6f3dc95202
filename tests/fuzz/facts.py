"""Checks of facts: files, single facts, items of CBOR, admission."""

from fuzz import corpora
from fuzz.values import in_bounded_memory
from strandline.core.encoding.cbor_items import item_end
from strandline.core.encoding.strict_cbor import CborRefused, strict_cbor
from strandline.core.errors import FaultError
from strandline.core.verdict import Finding
from strandline.dialects.aura.codec import (
    DOCUMENT_FORMATS,
    parse_fact_cbor,
    parse_fact_text,
    read_documents,
    to_json,
)
from strandline.dialects.aura.reduce import parse_state, reduce_authority, reduce_columns, verify_fork
from strandline.dialects.aura.types import Fact, FactDocument, Unreadable
from strandline.dialects.aura.verify import EMPTY, judge, rule_findings

NESTING = 32


def files_of_facts_are_read(raw: bytes) -> None:
    """Every document is a fact that is written as it was read, or bytes of the file with one code."""
    for form in DOCUMENT_FORMATS:
        for document in in_bounded_memory(lambda form=form: list(read_documents(raw, form)), len(raw)):
            if isinstance(document, Unreadable):
                assert raw[document.offset :].startswith(document.raw)
                assert list(document.evidence) == [document.reasons[0]]
            else:
                assert isinstance(document, FactDocument)
                written_again(document.fact)


def facts_are_written_as_they_were_read(raw: bytes) -> None:
    """A fact has one encoding, which is that of its JSON; nothing but a finding takes its place."""
    for parse in (parse_fact_cbor, parse_fact_text):
        fact = parse(raw)
        if isinstance(fact, Finding):
            assert fact.reason
        else:
            written_again(fact)
            assert parse is parse_fact_text or fact.cbor == raw


def written_again(fact: Fact) -> None:
    assert parse_fact_cbor(fact.cbor).cbor == fact.cbor
    assert parse_fact_text(to_json(fact).encode()).cbor == fact.cbor
    assert all(finding.evidence for finding in rule_findings(fact))


def facts_are_admitted_and_reduced(raw: bytes) -> None:
    """Every record ends in one place; what is admitted is known when it comes again, and gives one state."""
    for form in DOCUMENT_FORMATS:
        documents = list(read_documents(raw, form))
        first = judge(documents)
        counts = first.counts
        assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred == len(documents)
        again = judge(documents, first.accepted)
        assert (again.counts.new, again.accepted) == (0, first.accepted)
        for namespace in {fact.namespace for fact in first.accepted.facts.values()}:
            if namespace.kind == "authority":
                ops = [op for op in first.admission.operations.values() if op.fact.namespace == namespace]
                full = reduce_authority(namespace, [op.fact for op in ops])
                assert full.state_cbor == reduce_columns(namespace, ops).state_cbor


def states_are_read_or_refused(raw: bytes) -> None:
    """A stored state is written as it was read, or called damaged."""
    try:
        state = parse_state(raw)
    except FaultError as error:
        assert error.code == "STATE_DAMAGED"
        return
    assert state == EMPTY or state.commitment


def only_genuine_evidence_proves_a_fork(raw: bytes) -> None:
    """Evidence that is not the genuine one proves nothing, and no text makes an exception."""
    text = raw.decode("utf-8", "surrogateescape")
    assert not verify_fork(text) or text == corpora.fork_evidence()


def items_end_where_their_value_does(raw: bytes) -> None:
    """What is read as one item is one item by its heads."""
    end = item_end(raw, 0, NESTING)
    try:
        strict_cbor(raw, tags=frozenset(), floats=("none",), nesting=NESTING)
    except CborRefused as refused:
        if refused.cause == "trailing":
            assert isinstance(end, int)
            assert end < len(raw)
        return
    assert end == len(raw)
