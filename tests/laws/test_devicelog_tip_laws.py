"""Rows of tips on random forests: what a walk over parents finds, whatever parts of pasts are shared or forgotten."""

import random

import pytest

from strandline.dialects.devicelog.kernels import reduced_rows
from strandline.dialects.devicelog.reduce import bounds, graph, reduce
from strandline.dialects.devicelog.reduce.membership import pasts
from support.device_headers import nested_forks, random_forest
from support.laws import IS_QUICK
from support.random_devices import random_history

SEEDS = range(60 if IS_QUICK else 240)


def entries_of(seed):
    draw = random.Random(f"forest {seed}")
    if seed % 6 == 0:
        return random_history(seed).entries()
    return random_forest(draw, draw.choice([5, 20, 60]))


def within_reach(held, tip):
    """The entries that a walk over parents finds."""
    walk, found = [tip], {}
    while walk:
        record_id = walk.pop()
        if record_id not in found:
            found[record_id] = held[record_id]
            walk += [each for each in (held[record_id].prev, *held[record_id].deps) if each is not None]
    return found


def by_branch(state, entries, most):
    """The greatest seq of entries by branch, None for more than `most` branches."""
    graph, found = state.graph, {}
    for each in entries:
        name = graph.name(graph.branch[graph.index[each.record_id]])
        found[name] = max(each.seq, found.get(name, each.seq))
    return None if len(found) > most else [{"branch": name, "seq": found[name]} for name in sorted(found)]


def by_walks(entries, most):
    """The pasts, the effective bounds and the rows behind of all tips: each past is walked and reduced by itself."""
    state, held = reduce(entries), {each.record_id: each for each in entries}
    followed, found = {each.prev for each in entries}, {}
    for tip in held.keys() - followed:
        reached = within_reach(held, tip)
        own = reduce(reached.values())
        effective = [
            header
            for index, header in enumerate(own.graph.entries)
            if own.membership.entry_status(own.graph, index) == "effective"
        ]
        behind = len(state.view) - len(reached.keys() & set(state.view))
        found[tip] = (by_branch(state, reached.values(), most), by_branch(state, effective, most), behind)
    return found


def by_rows(entries):
    rows = [row for row in reduced_rows.tip_rows(reduce(entries)) if "past" in row]
    return {row["record_id"]: (row["past"], row["bounds"], row["behind"]) for row in rows}


@pytest.mark.large
@pytest.mark.parametrize("most", [2, 7, 1024])
@pytest.mark.parametrize("parts", [2, 2**16], ids=["few parts known", "all parts known"])
def test_rows_of_tips_are_those_that_walks_over_parents_find(monkeypatch, most, parts):
    monkeypatch.setattr(reduced_rows, "MAX_BOUNDS", most)
    monkeypatch.setattr(bounds, "_MOST_PARTS", parts)
    monkeypatch.setattr(graph, "MOST_JOINS", parts)
    monkeypatch.setattr(pasts, "_MOST_VALUES", 40 if parts == 2 else 2**18)
    several = cut = 0
    for seed in SEEDS:
        entries = entries_of(seed)
        found = by_rows(entries)
        assert found == by_walks(entries, most), seed
        several += len(found) > 5
        cut += any(past != effective for past, effective, _ in found.values())
    assert several > len(SEEDS) // 2
    assert cut > len(SEEDS) // 8


@pytest.mark.large
def test_tips_of_nested_forks_share_what_was_summed(monkeypatch):
    """Twice the forks take twice the sums: not those of all pasts."""
    steps = []
    sums = bounds.Sums._sum
    monkeypatch.setattr(bounds.Sums, "_sum", lambda *given: steps.append(1) or sums(*given))
    monkeypatch.setattr(reduced_rows, "MAX_BOUNDS", 16)
    taken = []
    for count in (2_000, 4_000):
        steps.clear()
        rows = list(reduced_rows.tip_rows(reduce(nested_forks(count))))
        assert len(rows) == count // 2 + 1
        taken.append(len(steps))
    assert taken[1] < 2.5 * taken[0]
