"""Many operations on one state, long chains, many contexts of one authority: one run each, in any order."""

import pytest

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.aura import author
from strandline.dialects.aura.types import ANY, AddLeaf, LeafNode, RotateEpoch
from strandline.dialects.aura.verify import EMPTY, state_after
from support.aura_cases import K1, K2
from support.golden import Recorder
from support.lakes import write_files

MOST_JOBS = 150
"""Spark jobs of a run: what took a step for each of the 300 generations would take more.
`reduce` takes authorities and contexts, 140 jobs."""

SIZES = [
    pytest.param(1_000, 300, 100, 300, id="1,000 siblings, 100 contexts"),
    pytest.param(
        100_000, 5_000, 10_000, 10_000, id="100,000 siblings, 10,000 contexts",
        marks=[pytest.mark.slow, pytest.mark.timeout(3_600)],
    ),
]  # fmt: skip


def at(number):
    """Order and time of the fact with this number."""
    token = number.to_bytes(32, "big")
    return {"order": token, "timestamp": {"OrderClock": token}}


def first_of(signer, salt=0):
    return author.genesis(
        signer,
        min_signers=1,
        max_signers=1,
        policy=ANY,
        salt=salt.to_bytes(16, "big"),
        signer_count=1,
        **at(salt),
    )


class Wide:
    """An authority with many operations on its first state, and another with one long chain."""

    def __init__(self, siblings, depth):
        self.genesis = first_of(K1)
        self.state = state_after(EMPTY, self.genesis)
        self.siblings = [self._added(number) for number in range(siblings)]
        self.deep = first_of(K2)
        self.tip, self.chain = state_after(EMPTY, self.deep), []
        for number in range(depth):
            fact = author.append(
                self.deep.namespace, self.tip, RotateEpoch((), None), signer=K2, **at(number)
            )
            self.chain.append(fact)
            self.tip = state_after(self.tip, fact)

    def _added(self, number):
        leaf = LeafNode(0, bytes(16), "Device", number.to_bytes(32, "big"), b"")
        return author.append(self.genesis.namespace, self.state, AddLeaf(leaf, 0), signer=K1, **at(number))

    def contexts(self, count):
        """Contexts of the authority, each with its genesis and a fact that the authority attests."""
        for number in range(count):
            made = author.context_genesis([self.genesis.namespace.id], number.to_bytes(16, "big"))
            content = {"context_id": made.namespace.id, "binding_type": "note", "binding_data": b""}
            note = author.relational(made.namespace, "Generic", content, **at(number))
            yield from (made, author.attest(note, self.genesis.namespace.id, self.state.commitment, K1))

    def strangers(self, count):
        """Genesis operations that somebody else signed for the namespace of the authority."""
        for number in range(count):
            own = first_of(Ed25519Key(b"\x09" * 32), number)
            yield author.signed_op(
                self.genesis.namespace,
                own.attested.op,
                signer=Ed25519Key(b"\x09" * 32),
                signer_count=1,
                **at(number),
            )


def sequence(facts):
    return b"".join(fact.cbor for fact in facts)


@pytest.mark.parametrize(("siblings", "depth", "contexts", "strangers"), SIZES)
def test_all_that_waits_for_one_fact_is_settled_in_one_run_with_few_jobs(
    spark, new_lake, tmp_path, siblings, depth, contexts, strangers
):
    lake, wide, recorder = new_lake(dialect="aura"), Wide(siblings, depth), Recorder(spark)
    files = {
        "1.cbor": sequence(wide.contexts(contexts)),
        "2.cbor": sequence(wide.strangers(strangers)),
        "3.cbor": sequence(reversed(wide.siblings)),
        "4.cbor": sequence(reversed(wide.chain)),
    }
    first = recorder.run("first", lake, lambda: lake.ingest(write_files(tmp_path / "first", files)))
    waiting = siblings + depth + contexts + strangers
    assert (first.counts["new"], first.counts["deferred"], first.counts["rejected"]) == (contexts, waiting, 0)
    last = write_files(tmp_path / "last", {"last.cbor": sequence([wide.genesis, wide.deep])})
    second = recorder.run("second", lake, lambda: lake.ingest(last))
    assert (second.counts["new"], second.counts["readmitted"]) == (2, waiting - strangers)
    assert len(lake.rows("quarantine", "reasons")) == strangers
    assert {reasons for [reasons] in lake.rows("quarantine", "reasons")} == {("GENESIS_PIN_MISMATCH",)}
    recorder.run("reduce", lake, lake.reduce)
    found = {
        row[0]: row[1:]
        for row in lake.rows("authority_state", "namespace", "op_id", "applied_count", "commitment")
    }
    assert found[wide.genesis.namespace.text][:2] == (max(fact.op_id for fact in wide.siblings), 2)
    assert found[wide.deep.namespace.text][1:] == (depth + 1, wide.tip.commitment)
    assert lake.rows("equivocation", "member_count") == [(siblings,)]
    assert {name: each["jobs"] for name, each in recorder.commands.items() if each["jobs"] > MOST_JOBS} == {}
