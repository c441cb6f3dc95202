"""The canonical bytes of the rows of a context's state. Numbers are little-endian; rows of one state are a set."""

from typing import Final

from strandline.core.hashing import set_hash, tagged
from strandline.dialects.aura.reduce.contexts.bindings import Binding
from strandline.dialects.aura.reduce.contexts.capabilities import Cap
from strandline.dialects.aura.reduce.contexts.channels import REASONS, Channel
from strandline.dialects.aura.reduce.contexts.flows import Flow
from strandline.dialects.aura.types import Namespace

REDUCER: Final = "aura-context/1"
"""The version of these rules: it changes when any state does."""


def u32(number: int) -> bytes:
    """Return four bytes."""
    return number.to_bytes(4, "little")


def u64(number: int) -> bytes:
    """Return eight bytes."""
    return number.to_bytes(8, "little")


def _sized(data: bytes) -> bytes:
    return u32(len(data)) + data


def _optional(number: int | None) -> bytes:
    return b"\x00" if number is None else b"\x01" + u64(number)


def binding_row(binding: Binding) -> bytes:
    """Return the bytes of a binding: kind 1 (guardian), 2 (recovery grant) or 3 (generic)."""
    if binding.account is not None and binding.guardian is not None:
        kind = b"\x01" if binding.binding_type == "GuardianBinding" else b"\x02"
        return kind + binding.account + binding.guardian + binding.data
    return b"\x03" + _sized((binding.generic_type or "").encode()) + _sized(binding.data)


def flow_rows(flow: Flow) -> list[bytes]:
    """Return the bytes of what was spent (kind 4), if anything was charged, and of the limit (kind 5), if any."""
    key = flow.key.src + flow.key.dst + u64(flow.key.epoch)
    rows = []
    if flow.tip is not None:
        nonce, body_id = flow.tip
        rows.append(b"\x04" + key + u64(flow.spent) + u64(flow.charges) + u64(nonce) + body_id)
    if flow.limit is not None:
        rows.append(b"\x05" + key + u64(flow.limit))
    return rows


def channel_row(channel: Channel) -> bytes:
    """Return the bytes of a channel: kind 6. The last checkpoint's generation is the current one, too."""
    pending = b"\x00"
    if channel.pending is not None:
        epochs = u64(channel.epoch) + u64(channel.pending.new_epoch)
        reason = bytes([REASONS.index(channel.pending.reason)])
        pending = b"\x01" + epochs + channel.pending.bump_id + reason
    generations = u64(channel.last) * 2
    return b"\x06" + channel.channel + u64(channel.epoch) + generations + u32(channel.window) + pending


def capability_row(subject: bytes, cap: Cap) -> bytes:
    """Return the bytes of a capability: kind 7. Names are ascending by their UTF-8 bytes."""
    actions = b"\x00"
    if cap.actions is not None:
        names = sorted(name.encode() for name in cap.actions)
        actions = b"\x01" + u32(len(names)) + b"".join(map(_sized, names))
    limits = sorted((name.encode(), limit) for name, limit in cap.limits.items())
    limited = u32(len(limits)) + b"".join(_sized(name) + u64(limit) for name, limit in limits)
    return b"\x07" + subject + actions + limited + _optional(cap.epoch_min) + _optional(cap.epoch_max)


def row_hash(row: bytes) -> bytes:
    """Return the hash of one row, 32 bytes."""
    return tagged("strandline/aura/state-row/1", row)


def state_hash(namespace: Namespace, rows: list[bytes]) -> bytes:
    """Return the state hash of a context, 32 bytes, from its rows in any order."""
    digest = set_hash(row_hash(row) for row in rows)
    return tagged("strandline/aura/context-state/1", namespace.tagged + digest)
