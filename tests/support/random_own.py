"""Random own nodes over runs: what they announce, what others show of their journals, what the operator restores."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from strandline.dialects.sdmp.author import append, synthetic_id
from strandline.dialects.sdmp.codec import announce, batch, profile_of, render
from strandline.dialects.sdmp.types import Connection, LocalNode
from support.random_journals import corpus

OWN = 1_000
"""Number of the first own node: those of `random_journals` count from 0."""


@dataclass(frozen=True)
class OwnRunInput:
    """The input of one run: files, nodes to restore, nodes to force."""

    files: Mapping[str, bytes]
    restore: frozenset[str]
    force: frozenset[str]


def local_nodes(rng: random.Random, count: int, strangers: int) -> dict[str, LocalNode]:
    """Own nodes of both profiles; peers are other own nodes and those of `random_journals`."""
    names = [synthetic_id("node", OWN + i, rng.choice(["0.9", "0.12"])) for i in range(count)]
    others = [synthetic_id("node", i, profile) for i in range(strangers) for profile in ("0.9", "0.12")]
    found = {}
    for node in names:
        profile = profile_of(node)
        fits = [each for each in names + others if each != node and profile_of(each) == profile]
        peers = rng.sample(fits, k=min(len(fits), rng.randrange(0, 5)))
        users = [synthetic_id("user", i, profile) for i in range(3)]
        connections = tuple(
            Connection(user, tuple(peers[at::2])) for at, user in enumerate(users[:2]) if peers[at::2] or at
        )
        # Authors of the journals are among the users, so that `connections` takes some pairs.
        record = rng.choice(["all", "all", "connections"])
        found[node] = LocalNode(node, profile, users[2], record, connections)
    return found


def runs(seed: int, own: Mapping[str, LocalNode], strangers: int, count: int) -> Iterator[OwnRunInput]:
    """The inputs of so many runs."""
    rng = random.Random(seed)
    shown = {node: journal_of_own(rng, node) for node in own}
    for number, files in enumerate(corpus(seed, strangers, runs=count)):
        nodes = list(own)
        named: dict[str, bytes] = dict(files)
        for at in range(max(2, len(nodes) // 4)):
            frames = [frame_of(rng, rng.choice(nodes)) for _ in range(rng.randrange(1, 6))]
            named[f"announced/{at}"] = b"\n".join(frames) + rng.choice([b"", b"\n"])
        carried = [node for node in nodes if rng.random() < 0.15]
        for at, node in enumerate(carried):
            lines = shown[node]
            start = rng.randrange(len(lines))
            if rng.random() < 0.6:
                named[f"carried/{at}"] = render(lines[: rng.randrange(1, len(lines) + 1)])
            else:
                named[f"carried/{at}"] = batch(node, node, lines[start : start + 3])
        restore = frozenset(node for node in nodes if rng.random() < (0.3 if node in carried else 0.05))
        force = frozenset(node for node in nodes if number and rng.random() < 0.2)
        yield OwnRunInput(named, restore, force)


def journal_of_own(rng: random.Random, node: str) -> list[bytes]:
    """A journal of an own node that others might show: the lines of an old backup, perhaps forked."""
    profile = profile_of(node)
    lines = [node.encode()]
    for _ in range(rng.randrange(1, 6)):
        before = rng.choice(lines) if rng.random() < 0.15 else lines[-1]
        line = next(append(before, [pair_of(rng, profile)], profile))
        if line not in lines:
            lines.append(line)
    return lines


def pair_of(rng: random.Random, profile: str) -> tuple[str, str]:
    """A pair of few, so that many are named again."""
    kind = rng.choice(["author", "user"])
    return synthetic_id(kind, rng.randrange(3), profile), synthetic_id("resource", rng.randrange(12), profile)


def frame_of(rng: random.Random, node: str) -> bytes:
    """An announcement, now and then with something wrong."""
    profile = profile_of(node)
    pairs = [pair_of(rng, profile) for _ in range(rng.randrange(0, 5))]
    frame = announce(node, pairs, rng.choice([None, None, 0, 1, 2**64 - 1]))
    wrong = rng.random()
    if wrong < 0.06:
        other = "0.12" if profile == "0.9" else "0.9"
        frame = frame.replace(pair_of(rng, profile)[1].encode(), synthetic_id("resource", 1, other).encode())
    elif wrong < 0.1:
        frame = frame.replace(b'"author":"', b'"author":"x', 1)
    elif wrong < 0.14:
        frame = frame.replace(node.encode(), synthetic_id("node", 5_000, profile).encode(), 1)
    elif wrong < 0.16:
        frame = frame[:-1]
    elif wrong < 0.2:
        frame = b" \n" + frame
    return frame
