"""What candidates wait for: the one pass that kernels and references share."""

import random
from itertools import pairwise

from strandline.core.ancestry import missing_parents


def test_what_follows_a_failing_candidate_waits_without_recursion():
    chain = [number.to_bytes(32, "big") for number in range(20_000)]
    lacking = {chain[0]: []} | {child: [parent] for parent, child in pairwise(chain)}
    assert set(missing_parents(lacking).values()) == {()}
    stopped = missing_parents(lacking, {chain[9_999]})
    assert sum(map(bool, stopped.values())) == 10_000
    a, b = chain[:2]
    assert missing_parents({a: [b], b: [a]}) == {a: (b,), b: (a,)}


def test_random_graphs_with_failing_candidates_are_resolved_as_by_trying_until_nothing_changes():
    draw = random.Random(5)
    for _ in range(300):
        ids = [bytes([at]) for at in range(draw.randrange(1, 12))]
        lacking = {id_: draw.sample([*ids, b"absent"], draw.choice([0, 1, 1, 2])) for id_ in ids}
        failing = set(draw.sample(ids, draw.randrange(len(ids) // 2 + 1)))
        admitted: set[bytes] = set()
        while more := {id_ for id_ in ids if set(lacking[id_]) <= admitted} - failing - admitted:
            admitted |= more
        expected = {id_: tuple(sorted(set(lacking[id_]) - admitted)) for id_ in ids}
        assert missing_parents(lacking, failing) == expected
