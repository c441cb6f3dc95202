"""The boundary below which records may go: exact for all windows and generations; ids of snapshots."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.core.pruning import (
    MAX_GENERATION,
    MAX_SKIP_WINDOW,
    Member,
    Plan,
    Proof,
    compare_rows,
    snapshot_id,
)
from strandline.core.pruning import compute_checkpoint_pruning_boundary as boundary
from strandline.dialects.aura.reduce.contexts.holds import can_prune_checkpoint, can_prune_proposed_bump
from support.laws import law

GENERATIONS = st.integers(0, MAX_GENERATION) | st.sampled_from([0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**63])
WINDOWS = st.integers(0, MAX_SKIP_WINDOW) | st.sampled_from([0, 1, 2, 1023, 1024, 2**31, MAX_SKIP_WINDOW])


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ((5000,), 2440), ((5000, 512), 3720), ((1000,), 0), ((2**64 - 1,), 18446744073709549055), ((40, 4), 30),
        ((9, 2), 4), ((10, 0), 10), ((10, 1), 8), ((7, 3), 0), ((0,), 0), ((1, 0), 1),
        ((2**53 - 1, 1), 2**53 - 3), ((2**53 + 1, 1), 2**53 - 1), ((2**63, 3), 2**63 - 7),
        ((2**64 - 1, 2**32 - 1), 2**64 - 1 - 2 * (2**32 - 1) - (2**31 - 1)), ((2**33 + 2**31 - 3, 2**32 - 1), 0),
        ((2**33 + 2**31 - 2, 2**32 - 1), 1),
    ],
)  # fmt: skip
def test_the_boundary_of_the_vectors(given_, expected):
    assert boundary(*given_) == expected


def test_what_lies_below_the_boundary_may_go_and_the_boundary_stays():
    assert [can_prune_checkpoint(generation, 2440) for generation in (2439, 2440)] == [True, False]
    assert [can_prune_proposed_bump(parent, 2) for parent in (0, 1, 2, 3)] == [True, True, False, False]


@law(200)
@given(GENERATIONS, GENERATIONS, WINDOWS, WINDOWS)
def test_the_boundary_rises_with_generations_and_falls_with_windows(a, b, narrow, wide):
    low, high = sorted((a, b))
    narrow, wide = sorted((narrow, wide))
    assert 0 <= boundary(low, narrow) <= boundary(high, narrow) <= high
    assert boundary(high, wide) <= boundary(high, narrow)
    assert boundary(high, narrow) == max(0, (2 * high - 5 * narrow + narrow % 2) // 2)


@pytest.mark.parametrize("wrong", [(-1,), (2**64,), (0, -1), (0, 2**32)])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError):
        boundary(*wrong)


def test_a_plan_counts_what_goes_and_what_stays():
    members = [Member(b"1", "entry"), Member(b"2", "entry", 3, "WINDOW"), Member(b"3", "entry", 4, "WINDOW")]
    plan = Plan(tuple(members), b"")
    assert (plan.prune, plan.holds, plan.kinds) == ((members[0],), {"WINDOW": 2}, {"entry": 1})


def test_a_proof_holds_only_if_states_and_all_rows_are_equal():
    rows = {"head": {"a": 1, "b": 2}, "tail": {}}
    assert compare_rows(rows, {"head": {"b": 2, "a": 1}}) == ()
    assert compare_rows(rows, {"head": {"b": 3, "c": 1}}) == ("head a", "head b", "head c")
    assert Proof(b"1", b"1", ()).equal
    assert not Proof(b"1", b"2", ()).equal
    assert not Proof(b"1", b"1", ("head a",)).equal


def test_every_part_of_a_snapshot_is_in_its_id():
    parts = {
        "namespace": "log:a", "sequence": 1, "base": None, "state_hash": bytes(32), "members": b"\x01" * 32,
        "prune": b"\x02" * 32, "carry": b"",
    }  # fmt: skip
    others = {
        "namespace": "log:b", "sequence": 2, "base": bytes(32), "state_hash": b"\x03" * 32, "members": bytes(32),
        "prune": bytes(32), "carry": b"\x00",
    }  # fmt: skip
    ids = {snapshot_id(**parts)} | {snapshot_id(**parts | {name: others[name]}) for name in parts}
    assert len(ids) == len(parts) + 1
