"""Facts with long vector clocks: a task holds their bytes, not the values of their clocks."""

from dataclasses import fields
from functools import lru_cache

import pyarrow as pa
import pytest

from strandline.dialects.aura import author, kernels
from strandline.dialects.aura.codec import fact_without_times, stored_fact, to_json
from strandline.dialects.aura.types import ANY, Fact, RotateEpoch
from strandline.dialects.aura.verify import EMPTY, admit
from support.aura_cases import K1, after, facts
from support.aura_reference import fact_row
from support.effort import peak_bytes

PAIRS, FEW, MANY = 1_000, 2, 12


def clock(number):
    pairs = [[at.to_bytes(16, "big"), 2**40 + number] for at in range(PAIRS)]
    return {"LogicalClock": {"lamport": number, "vector": pairs}}


def times(number):
    return {"order": number.to_bytes(32, "big"), "timestamp": clock(number)}


@lru_cache(None)
def authority(count):
    """An authority of operations that follow each other, each with a clock of 1,000 pairs."""
    made = author.genesis(
        K1, min_signers=1, max_signers=1, policy=ANY, salt=bytes(16), signer_count=1, **times(1)
    )
    found, state = [made], after(EMPTY, made)
    while len(found) < count:
        made = author.append(
            made.namespace, state, RotateEpoch((0,), None), signer=K1, signer_count=1, **times(len(found) + 1)
        )
        found, state = [*found, made], after(state, made)
    return found


@lru_cache(None)
def receipts(count):
    [first, *_] = found = authority(FEW)
    return [
        *found,
        *(
            author.receipt(
                first.namespace, envelope_id=first.fact_id, authority=first.namespace.id,
                commitment=after(EMPTY, first).commitment, received=clock(number), signer=K1, **times(number),
            )
            for number in range(count)
        ),
    ]  # fmt: skip


def given(kernel, columns, rows, **settings):
    """The rows that a kernel gives for these, one a batch."""
    whole = [{name: row.get(name) for name in columns} for row in rows]
    batches = pa.Table.from_pylist(whole).to_batches(max_chunksize=1)
    return lambda: [row for found in kernel(batches, **settings) for row in found.to_pylist()]


def reduced_rows(made):
    found = admit(made)
    return [fact_row(fact, found.operations.get(fact.fact_id)) | {"is_base": False} for fact in made]


def admitted(made):
    here = made[0].namespace.text
    rows = [
        {
            "namespace": here, "judge_id": fact.fact_id, "block": fact.cbor, "is_stored": False,
            "parent_commitment": fact.attested.op.parent_commitment,
        }
        for fact in made
    ]  # fmt: skip
    return given(kernels.admitted, kernels.GROUP_COLUMNS, rows, pins={})


def geneses(count):
    """Facts of one genesis, which all wait for a pin."""
    [first] = authority(1)
    named = {"Authority": bytes(16)}
    return [
        author.facts.encode({**first.value, "namespace": named, **times(number + 1)})
        for number in range(count)
    ]


REDUCTION = kernels.REDUCTION_COLUMNS
WORK = {
    "reduced": lambda count: given(kernels.reduced, REDUCTION, reduced_rows(authority(count)), full=True),
    "planned": lambda count: given(kernels.planned, REDUCTION, reduced_rows(receipts(count)), skip_window=10),
    "histories": lambda count: given(
        kernels.histories, kernels.HISTORY_COLUMNS, reduced_rows(authority(count))
    ),
    "judged snapshots": lambda count: given(
        kernels.judged_snapshots, kernels.SNAPSHOT_INPUT_COLUMNS, reduced_rows(receipts(count))
    ),
    "admitted": lambda count: admitted(authority(count)),
    "geneses": lambda count: admitted(geneses(count)),
}


@pytest.mark.large
@pytest.mark.parametrize("name", WORK)
def test_a_fact_with_a_long_clock_takes_no_more_memory_than_its_bytes(name):
    raw = len(authority(1)[0].cbor)
    few, many = (peak_bytes(WORK[name](count)) for count in (FEW, MANY))
    assert many - few < (MANY - FEW) * (2 * raw + 4_096)


def without_time(members):
    return {name: member for name, member in members.items() if name != "timestamp"}


@pytest.mark.parametrize("fact", [*facts().values(), *receipts(1)], ids=lambda fact: fact.variant)
def test_a_held_fact_is_the_stored_one_but_for_its_times(fact):
    held, stored = fact_without_times(fact.cbor), stored_fact(fact.cbor)
    given_names = {each.name for each in fields(Fact)} - {"value", "content"}
    assert all(getattr(held, name) == getattr(stored, name) for name in given_names)
    assert held.content == without_time(stored.content)
    value = without_time(stored.value)
    if fact.kind == "RendezvousReceipt":
        value["content"] = {fact.kind: without_time(stored.content)}
    assert held.value == value


def test_a_stored_fact_has_its_times():
    [fact] = receipts(1)[-1:]
    assert to_json(stored_fact(fact.cbor)) == to_json(fact)
