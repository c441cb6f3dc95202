"""What the effects over a lake hand on, without Spark."""

from strandline.dialects.aura.author import context_genesis
from strandline.dialects.aura.reduce import Journal
from strandline.effects import JournalEffects, journals
from strandline.tables.contents import Contents
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
