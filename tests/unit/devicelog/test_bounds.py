"""Device logs: pasts as trees of bounds, and what many of them hold together."""

import random

import pytest

from strandline.dialects.devicelog.reduce.bounds import NOTHING_BEFORE
from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.membership import Memberships, pasts
from strandline.dialects.devicelog.reduce.whole import whole_of
from support.device_headers import header, logs_in_a_chain, nested_forks
from support.laws import IS_QUICK


def test_bounds_are_joined_and_read_like_dicts():
    draw = random.Random("bounds")
    made = [({}, NOTHING_BEFORE)]
    for _ in range(750 if IS_QUICK else 3_000):
        (one, tree), (other, other_tree) = draw.choice(made), draw.choice(made)
        branch, seq = draw.choice([draw.randrange(40), draw.randrange(5_000)]), draw.randrange(9)
        joined = {each: max(one.get(each, NONE), other.get(each, NONE)) for each in one.keys() | other.keys()}
        joined[branch] = max(joined.get(branch, NONE), seq)
        tree = tree.joined(other_tree).having(branch, seq)
        assert list(tree.items()) == sorted(joined.items())
        assert tree.get(branch) == joined[branch]
        for each in (*draw.choices(range(5_100), k=5), 40_000):
            assert tree.get(each) == joined.get(each, NONE)
        made[draw.randrange(len(made)) if len(made) > 50 else len(made) :] = [(joined, tree)]


def test_bounds_that_add_nothing_copy_nothing():
    one = NOTHING_BEFORE.having(3, 5).having(2_000, 1)
    assert one.joined(NOTHING_BEFORE.having(3, 4)) is one
    assert one.joined(one) is one
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


@pytest.mark.parametrize("made", [nested_forks, logs_in_a_chain])
def test_pasts_that_grow_from_one_another_share_what_is_equal(made):
    few, many = (whole_of(made(count)).graph for count in (1_000, 4_000))
    assert held(many) < 8 * held(few)
    assert held(many) < 100 * len(many.entries)


def test_forks_in_forks_that_name_the_dead_ends_share_their_pasts_too():
    few, many = (whole_of(nested_forks(count, sees_dead_ends=True)).graph for count in (1_000, 4_000))
    assert held(many) < 8 * held(few)
    last = many.index[(4_000).to_bytes(32)]
    unseen = [header.seq for index, header in enumerate(many.entries) if not many.reaches(last, index)]
    assert unseen == [2_000]


def test_memberships_of_large_pasts_are_kept_up_to_a_number_of_values(monkeypatch):
    graph = whole_of(logs_in_a_chain(60)).graph
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
    assert (len(tips), few) == (60, expected)
    assert values < 300 + 2 * 60 < all_values


def test_tips_of_nested_forks_share_one_membership():
    graph = whole_of(nested_forks(200)).graph
    memberships = Memberships(graph)
    tips = graph.tips(header(0).log)
    first = [memberships.within_past(graph.past(tip), 50) for tip in tips]
    assert (len(tips), len(memberships._found)) == (101, 1)
    assert sum(each is None for each in first) == 51
    assert [memberships.within_past(graph.past(tip), 50) for tip in tips] == first
