"""Deliveries of Aura journals: random authorities, contexts that name their states, attacks, three forms of files."""

import json
import random

from strandline.core.encoding.strict_json import NumberToken
from strandline.dialects.aura.author import generate, generate_contexts
from strandline.dialects.aura.codec import to_json
from support.aura_attacks import FOLLOWING, RULES, by_stranger, receipt, snapshot
from support.aura_cases import U, facts, first_context, other_authority, second_context
from support.aura_tampering import SHAPES, changed, subjects

DAMAGED = (
    b"{", b"[1]", b"null", b'{"facts":[]}', b'{"namespace":"authority:x","facts":[]}', b"\xff\xfe",
    b'{"namespace":"authority:d21eb924-5a21-bff8-b6f5-465be2308d99","facts":[{},1,{"order":1}]}',
)  # fmt: skip


def line(fact):
    """A fact as a line of a file."""
    return to_json(fact).encode()


def journal(of_namespace):
    """Facts of one namespace as a journal document; every second one leaves its namespace out."""
    values = [json.loads(to_json(fact)) for fact in of_namespace]
    for value in values[::2]:
        del value["namespace"]
    return json.dumps({"namespace": of_namespace[0].namespace.text, "facts": values}).encode()


def tampered():
    """Lines whose facts do not have their form."""
    values = subjects()
    return [
        json.dumps(changed(values[name], path, new)).encode()
        for name, path, new, _ in SHAPES
        if "NumberToken" not in repr(new) and not isinstance(new, NumberToken) and len(repr(new)) < 10_000
    ]


def attacks():
    """Facts that break rules or signatures, beside those that they attack."""
    made = [make() for make, _ in (*RULES.values(), *FOLLOWING.values())]
    return [*made, by_stranger(second_context()["n1"]), receipt(U), snapshot(U, count=2)]


def corpus(seed, authorities, operations):
    """Two runs: facts in any order, some only in one of them, some never, some in both; damage and attacks."""
    draw = random.Random(seed)
    vectors = [*facts().values(), other_authority(), *second_context().values(), *first_context().values()]
    every = [*vectors, *attacks()]
    every += generate(
        seed, authorities=authorities, operations=operations, fork_rate=0.3, bad_rate=0.1, duplicate_rate=0.2
    )
    every += generate_contexts(
        seed,
        contexts=8,
        members=3,
        facts=30,
        fork_rate=0.3,
        unmet_rate=0.2,
        bad_rate=0.05,
        duplicate_rate=0.2,
    )
    runs = [[], []]
    for fact in every:
        for _ in range(draw.choice((0, 1, 1, 1, 1, 1, 1, 1, 1, 2))):
            draw.choice(runs).append(fact)
    for fact in vectors:
        if fact not in (*runs[0], *runs[1]):
            runs[1].append(fact)
    return [_files(draw, number, run) for number, run in enumerate(runs)]


def _files(draw, number, run):
    draw.shuffle(run)
    third = len(run) // 3
    lines = [line(fact) for fact in run[:third]]
    lines += [*DAMAGED, *tampered()] if number == 0 else lines[:2]
    draw.shuffle(lines)
    first = run[third].namespace
    of_one = [fact for fact in run[third : 2 * third] if fact.namespace == first]
    others = [line(fact) for fact in run[third : 2 * third] if fact.namespace != first]
    sequence = b"".join(fact.cbor for fact in run[2 * third :])
    return {
        "lines.jsonl": b"\n".join(lines) + b"\n",
        "more.ndjson": b"\r\n".join([*others, b"", b" \t"]),
        "history.json": journal(of_one),
        "rest.cbor": sequence + (b"\xa1\x01\x02\x5f" if number else b""),
    }
