"""The vectors of own journals, tests/vectors/sdmp/own.json, as values; and small own nodes for tests."""

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from strandline.dialects.sdmp.author import append, synthetic_id
from strandline.dialects.sdmp.codec import profile_of
from strandline.dialects.sdmp.types import Connection, LocalNode, Pair, Profile
from support.sdmp_cases import VECTORS

USER = synthetic_id("user", 0)


@cache
def own_document() -> dict[str, Any]:
    """The vectors, as they stand in the file."""
    return json.loads((VECTORS / "sdmp" / "own.json").read_text("utf-8"))


def node_of(name: str) -> str:
    """The fingerprint of a node of the vectors."""
    return synthetic_id("node", own_document()["nodes"][name])


def pair_of(numbers: Iterable[int], profile: Profile = "0.9") -> Pair:
    """The pair (a_i, r_k) of its two numbers."""
    author, resource = numbers
    return synthetic_id("author", author, profile), synthetic_id("resource", resource, profile)


def pairs_of(numbers: Iterable[Iterable[int]], profile: Profile = "0.9") -> list[Pair]:
    """The pairs of their numbers, in the same order."""
    return [pair_of(each, profile) for each in numbers]


def journal_of(node: str, numbers: Iterable[Iterable[int]]) -> list[bytes]:
    """The lines of a journal that names these pairs."""
    profile = profile_of(node)
    assert profile is not None
    return [node.encode(), *append(node.encode(), pairs_of(numbers, profile), profile)]


def own_node(node: str, *peers: str, record: str = "all", user: str = USER) -> LocalNode:
    """An own node with one connection, `user`, that has these peers."""
    profile = profile_of(node)
    assert profile is not None
    return LocalNode(node, profile, USER, record, (Connection(user, peers),))
