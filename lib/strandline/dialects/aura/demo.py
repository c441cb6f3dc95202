"""The demo: a small authority whose history forks, another one, a context of both, and a forged operation.

INSECURE DEMO: the keys are known.
"""

import json
from collections.abc import Mapping
from typing import Final

from strandline.core.ed25519 import Ed25519Key
from strandline.dialect_api.demo import Demo, DemoFile, DemoRejection
from strandline.dialects.aura import author
from strandline.dialects.aura.codec import to_json
from strandline.dialects.aura.types import (
    ALL,
    ANY,
    AddLeaf,
    ChangePolicy,
    Fact,
    KeyRecord,
    LeafNode,
    Operation,
    RekeyLeaf,
    Role,
    RotateEpoch,
)
from strandline.dialects.aura.verify import EMPTY, State, state_after

FORGED: Final = "stranger.jsonl"
QUERY: Final = (
    "SELECT right(f.namespace, 12) AS context, f.spent, f.effective_limit, f.headroom, f.overdrawn, c.chan_epoch,\n"
    "c.pending_new_epoch, c.pending_reason FROM flow_headroom AS f JOIN channel AS c ON c.namespace = f.namespace"
)
NEXT_QUERY: Final = (
    "SELECT right(namespace, 12) AS authority, height, op_kind, outcome, siblings FROM attested_op "
    "ORDER BY authority, height, op_kind, outcome"
)
_FIRST, _NEXT, _STRANGER = (Ed25519Key(bytes([number]) * 32) for number in (1, 2, 3))


class _Authority:
    """The facts of one authority, each added on a state that an earlier one made."""

    def __init__(self, salt: int) -> None:
        first = author.genesis(
            _FIRST, min_signers=2, max_signers=3, policy=ANY, salt=bytes([salt]) * 16, signer_count=2,
            order=_token(1), timestamp={"OrderClock": _token(1)},
        )  # fmt: skip
        self.facts = [first]
        self.namespace = first.namespace
        self.first = state_after(EMPTY, first)

    def add(self, number: int, operation: Operation, on: State, signer: Ed25519Key = _FIRST) -> State:
        """Add an operation on a state; return the state that it makes."""
        fact = author.append(
            self.namespace, on, operation, signer=signer, order=_token(number),
            timestamp={"OrderClock": _token(number)}, signer_count=2,
        )  # fmt: skip
        self.facts.append(fact)
        return state_after(on, fact)


def _token(number: int) -> bytes:
    return bytes([number]) * 32


def _leaf(number: int, role: Role = "Device") -> LeafNode:
    return LeafNode(number, bytes([0xD0 + number]) * 16, role, bytes([0x11 * (number + 1)]) * 32, b"")


def _forked() -> tuple[_Authority, State]:
    """Return an authority that signed two operations on one state, and its tip."""
    made = _Authority(0)
    state = made.add(3, AddLeaf(_leaf(1), 0), made.add(2, AddLeaf(_leaf(0), 0), made.first))
    made.add(5, AddLeaf(_leaf(2, "Guardian"), 0), state)
    state = made.add(
        6, RotateEpoch((0,), KeyRecord(_NEXT.public, 2, 2)), made.add(4, ChangePolicy(0, ALL), state)
    )
    return made, made.add(8, RekeyLeaf(0, b"\x33" * 32), state, _NEXT)


def _bound(account: _Authority, tip: State, guardian: _Authority) -> list[Fact]:
    """Return a context of two authorities.

    Both attest a binding. Two devices of the account charge 8 each of a budget of 10, without knowing of each other.
    The guardian proposes a new epoch of a channel, and attests a binding that the account does not.
    """
    ours, theirs = account.namespace.id, guardian.namespace.id
    genesis = author.context_genesis([ours, theirs], bytes(16))
    context = genesis.namespace.id
    parties = {"account_id": ours, "guardian_id": theirs}
    flow = {"context": context, "src": ours, "dst": theirs, "epoch": tip.epoch}
    charge = {**flow, "cost": 8, "nonce": 0, "prev": bytes(32)}
    bump = {
        "context": context, "channel": _token(0xCC), "parent_epoch": 0, "new_epoch": 1, "bump_id": _token(0xB0),
        "reason": "SuspiciousActivity",
    }  # fmt: skip

    def fact(number: int, variant: str, members: Mapping[str, object], by: str) -> Fact:
        token = _token(number)
        made = author.relational(
            genesis.namespace, variant, members, order=token, timestamp={"OrderClock": token}
        )
        if "account" in by:
            made = author.attest(made, ours, tip.commitment, _NEXT)
        return author.attest(made, theirs, guardian.first.commitment, _FIRST) if "guardian" in by else made

    return [
        genesis,
        fact(9, "GuardianBinding", {**parties, "binding_hash": _token(7)}, "account guardian"),
        fact(10, "FlowLimit", {**flow, "limit": 10}, "guardian"),
        fact(11, "FlowCharge", charge, "account"),
        fact(12, "FlowCharge", charge, "account"),
        fact(13, "AmpProposedChannelEpochBump", bump, "guardian"),
        fact(14, "GuardianBinding", {**parties, "binding_hash": _token(8)}, "guardian"),
    ]


def demo() -> Demo:
    """Return the files of the demo, and the record in them that the demo explains."""
    forked, tip = _forked()
    other = _Authority(1)
    other.add(2, AddLeaf(_leaf(0), 0), other.first)
    context = _bound(forked, tip, other)
    genuine = list(other.facts)
    other.add(3, RotateEpoch((), KeyRecord(_STRANGER.public, 1, 1)), other.first, _STRANGER)
    journal = {
        "namespace": forked.namespace.text,
        "facts": [json.loads(to_json(fact)) for fact in forked.facts],
    }
    sequence = b"".join(fact.cbor for fact in (*genuine, *context))
    return Demo(
        files=(
            DemoFile(
                "journal.json", "synthetic, the journal of an authority whose history forks", len(forked.facts),
                json.dumps(journal, indent=1).encode(),
            ),
            DemoFile(
                "facts.cbor", "synthetic, another authority, and a context of both with an overdrawn budget",
                len(genuine) + len(context), sequence,
            ),
            DemoFile(
                FORGED, "a rotation to a stranger's key, signed by the stranger", 1,
                to_json(other.facts[-1]).encode() + b"\n",
            ),
        ),
        rejection=DemoRejection(
            title="A rotation of the group key that a stranger signed",
            file=FORGED,
            namespace=other.namespace.text,
            reason="SIGNATURE_INVALID",
        ),
        query=QUERY,
        next_query=NEXT_QUERY,
    )  # fmt: skip
