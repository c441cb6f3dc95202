"""Device logs: pasts as trees of bounds, and what many of them hold together."""

import random

import pytest

from strandline.dialects.devicelog.kernels import reduced_rows
from strandline.dialects.devicelog.reduce import missing, reduce
from strandline.dialects.devicelog.reduce.bounds import NOTHING_BEFORE
from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.membership import Memberships, pasts
from strandline.dialects.devicelog.reduce.whole import whole_of
from support.device_headers import (
    header,
    logs_in_a_chain,
    logs_that_remove_one,
    logs_that_see_all,
    nested_forks,
    removals_of_one_fork,
)
from support.effort import calls_of
from support.laws import IS_QUICK


def test_bounds_are_joined_met_and_read_like_dicts():
    draw = random.Random("bounds")
    made, known = [({}, NOTHING_BEFORE)], {}
    for _ in range(750 if IS_QUICK else 3_000):
        (one, tree), (other, other_tree) = draw.choice(made), draw.choice(made)
        branch, seq = draw.choice([draw.randrange(40), draw.randrange(5_000)]), draw.randrange(9)
        joined = {each: max(one.get(each, NONE), other.get(each, NONE)) for each in one.keys() | other.keys()}
        joined[branch] = max(joined.get(branch, NONE), seq)
        tree = tree.joined(other_tree, known).having(branch, seq)
        assert list(tree.items()) == sorted(joined.items())
        met = {each: min(joined[each], other[each]) for each in joined.keys() & other.keys()}
        assert list(tree.met(other_tree).items()) == list(other_tree.met(tree).items()) == sorted(met.items())
        assert tree.get(branch) == joined[branch]
        for each in (*draw.choices(range(5_100), k=5), 40_000):
            assert tree.get(each) == joined.get(each, NONE)
        made[draw.randrange(len(made)) if len(made) > 50 else len(made) :] = [(joined, tree)]


def test_bounds_that_add_nothing_copy_nothing():
    one = NOTHING_BEFORE.having(3, 5).having(2_000, 1)
    assert one.joined(NOTHING_BEFORE.having(3, 4)) is one
    assert one.joined(one) is one
    assert one.met(one) is one
    assert one.met(one.having(70, 0)).root == one.root
    assert one.joined(one.having(70, 0)).root == one.having(70, 0).root


def held(graph):
    """Values that the pasts of a graph hold; what several share counts once."""
    seen, count = set(), 0
    waiting = [each for each in graph._bases if each is not None]
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            parts = each.values() if isinstance(each, dict) else getattr(each, "root", each)
            count += len(parts)
            waiting += [part for part in parts if not isinstance(part, int)]
    return count


@pytest.mark.large
@pytest.mark.parametrize("made", [nested_forks, logs_in_a_chain])
def test_pasts_that_grow_from_one_another_share_what_is_equal(made):
    few, many = (whole_of(made(count)).graph for count in (1_000, 4_000))
    assert held(many) < 8 * held(few)
    assert held(many) < 100 * len(many.entries)


@pytest.mark.large
def test_forks_in_forks_that_name_the_dead_ends_share_their_pasts_too():
    few, many = (whole_of(nested_forks(count, sees_dead_ends=True)).graph for count in (1_000, 4_000))
    assert held(many) < 8 * held(few)
    last = many.index[(4_000).to_bytes(32)]
    unseen = [header.seq for index, header in enumerate(many.entries) if not many.reaches(last, index)]
    assert unseen == [2_000]


def rows_of_tips(headers):
    """The state of a group, and the rows of its tips with pasts of up to 16 branches."""
    state = reduce(headers)
    return state, list(reduced_rows.tip_rows(state))


@pytest.mark.large
@pytest.mark.parametrize(
    ("made", "final"),
    [(logs_in_a_chain, 0), (lambda count: logs_that_see_all(count, 3), 2), (logs_that_remove_one, 0)],
    ids=["in a chain", "see all", "remove one"],
)
def test_many_logs_take_linear_time(monkeypatch, made, final):
    monkeypatch.setattr(reduced_rows, "MAX_BOUNDS", 16)
    monkeypatch.setattr(pasts, "_MOST", 8)
    (small, _), least = calls_of(rows_of_tips, made(100))
    (large, _), most = calls_of(rows_of_tips, made(400))
    assert most < 6 * least
    assert (small.final_length, large.final_length) == (final * 99, final * 399)


@pytest.mark.parametrize("of_starts", [False, True], ids=["branches", "starts"])
def test_removals_that_cut_before_many_branches_take_linear_time(of_starts):
    def removed(count):
        state, calls = calls_of(reduce, removals_of_one_fork(count, of_starts=of_starts))
        assert [*state.membership.verdicts.values()] == ["effective"] * count
        return calls

    assert removed(400) < 6 * removed(100)


@pytest.mark.large
def test_what_replicas_of_nested_forks_miss_is_found_in_linear_time():
    def found(count):
        (send, get), calls = calls_of(missing, nested_forks(count), nested_forks(count + 2))
        assert (send, get) == (set(), {number.to_bytes(32) for number in (count + 1, count + 2)})
        return calls

    assert found(1_200) < 5 * found(400)


@pytest.mark.parametrize("made", [logs_in_a_chain, lambda count: logs_that_see_all(count, 1)])
def test_pasts_with_other_starts_and_the_same_removals_share_one_membership(made):
    graph = whole_of(made(100)).graph
    memberships = Memberships(graph)
    for tip in (tip for log in graph.logs for tip in graph.tips(log)):
        past = graph.past(tip)
        assert memberships.within_past(past, 1_000) == dict(past.items())
    assert len(memberships._found) == 1


def test_memberships_of_large_pasts_are_kept_up_to_a_number_of_values(monkeypatch):
    starts_again = [header(200 + log, log, kind="key", lamport=1, deps=[0]) for log in range(1, 60)]
    graph = whole_of([*logs_in_a_chain(60), *starts_again]).graph
    tips = [tip for log in graph.logs for tip in graph.tips(log)]

    def found(memberships):
        held, most = [], 0
        for tip in tips:
            held.append(memberships.within_past(graph.past(tip), 1_000))
            most = max(most, sum(each.values for each in memberships._found.values()))
        return held, most

    expected, all_values = found(Memberships(graph))
    monkeypatch.setattr(pasts, "_MOST_VALUES", 300)
    few, values = found(Memberships(graph))
    assert (len(tips), few) == (1 + 2 * 59, expected)
    assert values < 300 + 2 * 60 < all_values


def test_tips_of_nested_forks_share_one_membership():
    graph = whole_of(nested_forks(200)).graph
    memberships = Memberships(graph)
    tips = graph.tips(header(0).log)
    first = [memberships.within_past(graph.past(tip), 50) for tip in tips]
    assert (len(tips), len(memberships._found)) == (101, 1)
    assert sum(each is None for each in first) == 51
    assert [memberships.within_past(graph.past(tip), 50) for tip in tips] == first
