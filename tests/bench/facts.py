"""Made-up facts of authorities: chains and small authorities, as values and as files that are made once."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from bench.data import Data
from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.aura import author
from strandline.dialects.aura.codec import to_json
from strandline.dialects.aura.types import ANY, AddLeaf, Fact, LeafNode, Operation, RekeyLeaf
from strandline.dialects.aura.verify import EMPTY, State, state_after

LEAVES: Final = 8
"""Active leaves of an authority."""

_KEY: Final = Ed25519Key(bytes([7]) * 32)


def chain(number: int, operations: int) -> Iterator[Fact]:
    """Yield the genesis of an authority and operations that follow one another: leaves are added, then get new keys."""
    first = author.genesis(
        _KEY,
        min_signers=1,
        max_signers=3,
        policy=ANY,
        salt=number.to_bytes(16, "big"),
        signer_count=1,
        **_at(0),
    )
    yield first
    state = state_after(EMPTY, first)
    for count in range(1, operations + 1):
        fact = author.append(first.namespace, state, _next(state, count), signer=_KEY, **_at(count))
        yield fact
        state = state_after(state, fact)


def _at(count: int) -> dict[str, object]:
    token = count.to_bytes(32, "big")
    return {"order": token, "timestamp": {"OrderClock": token}}


def _next(state: State, count: int) -> Operation:
    key = count.to_bytes(32, "big")
    if len(state.leaves) < LEAVES:
        return AddLeaf(LeafNode(state.next_leaf_id, bytes(16), "Device", key, b""), 0)
    return RekeyLeaf(count % LEAVES, key)


def lines(facts: Iterable[Fact]) -> Iterator[str]:
    """Yield each fact as a line of JSON with its LF."""
    return (to_json(fact) + "\n" for fact in facts)


def folder(data: Data, name: str, facts: Iterable[Fact]) -> Path:
    """Return a folder with one file of these facts, made if it is not there."""
    made = data.folder / "facts" / name
    if not made.exists():
        part = made.with_name(f"{name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        with (part / "facts.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(lines(facts))
        part.replace(made)
    return made
