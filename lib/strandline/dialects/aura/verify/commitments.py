"""The commitment of a state: what other operations and attestations name it by."""

from typing import Final, Protocol

from strandline.core.hashing import tagged
from strandline.dialects.aura.types import ZERO, KeyRecord, Policy
from strandline.dialects.aura.verify.tree import policy_hash

_NO_KEY: Final = KeyRecord(ZERO, 0, 0)


class Committed(Protocol):
    """The values that the commitment of a state covers, besides its tree."""

    @property
    def epoch(self) -> int:
        """Its epoch."""

    @property
    def policy(self) -> Policy:
        """Its policy."""

    @property
    def key(self) -> KeyRecord | None:
        """Its group key, if it has one."""

    @property
    def op_id(self) -> bytes:
        """The operation that made it."""


def state_commitment_input(state: Committed, tree_commitment: bytes) -> bytes:
    """Return the hash input of the commitment of a state, after its tag: operation, tree, epoch, key and policy."""
    key = state.key or _NO_KEY
    return b"".join(
        (
            state.op_id,
            tree_commitment,
            state.epoch.to_bytes(8, "little"),
            key.group_key,
            key.min_signers.to_bytes(2, "little"),
            key.max_signers.to_bytes(2, "little"),
            policy_hash(state.policy),
        )
    )


def state_commitment(state: Committed, tree_commitment: bytes) -> bytes:
    """Return the commitment of a state, 32 bytes; the operation in it makes states form a tree."""
    return tagged("strandline/aura/state/1", state_commitment_input(state, tree_commitment))
