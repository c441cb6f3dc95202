"""The forms of facts as data, in the order in which members are checked."""

from typing import Any, Final

from strandline.dialects.aura.codec.containers import (
    ascending,
    named,
    one_of,
    optional,
    or_empty,
    pair,
    record,
    spelled,
)
from strandline.dialects.aura.codec.forms import Form, Reader, ShapeRefused, wrong_type
from strandline.dialects.aura.codec.scalars import BOOLEAN, enum, octets, text, unsigned, uuid
from strandline.dialects.aura.codec.transitions import REASON, TRANSITIONS

U8, U16, U32, U64 = unsigned(8), unsigned(16), unsigned(32), unsigned(64)
B16, B32, B64 = octets(16, 16), octets(32, 32), octets(64, 64)
UUID: Final = uuid()
PUBLIC_KEY: Final = octets(64, 1)
MAX_ATTESTATIONS: Final = 64


def _ascending_times(members: dict[str, Any]) -> None:
    if members["earliest_ms"] > members["latest_ms"]:
        raise ShapeRefused(
            "TIME_RANGE_INVERTED", expected=str(members["earliest_ms"]), actual=str(members["latest_ms"])
        )


_CLOCKS: Final = ascending(pair(UUID, U64), key=lambda entry: entry[0])
_SINGLE: Final = record({"device": UUID, "counter": U64})


def _clocks_from_json(value: Any) -> Any:
    """Read a vector clock: pairs, a map, or one of the two maps of the public implementation."""
    if type(value) is not dict:
        return _CLOCKS.from_json(value)
    if value.keys() == {"Single"}:
        return _inside("Single", lambda: [list(_single(value["Single"]))])
    if value.keys() == {"Multiple"}:
        return _inside("Multiple", lambda: _pairs(value["Multiple"]))
    return _pairs(value)


def _single(value: Any) -> tuple[bytes, int]:
    members = _SINGLE.from_json(value)
    return members["device"], members["counter"]


def _pairs(value: Any) -> Any:
    if type(value) is not dict:
        raise wrong_type(value, "map")
    return _CLOCKS.from_json([[name, each] for name, each in value.items()])


def _inside(name: str, read: Any) -> Any:
    try:
        return read()
    except ShapeRefused as refused:
        raise refused.inside(name) from None


NAMESPACE: Final = one_of({"Authority": UUID, "Context": UUID})
TIMESTAMP: Final = one_of(
    {
        "PhysicalClock": record({"ts_ms": U64, "uncertainty": optional(U64)}),
        "LogicalClock": record({"lamport": U64, "vector": spelled(_CLOCKS, _clocks_from_json)}),
        "OrderClock": B32,
        "Range": record(
            {
                "earliest_ms": U64,
                "latest_ms": U64,
                "confidence": enum("High", "Medium", "Low", "Unknown"),
            },
            check=_ascending_times,
        ),
    }
)

KEY_RECORD: Final = record({"group_key": B32, "min_signers": U16, "max_signers": U16})
LEAF_NODE: Final = record(
    {
        "leaf_id": U32,
        "device_id": UUID,
        "role": enum("Device", "Guardian"),
        "public_key": PUBLIC_KEY,
        "meta": octets(256),
    }
)
_THRESHOLD: Final = one_of({"Threshold": record({"m": U16, "n": U16})})
_SIMPLE_POLICY: Final = enum("Any", "All")


def _policy(threshold: Reader, simple: Reader) -> Reader:
    return lambda value: simple(value) if type(value) is str else threshold(value)


POLICY: Final = Form(
    _policy(_THRESHOLD.from_json, _SIMPLE_POLICY.from_json),
    _policy(_THRESHOLD.from_cbor, _SIMPLE_POLICY.from_cbor),
    _policy(_THRESHOLD.to_json, _SIMPLE_POLICY.to_json),
)
TREE_OP_KIND: Final = one_of(
    {
        "Genesis": record({"suite": U8, "key": KEY_RECORD, "policy": POLICY, "salt": B16}),
        "AddLeaf": record({"leaf": LEAF_NODE, "under": U32}),
        "RemoveLeaf": record({"leaf": U32, "reason": U8}),
        "RekeyLeaf": record({"leaf": U32, "public_key": PUBLIC_KEY}),
        "ChangePolicy": record({"node": U32, "new_policy": POLICY}),
        "RotateEpoch": record({"affected": ascending(U32), "key": optional(KEY_RECORD)}),
    }
)
TREE_OP: Final = record({"op": TREE_OP_KIND, "parent_commitment": B32, "parent_epoch": U64, "version": U16})

_BUMP: Final = {"context": UUID, "channel": B32, "parent_epoch": U64, "new_epoch": U64}
_FLOW: Final = {"context": UUID, "src": UUID, "dst": UUID, "epoch": U64}
_RELATIONAL: Final = {
    "ContextGenesis": record({"members": ascending(UUID, least=1, most=256), "salt": B16}),
    "GuardianBinding": record({"account_id": UUID, "guardian_id": UUID, "binding_hash": B32}),
    "RecoveryGrant": record({"account_id": UUID, "guardian_id": UUID, "grant_hash": B32}),
    "Consensus": record(
        {
            "consensus_id": B32,
            "operation_hash": B32,
            "threshold_met": BOOLEAN,
            "participant_count": U16,
        }
    ),
    "AmpChannelCheckpoint": record(
        {
            "context": UUID,
            "channel": B32,
            "chan_epoch": U64,
            "base_gen": U64,
            "window": U32,
            "ck_commitment": B32,
            "skip_window_override": optional(U32),
        }
    ),
    "AmpProposedChannelEpochBump": record({**_BUMP, "bump_id": B32, "reason": REASON}),
    "AmpCommittedChannelEpochBump": record({**_BUMP, "chosen_bump_id": B32, "consensus_id": B32}),
    "AmpChannelPolicy": record({"context": UUID, "channel": B32, "skip_window": optional(U32)}),
    "FlowLimit": record({**_FLOW, "limit": U64}),
    "FlowCharge": record({**_FLOW, "cost": U32, "nonce": U64, "prev": B32}),
    "Capability": record(
        {
            "context": UUID,
            "subject": UUID,
            "actions": optional(ascending(text(64), most=256, key=lambda action: action.encode("utf-8"))),
            "limits": named(text(64), U64, most=256),
            "epoch_min": optional(U64),
            "epoch_max": optional(U64),
        }
    ),
    "Generic": record({"context_id": UUID, "binding_type": text(128), "binding_data": octets(65536)}),
}
_SUPERSEDED: Final = pair(B32, B32)


def _superseded(read_pair: Reader, read_token: Reader) -> Reader:
    """Return the reader of a superseded fact; a bare token, which may belong to several facts, has its own code."""

    def read(value: Any) -> Any:
        if type(value) is list and len(value) == 2:
            return read_pair(value)
        try:
            read_token(value)
        except ShapeRefused:
            return read_pair(value)
        raise ShapeRefused("SNAPSHOT_UNBOUND", expected="order and fact id")

    return read


_SUPERSEDED_FACT: Final = Form(
    _superseded(_SUPERSEDED.from_json, B32.from_json),
    _superseded(_SUPERSEDED.from_cbor, B32.from_cbor),
    _SUPERSEDED.to_json,
)
# Members of the flattened operation: it has no epoch and no version, so no signature over it can be verified.
_FLATTENED: Final = dict.fromkeys(("tree_op", "new_commitment", "witness_threshold"), "OP_LAYER2")
_CONTENT: Final = {
    "AttestedOp": record(
        {"op": TREE_OP, "agg_sig": B64, "signer_count": unsigned(16, 1)}, refused=_FLATTENED
    ),
    "Snapshot": record({"sequence": U64, "state_hash": B32, "superseded_facts": ascending(_SUPERSEDED_FACT)}),
    "RendezvousReceipt": record(
        {
            "envelope_id": B32,
            "authority_id": UUID,
            "timestamp": TIMESTAMP,
            "commitment": B32,
            "signature": B64,
        }
    ),
}
_PLAIN_CONTENT: Final = one_of({**_CONTENT, "Relational": one_of(_RELATIONAL)})
CONTENT: Final = one_of({**_CONTENT, "Relational": one_of({**_RELATIONAL, **TRANSITIONS})})
"""The content of facts of any lake."""
ATTEST: Final = ascending(
    record({"authority": UUID, "commitment": B32, "sig": B64}),
    most=MAX_ATTESTATIONS,
    key=lambda attestation: attestation["authority"],
)
DELIVERY: Final = frozenset({"agreement", "propagation", "ack_tracked"})
"""Members of newer versions of Aura about delivery: they are not part of a fact."""


def fact_form(namespace: Form, *, transitions: bool) -> Form:
    """Return the form of a fact whose member `namespace` has the given form, with TRANSITIONS or without."""
    members = {
        "namespace": namespace,
        "order": B32,
        "timestamp": TIMESTAMP,
        "content": CONTENT if transitions else _PLAIN_CONTENT,
        "attest": or_empty(ATTEST),
    }
    return record(members, ignored=DELIVERY)
