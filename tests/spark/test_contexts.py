"""Contexts in Spark: their rows are those of the plain functions, whatever is reduced again."""

import random
from collections import Counter, defaultdict
from decimal import Decimal
from uuid import UUID

import pytest

from strandline.contracts.quoting import quote_path
from strandline.dialects.aura import author
from strandline.dialects.aura.author import generate_contexts
from strandline.dialects.aura.reduce.contexts.skeletons import charge_skeleton
from strandline.dialects.aura.spark import continuation
from strandline.dialects.aura.spark.contexts import advance, reduction
from strandline.dialects.aura.spark.contexts.charges import skeleton
from strandline.tables import reads
from support import aura_reference, reference_rows
from support.aura_cases import V_ID, U, attested, facts, other_authority
from support.aura_corpus import line
from support.context_cases import LOST, context_vectors, named_facts, of_context, pruning_context
from support.lakes import write_files
from support.random_snapshots import histories_of, random_snapshots
from support.random_transitions import random_transitions
from unit.aura.test_context_snapshots import of_context as context_snapshot
from unit.aura.test_contexts import G, commit, consensus

TABLES = ("relational_binding", "flow_budget", "channel_epoch", "capability")


def files(*given):
    return {"facts.jsonl": b"".join(line(fact) + b"\n" for fact in given)}


def forked_commits():
    """A context in which two bumps are proven for one epoch."""
    return [
        G,
        consensus(0x10, 0, 0xB0),
        commit(0x11, 0, 0xB0),
        consensus(0x12, 0, 0xB1),
        commit(0x13, 0, 0xB1),
    ]


class Delivered:
    """A lake and its reference, which get the same facts."""

    def __init__(self, lake, root):
        self.lake, self.root, self.reference, self.runs = lake, root, aura_reference.ReferenceAura(), 0

    def with_transitions(self):
        """AMP transitions are facts in the lake, as `init --amp-transitions on` makes one."""
        table = quote_path(str(self.lake.path / "aura_fact"))
        self.lake.spark.sql(
            f"ALTER TABLE {table} SET TBLPROPERTIES ('strandline.aura.amp_transitions' = 'on')"
        )
        self.reference.transitions = True

    def deliver(self, given):
        self.runs += 1
        content = files(*given)
        self.reference.ingest(content)
        self.lake.ingest(write_files(self.root / f"in{self.runs}", content))
        report = self.lake.reduce()
        reference_rows.assert_reduced_equal(self.lake, self.reference)
        return report


def world(contexts, members, count, seed=41):
    return list(
        generate_contexts(
            seed, contexts=contexts, members=members, facts=count, fork_rate=0.3, unmet_rate=0.2, bad_rate=0.05,
            duplicate_rate=0.2,
        )
    )  # fmt: skip


@pytest.fixture
def delivered(new_lake, tmp_path, monkeypatch):
    # Authorities are continued and budgets advanced where that is possible, however short they are.
    monkeypatch.setattr(continuation, "MANY_FACTS", 1)
    monkeypatch.setattr(advance, "MANY_FACTS", 1)
    return Delivered(new_lake("contexts", dialect="aura"), tmp_path)


@pytest.fixture
def advances(monkeypatch):
    """The number of contexts whose budgets were advanced, of each reduction that had charges or limits as news."""
    found = []

    def counted(contexts, touched, *rest):
        made = advance.advanced(contexts, touched, *rest)
        if touched.changes is not None:
            found.append(made.number)
            assert made.contexts.count() == made.number
        return made

    monkeypatch.setattr(reduction, "advanced", counted)
    return found


def test_the_contexts_of_the_vectors_in_tables_and_views(delivered):
    named, pruned = named_facts(), pruning_context()
    without_copy = [fact for name, fact in named.items() if name != "b3'"]
    lake, hashes = delivered.lake, {each["facts"]: each["state_hash"] for each in context_vectors()["states"]}
    whole = context_snapshot(0x7A, 3, bytes.fromhex(hashes["all + b3'"]), list(named.values())[1:])
    delivered.deliver([*without_copy, whole, *pruned.values()])
    delivered.deliver([other_authority(), *facts().values()])
    assert lake.rows("snapshot", "snapshot_id", "status") == [(whole.fact_id, "waiting")]
    second, other = named["g"].namespace.text, pruned["g"].namespace.text
    found = {name: value.hex() for name, value in lake.rows("namespace_state", "namespace", "state_hash")}
    assert (found[second], found[other]) == (hashes["all"], context_vectors()["pruning"]["state_hash"])
    u, v = U.text.removeprefix("authority:"), other_authority().namespace.text.removeprefix("authority:")
    health = lake.asked(
        "SELECT namespace, members, met, unmet, dormant, unproven, pending, overdrawn, rotated_out, waiting, "
        "waits_for, state_hash FROM context_health ORDER BY namespace"
    )
    assert health == [
        (second, (v, u), 25, 3, 0, 1, 1, 1, (u,), 0, (), hashes["all"]),
        (other, (v, u), 27, 0, 0, 0, 0, 0, (), 0, (), context_vectors()["pruning"]["state_hash"]),
    ]
    budgets = lake.asked(
        "SELECT namespace, spent, own_limit, effective_limit, headroom, overdrawn FROM flow_headroom ORDER BY namespace"
    )
    assert budgets == [(second, 17, 15, 15, 0, True), (other, 55, None, 1024, 969, False)]
    assert lake.asked("SELECT receiver, referenced_fact_id, referenced_variant FROM rendezvous_receipt") == [
        (v, pruned["f2"].fact_id.hex(), "FlowCharge")
    ]
    channels = lake.asked(
        "SELECT channel, chan_epoch, current_gen, pending_reason, unproven_commits FROM channel ORDER BY channel"
    )
    assert channels == [("cc" * 32, 1, 1024, "SuspiciousActivity", 1), ("dd" * 32, 1, 40, None, 0)]
    delivered.deliver([named["b3'"]])
    assert lake.rows("snapshot", "snapshot_id", "status") == [(whole.fact_id, "in_force")]
    assert lake.asked("SELECT count(*) FROM snapshot_status") == [(0,)]
    assert lake.rows("namespace_state", "state_hash").count((bytes.fromhex(hashes["all + b3'"]),)) == 1


def test_a_context_whose_member_lost_a_state_is_reduced_again_and_one_whose_member_grew_is_not(delivered):
    lake, context = delivered.lake, named_facts()["g"].namespace.text
    charge = of_context(
        "FlowCharge", 0x70, ["u*"], src=U.id, dst=V_ID, epoch=0, cost=5, nonce=0, prev=bytes(32)
    )
    binding = named_facts()["n3"]
    delivered.deliver([facts()[name] for name in LOST])
    delivered.deliver([named_facts()["g"], other_authority(), binding, charge])
    assert lake.rows("relational_binding", "namespace", "generic_type") == [(context, "note")]
    before = lake.rows("flow_budget")
    assert delivered.deliver([facts()["P"]]).counts["reduced"] == 2
    assert (lake.rows("relational_binding"), lake.rows("flow_budget")) == ([], before)
    versions = lake.versions()
    assert delivered.deliver([facts()["Rp"]]).counts["reduced"] == 2
    assert {table for table in TABLES if lake.versions()[table] != versions[table]} == set()
    assert lake.reduce(full=True).members["differences"] == {}


def charged_context(salt):
    """A context of two members, and the charges that one sends to the other, each after the one before."""
    genesis, charges, prev = author.context_genesis([U.id, V_ID], bytes([salt]) * 16), [], bytes(32)
    flow = {"namespace": genesis.namespace, "src": U.id, "dst": V_ID, "epoch": 1}
    for nonce in range(4):
        charge = of_context("FlowCharge", 0x80 + nonce, "u", **flow, cost=10 + nonce, nonce=nonce, prev=prev)
        charges.append(charge)
        prev = charge.body_id
    return genesis, charges, flow


def test_budgets_are_advanced_by_news_unless_stored_rows_and_news_are_not_all(delivered, advances):
    spark, root = delivered.lake.spark, delivered.lake.path
    (genesis, charges, flow), *others = (charged_context(salt) for salt in (0x11, 0x12, 0x13))
    late = {**flow, "cost": 100, "nonce": 10, "prev": charges[-1].body_id}
    limits = [
        of_context("FlowLimit", 0x71 + at, "u", **flow, limit=limit) for at, limit in enumerate((60, 50))
    ]
    unmet, met = (of_context("FlowCharge", 0x73, by, **late) for by in "vu")
    assert unmet.body_id == met.body_id
    before = [fact for first, theirs, _ in others for fact in (first, *theirs[:3])]
    delivered.deliver(
        [*facts().values(), other_authority(), genesis, *charges[:3], limits[0], unmet, *before]
    )
    changed, miscounted = (first.namespace.text for first, _, _ in others)
    for table, column, namespace in (
        ("flow_budget", "spent", changed), ("namespace_state", "record_count", miscounted)
    ):  # fmt: skip
        target = quote_path(str(root / table))
        spark.sql(f"UPDATE {target} SET {column} = {column} + 1 WHERE namespace = '{namespace}'")
    news = [charges[3], attested(charges[0], "v"), limits[1], met]
    delivered.deliver([*news, *(theirs[3] for _, theirs, _ in others)])
    assert advances == [1]
    found = delivered.lake.rows("flow_budget", "spent", "charges", "limit")
    assert sorted(found, key=str) == [(146, 5, 50), (46, 4, None), (46, 4, None)]


def test_300_random_contexts_reduce_as_by_plain_functions(delivered, advances, monkeypatch):
    # As large work: each stage has several tasks, which small lakes of other tests do not have.
    monkeypatch.setattr(reads, "ONE_TASK_BYTES", 0)
    chance, of_charges = random.Random(5), random.Random(6)
    delivered.with_transitions()
    given = [*world(300, 3, 24), *forked_commits(), *facts().values(), other_authority()]
    chance.shuffle(given)
    late = [fact for fact in given if fact.variant in ("RotateEpoch", "Consensus") and chance.random() < 0.5]
    late += [
        fact for fact in given if fact.variant in ("FlowCharge", "FlowLimit") and of_charges.random() < 0.5
    ]
    those = {id(fact) for fact in late}
    delivered.deliver([fact for fact in given if id(fact) not in those])
    for table in TABLES:
        assert len(delivered.lake.rows(table)) > 100, table
    accepted = delivered.reference.accepted.facts.values()
    spaces = defaultdict(list)
    for fact in accepted:
        spaces[fact.namespace].append(fact)
    histories = histories_of(41, 78, 4, fork_rate=0.3, bad_rate=0.0, duplicate_rate=0.2)
    moves = random_transitions(spaces, histories, chance)
    report = delivered.deliver([*late, *moves, *random_snapshots(spaces, histories, chance)])
    assert report.counts["reduced"] > 100
    assert advances[0] > 250
    statuses = Counter(delivered.lake.rows("snapshot", "status"))
    assert {status for [status], count in statuses.items() if count >= 20} == {
        "in_force", "older", "unsound", "waiting", "unjudged",
    }  # fmt: skip
    kinds = {kind for [kind] in delivered.lake.rows("equivocation", "kind")}
    assert kinds >= {"AURA_CONSENSUS_FORK", "AURA_CHECKPOINT_FORK", "AURA_COMMIT_FORK", "AURA_SNAPSHOT_FORK"}
    assert delivered.lake.reduce(full=True).members["differences"] == {}


NUMBERS = (0, 1, 23, 24, 255, 256, 2**16 - 1, 2**16, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1)
COSTS = (*(number for number in NUMBERS if number < 2**32), 10)


def test_skeletons_of_charges_in_sql_are_those_of_the_reference(spark):
    pairs = [(epoch, cost, nonce) for epoch in NUMBERS for cost in COSTS for nonce in NUMBERS[::-1]]
    rows = [
        (
            number,
            (str(UUID(int=number)), str(UUID(int=2**128 - 1 - number)), Decimal(epoch), cost, Decimal(nonce)),
        )
        for number, (epoch, cost, nonce) in enumerate(pairs)
    ]
    detail = "STRUCT<src: STRING, dst: STRING, epoch: DECIMAL(20,0), cost: BIGINT, nonce: DECIMAL(20,0)>"
    made = spark.createDataFrame([*rows, (len(rows), None)], f"number INT, detail {detail}")
    found = {row["number"]: row["made"] for row in made.select("number", skeleton().alias("made")).collect()}
    assert found.pop(len(rows)) is None
    assert {number: bytes(raw) for number, raw in found.items()} == {
        number: charge_skeleton(UUID(src).bytes, UUID(dst).bytes, int(epoch), cost, int(nonce))
        for number, (src, dst, epoch, cost, nonce) in rows
    }
