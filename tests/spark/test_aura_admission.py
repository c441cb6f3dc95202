"""Facts in a lake: pins, and facts that wait for one thing after another."""

import pytest

from strandline.core.errors import UsageError
from strandline.core.ids import bucket_of
from strandline.dialects.aura import author
from strandline.dialects.aura.codec import to_json
from strandline.dialects.aura.types import ANY, SUITE, ZERO, AddLeaf, Genesis, KeyRecord, Namespace, TreeOp
from strandline.dialects.aura.verify import EMPTY
from strandline.dialects.aura.verify.pins import Pins
from support.aura_cases import K1, after, at, device, facts, other_authority, second_context
from support.lakes import write_files

MOVED = Namespace("authority", b"\x09" * 16)
MANY_BUCKETS = 5
"""So many that no two namespaces lie in one."""


def lines(*given):
    return {"facts.jsonl": "".join(to_json(fact) + "\n" for fact in given).encode()}


def moved():
    """A genesis in a namespace whose id does not derive from it, and the operation after it."""
    op = TreeOp(Genesis(SUITE, KeyRecord(K1.public, 1, 1), ANY, bytes(16)), ZERO, 0, 2)
    first = author.signed_op(MOVED, op, signer=K1, signer_count=1, **at(1))
    return first, author.append(MOVED, after(EMPTY, first), AddLeaf(device(0, 0x11), 0), signer=K1, **at(2))


def waiting(lake):
    rows = lake.rows("quarantine", "status", "record_id", "reasons", "waits_for")
    return {id_: (reasons, len(waits)) for status, id_, reasons, waits in rows if status == "deferred"}


def test_facts_wait_for_pins_geneses_and_states_one_after_another(new_lake, tmp_path):
    lake = new_lake("aura", dialect="aura", buckets=MANY_BUCKETS)
    first, second = moved()
    context = second_context()
    binding, genesis = context["b1"], context["g"]

    def ingest(number, *given, **more):
        return lake.ingest(write_files(tmp_path / f"in{number}", lines(*given)), **more)

    ingest(1, first, second, binding)
    assert waiting(lake) == {
        first.fact_id: (("GENESIS_UNPINNED",), 1),
        second.fact_id: (("PARENT_MISSING",), 1),
        binding.fact_id: (("CONTEXT_GENESIS_MISSING",), 1),
    }
    ingest(2, genesis)
    assert waiting(lake)[binding.fact_id] == (("AUTHORITY_STATE_MISSING",), 2)
    assert len(waiting(lake)) == 3
    feed = "ALTER TABLE aura_fact SET TBLPROPERTIES (delta.enableChangeDataFeed = {})"
    lake.damage(feed, "false")
    report = ingest(3, other_authority(), options=Pins({MOVED.text: first.op_id}, "pins.json"))
    assert report.counts["readmitted"] == 2
    lake.damage(feed, "true")
    assert waiting(lake) == {binding.fact_id: (("AUTHORITY_STATE_MISSING",), 1)}
    assert lake.rows("aura_fact", "anchor", "namespace").count(("pin", MOVED.text)) == 1
    # What facts do not name is not read.
    [folder] = lake.path.glob(f"aura_fact/bucket={bucket_of(MOVED.text, MANY_BUCKETS)}")
    folder = folder.rename(folder.with_name("hidden"))
    assert ingest(4, *facts().values()).counts["readmitted"] == 1
    folder.rename(folder.with_name(f"bucket={bucket_of(MOVED.text, MANY_BUCKETS)}"))
    assert waiting(lake) == {}
    before = lake.tables()
    with pytest.raises(UsageError) as refused:
        ingest(5, other_authority(), options=Pins({MOVED.text: bytes(32)}, "pins.json"))
    assert refused.value.code == "AURA_PIN_CONTRADICTED"
    with pytest.raises(UsageError):
        ingest(6, other_authority(), options=Pins({genesis.namespace.text: bytes(32)}, "pins.json"))
    assert lake.tables() == before
    # Another lake vouches for the same genesis, and so takes all of it.
    other = new_lake("other", dialect="aura", buckets=MANY_BUCKETS)
    report = other.bring(lake, options={"aura": Pins({MOVED.text: first.op_id}, "pins.json")})
    assert (report.outcome, report.counts["deferred"]) == ("ok", 0)
    assert other.rows("aura_fact") == lake.rows("aura_fact")
    assert {name for [name] in other.rows("authority_state", "namespace")} == {
        MOVED.text, facts()["G"].namespace.text, other_authority().namespace.text,
    }  # fmt: skip
