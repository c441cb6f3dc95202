"""The context reducer of the public implementation, for differential tests.

It reads published journal documents of 2025, verifies nothing and takes every fact as met. Its channels differ from
ours by design: a commit needs no consensus, and a routine bump becomes pending only with a window of 0 or 1.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from support.public_authorities import octets

_DEFAULT_WINDOW: Final = 1024
_REASONS: Final = ("Routine", "SuspiciousActivity", "ConfirmedCompromise")


class PublicBump(NamedTuple):
    """A pending bump as the public reducer gives it."""

    parent_epoch: int
    new_epoch: int
    bump_id: bytes
    reason: str


class PublicChannel(NamedTuple):
    """A channel as the public reducer gives it."""

    epoch: int
    last: int
    window: int
    pending: PublicBump | None


@dataclass(slots=True)
class _Facts:
    """The facts of one channel, in their order."""

    checkpoints: list[Mapping[str, Any]] = field(default_factory=list)
    commits: set[int] = field(default_factory=set)
    proposed: list[Mapping[str, Any]] = field(default_factory=list)
    window: int | None = None


def reduce_context(document: Mapping[str, Any]) -> dict[bytes, PublicChannel]:
    """Return the channels of a published journal document, a JSON value, by id."""
    channels: dict[bytes, _Facts] = {}
    for variant, members in _relational(document):
        if not variant.startswith("Amp"):
            continue
        facts = channels.setdefault(octets(members["channel"]), _Facts())
        if variant == "AmpChannelPolicy":
            facts.window = members.get("skip_window") if facts.window is None else facts.window
        elif variant == "AmpChannelCheckpoint":
            facts.checkpoints.append(members)
        elif members["new_epoch"] == members["parent_epoch"] + 1:
            if variant == "AmpCommittedChannelEpochBump":
                facts.commits.add(members["parent_epoch"])
            else:
                facts.proposed.append(members)
    return {channel: _channel(channels[channel]) for channel in sorted(channels)}


def channels_hash(channels: Mapping[bytes, PublicChannel]) -> bytes:
    """Return the hash of a context that has channels and no bindings."""
    parts = [b"BINDINGS", b"FLOW_BUDGETS", b"CHANNEL_EPOCHS"]
    for channel, state in sorted(channels.items()):
        parts += [
            channel,
            _u64(state.epoch),
            _u64(state.last),
            _u64(state.last),
            state.window.to_bytes(4, "little"),
        ]
        if state.pending is not None:
            parts += [_u64(state.pending.parent_epoch), _u64(state.pending.new_epoch), state.pending.bump_id]
            parts.append(bytes([_REASONS.index(state.pending.reason)]))
    return hashlib.sha256(b"".join(parts)).digest()


def _relational(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the relational facts by order; of equal orders the first in the document counts."""
    distinct: dict[bytes, Mapping[str, Any]] = {}
    for fact in document["facts"]:
        distinct.setdefault(octets(fact["order"]), fact["content"])
    for order in sorted(distinct):
        yield from distinct[order].get("Relational", {}).items()


def _channel(facts: _Facts) -> PublicChannel:
    epoch = 0
    while epoch in facts.commits:
        epoch += 1
    last: Mapping[str, Any] = {}
    for each in facts.checkpoints:
        if each["chan_epoch"] <= epoch and (not last or _rank(each) >= _rank(last)):
            last = each
    override = last.get("skip_window_override")
    stated = facts.window if override is None else override
    window = _DEFAULT_WINDOW if stated is None else stated
    return PublicChannel(epoch, last.get("base_gen", 0), window, _pending(facts.proposed, epoch, window))


def _rank(checkpoint: Mapping[str, Any]) -> tuple[int, int, bytes]:
    return checkpoint["chan_epoch"], checkpoint["base_gen"], octets(checkpoint["ck_commitment"])


def _pending(proposed: list[Mapping[str, Any]], epoch: int, window: int) -> PublicBump | None:
    """Return the proposal with the least bump id; of equal ids the first gives the reason. The spacing is always 0."""
    candidates = [
        each
        for each in proposed
        if each["parent_epoch"] == epoch and (each["reason"] != "Routine" or window // 2 == 0)
    ]
    if not candidates:
        return None
    chosen = min(candidates, key=lambda each: octets(each["bump_id"]))
    return PublicBump(epoch, epoch + 1, octets(chosen["bump_id"]), chosen["reason"])


def _u64(number: int) -> bytes:
    return number.to_bytes(8, "little")
