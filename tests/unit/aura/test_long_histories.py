"""Histories with many leaves and many operations: what is held does not grow with leaves times operations."""

import pytest

from strandline.dialects.aura import author
from strandline.dialects.aura.reduce import reduce_authority, state_cbor
from strandline.dialects.aura.reduce.contexts.snapshots import judge_snapshots
from strandline.dialects.aura.reduce.state import state_hash
from strandline.dialects.aura.types import ANY, AddLeaf, LeafNode, RekeyLeaf
from strandline.dialects.aura.verify import EMPTY, admit
from support.aura_cases import K1, after
from support.effort import peak_bytes

LEAVES = 128
STATE_BYTES = 4 * 1024
"""Less than the leaves of one state take, and more than a fact with its verdict."""


def placed(number):
    token = number.to_bytes(32, "big")
    return {"order": token, "timestamp": {"OrderClock": token}}


class History:
    """An authority of many leaves whose keys change, one after another or all on one state."""

    def __init__(self):
        made = author.genesis(
            K1, min_signers=1, max_signers=1, policy=ANY, salt=bytes(16), signer_count=1, **placed(1)
        )
        self.namespace, self.facts, self.state = made.namespace, [made], after(EMPTY, made)
        for number in range(LEAVES):
            self.add(AddLeaf(LeafNode(number, bytes(16), "Device", self.key(), b""), 0))

    def key(self):
        return len(self.facts).to_bytes(32, "big")

    def add(self, operation, *, stays=False):
        made = author.append(
            self.namespace, self.state, operation, signer=K1, signer_count=1, **placed(len(self.facts) + 1)
        )
        self.facts.append(made)
        self.state = self.state if stays else after(self.state, made)

    def rekeyed(self, count, *, stays):
        for _ in range(count):
            self.add(RekeyLeaf(0, self.key()), stays=stays)
        return self

    def forked(self, count, *, stays):
        """Add forks of operations that each lead on: on one state, or each on an operation of the fork before."""
        for _ in range(count):
            start = self.state
            self.add(RekeyLeaf(0, self.key()))
            self.add(RekeyLeaf(1, self.key()))
            self.state = start
            if not stays:
                self.add(RekeyLeaf(2, self.key()))
        return self

    def snapshots(self, count):
        """Add snapshots, each of the one before and of one more operation."""
        covered = [*self.facts]
        for sequence in range(count):
            self.add(RekeyLeaf(0, self.key()))
            made = author.snapshot(
                self.namespace, sequence=sequence, state_hash=state_hash(state_cbor(self.namespace, self.state)),
                supersedes=[*covered, self.facts[-1]], **placed(len(self.facts) + 1),
            )  # fmt: skip
            covered = [author.attest(made, self.namespace.id, self.state.commitment, K1)]
            self.facts += covered
        return self


@pytest.mark.large
@pytest.mark.parametrize("stays", [False, True], ids=["a chain", "siblings"])
@pytest.mark.parametrize("is_reduced", [False, True], ids=["admitted", "reduced"])
def test_each_further_operation_takes_less_memory_than_a_state(is_reduced, stays):
    few, many = History().rekeyed(50, stays=stays), History().rekeyed(350, stays=stays)

    def peak(history):
        given = [*history.facts]
        return peak_bytes(lambda: reduce_authority(history.namespace, given) if is_reduced else admit(given))

    assert peak(many) - peak(few) < 300 * STATE_BYTES


@pytest.mark.large
@pytest.mark.parametrize("stays", [False, True], ids=["forks in forks", "a wide fork"])
@pytest.mark.parametrize("order", [1, -1], ids=["as written", "backwards"])
@pytest.mark.parametrize("is_reduced", [False, True], ids=["admitted", "reduced"])
def test_each_operation_that_leads_on_beside_others_takes_less_memory_than_a_state(is_reduced, order, stays):
    few, many = History().forked(20, stays=stays), History().forked(170, stays=stays)

    def peak(history):
        given = history.facts[::order]
        return peak_bytes(lambda: reduce_authority(history.namespace, given) if is_reduced else admit(given))

    assert peak(many) - peak(few) < (len(many.facts) - len(few.facts)) * STATE_BYTES


@pytest.mark.large
def test_each_further_snapshot_takes_less_memory_than_a_state():
    few, many = History().snapshots(20), History().snapshots(120)

    def peak(history):
        return peak_bytes(lambda: judge_snapshots(history.namespace, history.facts))

    assert peak(many) - peak(few) < 100 * STATE_BYTES
    assert judge_snapshots(many.namespace, many.facts).base == many.state


def test_a_late_child_of_one_of_many_siblings_leads_on():
    history = History().rekeyed(20, stays=True)
    siblings = history.facts[-20:]
    winner = max(siblings, key=lambda fact: fact.op_id)
    history.state = after(history.state, winner)
    history.add(RekeyLeaf(1, b"\x07" * 32))
    found = reduce_authority(history.namespace, history.facts[::-1])
    assert found.state == history.state
    assert found.state.commitment == history.state.commitment
    assert all(verdict.status == "accepted" for verdict in admit(history.facts).verdicts.values())
