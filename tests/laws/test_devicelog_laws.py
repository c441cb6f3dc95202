"""Laws of device logs on random groups, with removals, restored backups, leavers and false claims."""

import dataclasses
import random
from bisect import bisect_left
from functools import cache
from math import ceil, log

import pytest

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.reduce import (
    check_screw,
    history,
    key_of,
    missing,
    reduce,
    sync_point,
)
from strandline.dialects.devicelog.reduce.increment import Tail, Tip, increment, needed_above
from support.device_groups import changed
from support.device_rules import Reference
from support.laws import IS_QUICK
from support.random_devices import gossip, random_history

SEEDS = range(40 if IS_QUICK else 300)


@cache
def made(seed, forks=True):
    return random_history(seed, forks=forks)


@cache
def gossiped(seed):
    """A history without forks, after which everybody has met everybody."""
    found = random_history(seed, forks=False)
    before = [log.entries() for log in found.devices.values()]
    gossip(found)
    return found, before


def closed_subset(draw, entries):
    """Some entries with all that they reach."""
    held = {entry.record_id: entry for entry in entries}
    walk, found = draw.sample([*held], draw.randint(1, len(held))), set()
    while walk:
        record_id = walk.pop()
        if record_id not in found:
            found.add(record_id)
            entry = held[record_id]
            last = getattr(entry.statement, "last_id", None)
            walk += [each for each in (entry.prev, last, *entry.deps) if each is not None]
    return [held[each] for each in found]


@pytest.mark.large
@pytest.mark.parametrize("policy", ["keep-both", "freeze"])
def test_the_reducer_follows_the_rules_by_the_letter(policy):
    for seed in SEEDS:
        entries = made(seed).entries()
        state, letter = reduce(entries, policy), Reference(entries, policy)
        assert list(state.view) == [entry.record_id for entry in letter.view], seed
        assert list(state.hashes) == letter.v, seed
        assert dict(state.verdicts) == letter.verdicts, seed
        assert dict(state.statuses) == letter.statuses, seed
        assert state.final_length == letter.final_length, seed
        cuts = {log: (cut.seq, letter_id(state, cut.last)) for log, cut in state.membership.cuts.items()}
        assert cuts == {log: cut[:2] for log, cut in letter.cut.items()}, seed


def letter_id(state, index):
    return None if index is None else state.graph.entries[index].record_id


@pytest.mark.large
def test_after_gossip_all_devices_have_equal_entries_views_and_states():
    for seed in SEEDS:
        found, _ = gossiped(seed)
        logs = list(found.devices.values())
        assert len({frozenset(entry.record_id for entry in log.entries()) for log in logs}) == 1, seed
        assert len({log.view_hashes for log in logs}) == 1, seed
        states = [log.state() for log in logs[:2]]
        assert len({(state.view, state.state_hash, state.final_length) for state in states}) == 1, seed
        assert states[0].view_hash == logs[0].view_hash
        assert states[0].view == logs[0].view


def test_order_and_copies_of_the_input_change_nothing():
    for seed in SEEDS:
        entries = made(seed).entries()
        state = reduce(entries)
        draw = random.Random(seed)
        again = reduce(draw.sample(entries, len(entries)) + draw.sample(entries, len(entries) // 2))
        assert (again.state_hash, again.verdicts) == (state.state_hash, state.verdicts), seed


def test_two_messages_stand_in_the_same_order_in_every_view():
    for seed in SEEDS:
        entries = made(seed).entries()
        state = reduce(entries)
        part = reduce(closed_subset(random.Random(seed), entries))
        both = set(state.view) & set(part.view)
        assert [each for each in state.view if each in both] == [each for each in part.view if each in both]
        places = {record_id: place for place, record_id in enumerate(state.view)}
        for entry in entries:
            for parent in Reference.parents(entry):
                if entry.record_id in places and parent in places:
                    assert places[parent] < places[entry.record_id], seed


@pytest.mark.large
def test_every_screw_of_a_device_is_true_and_a_changed_one_has_its_code():
    tampered = 0
    for seed in SEEDS:
        found = made(seed, forks=False)
        entries = found.entries()
        keys = {Ed25519Key(each).public: Ed25519Key(each) for each in found.seeds}
        for entry in entries:
            if entry.kind != "screw":
                continue
            assert check_screw(entry, entries) == "true", seed
            if tampered < 300:
                tampered += 1
                refuse_changes(entry, keys[entry.log], entries)
    assert tampered > 30


def refuse_changes(entry, key, entries):
    stated, other = entry.statement, b"\x00" * 32
    wrong = {
        "SCREW_BEFORE": [{"n_before": stated.n_before + 1}, {"v_before": other}],
        "SCREW_AFTER": [{"n_after": stated.n_after + 1}, {"v_after": other}],
        "SCREW_REWIND": [{"v_rewind": other}],
        "SCREW_FROM": [{"from_heads": (other,)}, {"from_heads": tuple(sorted([*stated.from_heads, other]))}],
    }
    if stated.rewind + 1 < min(stated.n_before, stated.n_after):
        wrong["SCREW_REWIND"].append({"rewind": stated.rewind + 1})
    for code, changes in wrong.items():
        for change in changes:
            assert check_screw(changed(entry, key, statement=change), entries) == code, change
    if stated.rewind:
        lower = {"rewind": 0, "v_rewind": reduce(entries).hashes[0]}
        assert check_screw(changed(entry, key, statement=lower), entries) == "true"


def test_final_rows_stay_in_every_later_state():
    moved = 0
    for seed in SEEDS:
        found, _ = gossiped(seed)
        last = next(iter(found.devices.values())).state()
        for state in found.earlier:
            assert last.view[: state.final_length] == state.view[: state.final_length], seed
            moved += bool(state.final_length)
    assert moved > 10


def test_a_history_is_what_the_device_recorded():
    compared = 0
    for seed in SEEDS:
        found, _ = gossiped(seed)
        for number, noted in found.shown.items():
            device = found.devices[number]
            if noted.stated is None or not noted.is_whole:
                continue
            rows = history(device.key, device.entries())
            shown = [[row.position, row.replay_clock, row.record_id, row.struck] for row in rows]
            assert shown == noted.stated, seed
            compared += 1
    assert compared > len(SEEDS)


@pytest.mark.large
def test_missing_entries_are_found_exactly_without_forks_and_completely_with_them():
    for seed in SEEDS:
        for is_exact, found in ((True, made(seed, forks=False)), (False, made(seed))):
            sides = [closed_subset(random.Random(f"{seed} {side}"), found.entries()) for side in (0, 1)]
            ids = [{entry.record_id for entry in side} for side in sides]
            send, get = missing(*sides)
            if is_exact:
                assert (send, get) == (ids[0] - ids[1], ids[1] - ids[0]), seed
            assert send >= ids[0] - ids[1], seed
            assert get >= ids[1] - ids[0], seed
            assert send <= ids[0], seed
            assert get <= ids[1], seed


@pytest.mark.parametrize("length", [0, 1, 2, 7, 64, 65, 300, 5000, 100_000])
def test_the_common_point_is_found_in_few_messages(length):
    draw = random.Random(length)
    mine = [b"%d" % k for k in range(length + 1)]
    for _ in range(30):
        common, size = draw.randint(0, length), draw.randint(0, length)
        common = draw.choice([common, min(length, size), max(0, length - draw.randint(0, 9))])
        theirs = mine[: common + 1] + [b"x%d" % k for k in range(common + 1, size + 1)]
        expected = min(common, len(theirs) - 1)
        for one, other in ((mine, theirs), (theirs, mine)):
            k, messages = sync_point(one, other)
            assert k == expected
            assert messages <= (3 if length <= 64 else 3 + ceil(log(length / 64, 8)))


def stored(state):
    """What the reduced tables hold of a group without forks: tips by log, and the whole view."""
    graph, tips = state.graph, {}
    name = {number: branch.log for number, branch in enumerate(graph.branches)}
    for key, numbers in graph.logs.items():
        [tip] = graph.tips(key)
        header = graph.entries[tip]
        past = {name[number]: seq for number, seq in graph.past(tip).items()}
        kept = min(state.membership.kept(graph, numbers[0]), 2**53)
        rewinds = [
            graph.entries[screw.index].statement.rewind
            for screw in state.screws
            if graph.entries[screw.index].log == key
        ]
        seen = sum(
            graph.entries[graph.index[each]].seq <= past.get(graph.entries[graph.index[each]].log, -1)
            for each in state.view
        )
        tips[key] = Tip(
            header.record_id, header.seq, header.lamport, past, len(state.view) - seen,
            state.statuses[key] == "active", key in state.waited, kept, rewinds[-1] if rewinds else None,
        )  # fmt: skip
    headers = [graph.entries[graph.index[each]] for each in state.view]
    return tips, Tail(
        0, [key_of(each) for each in headers], [(each.log, each.seq) for each in headers], state.hashes
    )


@pytest.mark.large
def test_an_increment_gives_what_a_full_reduction_gives():
    done = 0
    for seed in SEEDS:
        found, _ = gossiped(seed)
        entries = sorted(found.entries(), key=lambda entry: (entry.lamport, entry.seq, entry.record_id))
        for cut in range(1, len(entries)):
            old, new = entries[:cut], entries[cut : cut + 1 + cut % 4]
            if not is_closed(old) or not is_closed(old + new):
                continue
            before = reduce(old)
            tips, tail = stored(before)
            bounds = needed_above(tips, new)
            window = [entry for entry in old if entry.seq > bounds.get(entry.log, -1)]
            places = [key_of(each) for each in [*window, *new] if each.kind == "msg"]
            start = min([bisect_left(tail.keys, min(places, default=(2**53, 0, b""))), before.final_length])
            short = Tail(start, tail.keys[start:], tail.places[start:], tail.hashes[start:])
            grown = increment(tips, short, before.final_length, window, new)
            if grown is None:
                continue
            done += 1
            after = reduce(old + new)
            expected, whole = stored(after)
            assert list(grown.tail.keys) == list(whole.keys[start:]), seed
            assert list(grown.tail.hashes) == list(whole.hashes[start:]), seed
            assert list(whole.keys[: grown.changed_from]) == list(tail.keys[: grown.changed_from]), seed
            assert grown.final_length == after.final_length, seed
            assert {
                log: dataclasses.replace(tip, is_new=False) for log, tip in grown.tips.items()
            } == expected, seed
            for judged in grown.screws:
                assert judged.verdict == after.verdicts[judged.screw.record_id], seed
    assert done > 2 * len(SEEDS)


def is_closed(entries):
    held = {entry.record_id for entry in entries}
    return all(
        each in held
        for entry in entries
        for each in (*entry.deps, entry.prev, getattr(entry.statement, "last_id", None))
        if each is not None
    )
