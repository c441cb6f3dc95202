"""Rows of kernels of facts in which one value decides: who signs, since when, whether it was verified, who waits."""

from dataclasses import fields

import pyarrow as pa
import pytest

from strandline.core.equivocation import Equivocation
from strandline.dialects.aura import author, kernels
from strandline.dialects.aura.reduce.contexts.forks import commit_forks, state_inputs
from strandline.dialects.aura.verify import admit
from support.aura_cases import U, b32, facts, first_context, second_context, signed, states
from support.context_cases import NAMESPACE, reduced
from unit.aura.test_contexts import G, commit, consensus
from unit.aura.test_kernels import continued_rows, groups, operation_rows, reduced_row
from unit.aura.test_vectors import receipt

ATTESTED = pa.schema(
    [
        pa.field("judge_id", pa.binary()), pa.field("block", pa.binary()), pa.field("genesis", pa.string()),
        pa.field("states", pa.list_(kernels.KNOWN_STATE)),
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("timestamp", "ms"),
    [
        ({"PhysicalClock": {"ts_ms": 7, "uncertainty": None}}, 7),
        ({"Range": {"earliest_ms": 3, "latest_ms": 9, "confidence": "Low"}}, 3),
    ],
)
def test_the_time_of_a_fact_is_that_of_its_clock_or_the_earliest_of_its_range(timestamp, ms):
    made = author.snapshot(
        U, sequence=1, state_hash=b32(1), supersedes=[facts()["G"]], order=b32(2), timestamp=timestamp
    )
    columns = kernels.fact_columns(made)
    assert (columns["timestamp_kind"], columns["timestamp_ms"]) == (next(iter(timestamp)), ms)


def test_the_state_that_a_receipt_names_must_be_known():
    made = receipt()
    assert not made.attest
    content = {"authority": U.text, "commitment": states()["Kp"].commitment}
    assert list(kernels.named_states(made)) == [content]


def test_a_verdict_is_of_verified_signatures_if_it_had_states_and_does_not_wait():
    facts_, tip = second_context(), states()["Kp"]
    binding, genesis = facts_["b1"], facts_["g"]
    known = {"authority": U.text, "commitment": tip.commitment, "epoch": 1, "group_key": tip.key.group_key}
    unsigned = first_context()["Generic"]
    assert (len(binding.attest) > 1, len(unsigned.attest)) == (True, 0)
    rows = [
        {
            "judge_id": fact.fact_id,
            "block": fact.cbor,
            "genesis": kernels.fact_columns(genesis)["content_json"],
            "states": [known] * bool(fact.attest),
        }
        for fact in (binding, unsigned)
    ]
    [found] = kernels.attested([pa.RecordBatch.from_pylist(rows, ATTESTED)])
    assert [(row["status"], row["is_verified"]) for row in found.to_pylist()] == [
        ("deferred", False), ("accepted", False),
    ]  # fmt: skip


def test_facts_of_a_context_are_judged_by_the_members_of_its_genesis_not_by_its_large_clock():
    genesis, binding = second_context()["g"], second_context()["b1"]
    vector = [[number.to_bytes(16), 1] for number in range(20_000)]
    large = author.facts.encode(
        {**genesis.value, "timestamp": {"LogicalClock": {"lamport": 1, "vector": vector}}}
    )
    beside = kernels.fact_columns(large)["content_json"]
    assert len(beside) < 1_000 < len(large.cbor)
    row = {"judge_id": binding.fact_id, "block": binding.cbor, "genesis": beside, "states": []}
    [found] = kernels.attested([pa.RecordBatch.from_pylist([row], ATTESTED)])
    assert found.column("found").to_pylist() == [["AUTHORITY_STATE_MISSING"]]


def test_an_operation_that_waits_has_no_verified_signature():
    [batch] = kernels.admitted(groups([facts()["A0"]], []), pins={})
    [row] = batch.to_pylist()
    assert (row["status"], row["is_verified"]) == ("deferred", False)


def test_a_pin_refuses_the_genesis_of_another_context():
    genesis = second_context()["g"]
    for pin, expected in (
        (genesis.order, ("accepted", [])),
        (bytes(32), ("rejected", ["GENESIS_PIN_MISMATCH"])),
    ):
        [batch] = kernels.admitted(groups([genesis], []), pins={genesis.namespace.text: pin})
        [row] = batch.to_pylist()
        assert (row["status"], row["found"]) == expected


def test_two_stored_states_of_one_authority_are_continued_by_all_operations():
    rows = [row for batch in operation_rows(admit([facts()["G"]]), 9) for row in batch.to_pylist()]
    stored = reduced_row(rows)
    twice = {name: stored[name] for name in ("namespace", "bucket", "state_cbor", *kernels.COUNTS)}
    assert len(continued_rows(stored, [])) == 1
    assert continued_rows(stored, [twice]) == []


def test_a_fork_of_commits_is_attributed_to_nobody():
    one, other = commit(0x11, 0, 0xB0), commit(0x13, 0, 0xB1)
    [row] = commit_forks(reduced([G, consensus(0x10, 0, 0xB0), one, consensus(0x12, 0, 0xB1), other]))
    first, second = sorted([one, other], key=lambda fact: fact.fact_id)
    stored = {
        "namespace": NAMESPACE.text, "bucket": 3, "kind": row.kind, "key": row.key, "position": row.position,
        "members": list(row.members), "member_count": 2, "id_a": first.fact_id, "bytes_a": first.cbor,
        "id_b": second.fact_id, "bytes_b": second.cbor, "states": None,
    }  # fmt: skip
    schema = pa.RecordBatch.from_pylist([stored | {"states": [{"commitment": b"", "input": b""}]}]).schema
    [batch] = kernels.fork_rows([pa.RecordBatch.from_pylist([stored], schema)])
    [found] = batch.to_pylist()
    assert found["attributable"] is False
    names = [field.name for field in fields(Equivocation)]
    assert {name: found[name] for name in names} == {
        name: list(row.members) if name == "members" else getattr(row, name) for name in names
    }


def test_copies_of_an_operation_hash_what_the_operation_hashes():
    every = [*facts().values()]
    copies = [signed("G", facts()["A0"].attested.op.operation, 0x60 + number, count=3) for number in range(2)]
    whole = admit([*every, *copies]).operations
    assert len(whole) == len(admit(every).operations) + 2
    assert state_inputs(whole.values()) == state_inputs(admit(every).operations.values())
