"""Every mutation of a journal and of a frame yields its lines and rows in the reference; Spark is asked the same."""

from operator import attrgetter

import pytest

from strandline.core.verdict import encode_evidence
from support.by_size import by_size
from support.mutations import tampered
from support.reference import ReferenceLake

CASES = list(tampered(0))


@pytest.mark.parametrize("case", by_size(CASES, attrgetter("name")))
def test_a_tampered_file_yields_its_lines_and_rows(case):
    lake = ReferenceLake(case.strict)
    counts = lake.ingest({"a": case.data})
    assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred
    assert {node: set(lake.state(node).lines.values()) for node in lake.nodes} == (
        {case.node: case.accepted} if case.accepted else {}
    )
    found = {
        row.quarantine_id: (row.namespace, row.status, row.reasons, row.raw, row.waits_for, row.evidence)
        for row in lake.quarantine.values()
    }
    expected = {}
    for row in case.rows:
        evidence = min([row.evidence_text, *(each[-1] for each in [expected.get(row.id())] if each)])
        expected[row.id()] = (row.namespace, row.status, row.reasons, row.raw, row.waits_for, evidence)
    assert found == expected


def test_evidence_is_spelled_as_the_product_spells_it():
    texts = [row for case in CASES for row in case.rows[:10]]
    assert texts
    assert all(row.evidence_text == encode_evidence(row.evidence) for row in texts)


def test_no_two_mutations_share_a_namespace_or_a_row():
    nodes = [case.node for case in CASES if case.accepted or case.rows]
    named = [node for node in nodes if node]
    assert len(set(named)) == len(named)
    ids = [id_ for case in CASES for id_ in {row.id() for row in case.rows}]
    assert len(set(ids)) == len(ids)
