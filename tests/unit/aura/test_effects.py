"""What the effects over a lake hand on, without Spark."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from strandline.core.errors import FaultError
from strandline.dialects.aura.author import context_genesis
from strandline.dialects.aura.author.charges import WriteConflict
from strandline.dialects.aura.reduce import Journal
from strandline.effects import JournalEffects, budgets, journals
from strandline.tables.contents import Contents
from strandline.tables.written import Written
from support.aura_cases import V_ID, U
from support.context_cases import of_context

GENESIS = context_genesis([U.id, V_ID], b"\x09" * 16)


def test_a_journal_reaches_the_tasks_as_bytes_not_as_a_path_of_the_driver(monkeypatch, tmp_path):
    """The tasks of a cluster see no disk of the driver."""
    note = of_context(
        "Generic", 0x22, "u", namespace=GENESIS.namespace, binding_type="note", binding_data=b""
    )
    journal, asked = Journal(GENESIS.namespace, [GENESIS, note]), []
    monkeypatch.setattr(journals.ingest, "run", lambda *given: asked.append(given[2]))
    JournalEffects(None, str(tmp_path), GENESIS.namespace).persist_journal(journal)
    [request] = asked
    assert request.sources == ()
    assert request.contents.format == "cbor"
    assert tuple(request.contents.records) == tuple(fact.cbor for fact in journal.facts)
    assert request.contents.size == sum(len(fact.cbor) for fact in journal.facts)


def test_records_of_the_driver_are_packed_into_numbered_files():
    records = [b"%d" % number * 300_000 for number in range(8)]
    files = Contents("here", "cbor", records).files().to_pydict()
    assert files["file_no"] == [0, 1]
    assert files["content"] == [b"".join(records[:4]), b"".join(records[4:])]
    assert Contents("here", "cbor", []).files().to_pylist() == [{"file_no": 0, "content": b""}]


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_charge_that_was_committed_although_its_writer_was_told_otherwise_is_there_once(
    monkeypatch, is_committed
):
    asked = []

    def conflict(*_):
        raise FaultError("WRITE_CONFLICT", "Another writer was faster.", "Run it again.")

    def merge_of(table, run_id, otherwise):
        asked.append((table, run_id))
        return Written(7, 1) if is_committed else otherwise

    rows = SimpleNamespace(withColumn=lambda *_: None)
    monkeypatch.setattr(budgets, "fact_rows", lambda *_: rows)
    monkeypatch.setattr(budgets, "F", SimpleNamespace(lit=lambda _: None))
    store = SimpleNamespace(buckets=4, spark=None, run_id="ours", insert_at_slot=conflict, merge_of=merge_of)
    context = GENESIS.namespace
    budget = budgets.DeltaBudget(store, context, context, context, None, None)
    with nullcontext() if is_committed else pytest.raises(WriteConflict):
        assert budget.insert([GENESIS])
    assert (asked, budget.written) == ([("aura_fact", "ours")], Written(7, 1) if is_committed else None)
