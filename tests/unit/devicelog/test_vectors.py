"""Device logs: the vectors, through the authors and the reducer."""

import pytest

from strandline.dialects.devicelog.reduce import Peer, check_screw, forks, history, reduce, sync_point
from support.device_groups import group, vectors

CASES = list(vectors())


def having(member):
    return [name for name in CASES if member in vectors()[name]]


def entries(name):
    return group(name).entries(vectors()[name].get("of"))


def states():
    return [(name, policy) for name in CASES for policy in vectors()[name]["states"]]


@pytest.mark.parametrize("name", CASES)
def test_devices_do_what_the_vector_says(name):
    assert [found for found, _ in group(name).results] == [expected for _, expected in group(name).results]


@pytest.mark.parametrize(("name", "policy"), states())
def test_a_state_is_the_published_one(name, policy):
    held, expected = group(name), vectors()[name]["states"][policy]
    state = reduce(entries(name), policy)
    bodies = {entry.record_id: entry.body.decode() for entry in held.entries()}
    names = vectors()[name]["steps"][0][0] != "synthetic"
    found = {
        "state": state.state_hash.hex(),
        "entries": len(state.graph.entries),
        "final_length": state.final_length,
        "view": [bodies[record_id] for record_id in state.view],
        "v": state.view_hash.hex(),
        "statuses": {held.name(log): status for log, status in state.statuses.items() if names},
    }  # fmt: skip
    assert {member: found[member] for member in expected} == expected


@pytest.mark.parametrize("name", having("view_hashes"))
def test_each_view_hash_is_the_published_one(name):
    expected = vectors()[name]["view_hashes"]
    hashes = reduce(entries(name)).hashes
    assert {k: hashes[int(k)].hex() for k in expected} == expected


@pytest.mark.parametrize("name", having("group"))
def test_the_id_of_the_group_is_the_published_one(name):
    assert reduce(entries(name)).group.hex() == vectors()[name]["group"]


def test_the_entries_of_the_example_are_the_published_ones():
    held, case = group("example"), vectors()["example"]
    assert {name: held.key(name).hex() for name in case["keys"]} == case["keys"]
    for device, seq, what, clock, record_id, deps in case["entries"]:
        entry = held.find(f"{device} {seq}")
        names = [f"{held.name(dep.log)} {dep.seq}" for dep in held.entries() if dep.record_id in entry.deps]
        assert (entry.record_id.hex(), entry.lamport, names) == (record_id, clock, deps)
        assert what == (entry.body.decode() if entry.kind == "msg" else entry.kind)
    for place, signature in case["signatures"].items():
        assert held.find(place).sig.hex() == signature


def test_the_screws_of_the_example_are_the_published_ones():
    held, case = group("example"), vectors()["example"]
    state = reduce(held.entries())
    by_id = {state.graph.entries[screw.index].record_id: screw for screw in state.screws}
    for place, (rewind, before, v_before, after, heads, verdict, past_earlier) in case["screws"].items():
        entry = held.find(place)
        stated, judged = entry.statement, by_id[entry.record_id]
        assert (stated.rewind, stated.n_before, stated.n_after) == (rewind, before, after)
        assert stated.v_before.hex() == v_before
        assert stated.v_rewind.hex() == case["view_hashes"][str(rewind)]
        assert stated.v_after.hex() == case["view_hashes"][str(after)]
        assert [held.find(head).record_id for head in heads] == list(stated.from_heads)
        assert (judged.verdict, judged.past_earlier) == (verdict, past_earlier)
        assert check_screw(entry, held.entries()) == verdict


def test_a_screw_may_rewind_past_an_earlier_one():
    held = group("three devices")
    state = reduce(held.entries())
    found = {name: [] for name in "abc"}
    for screw in state.screws:
        entry = state.graph.entries[screw.index]
        stated = entry.statement
        assert screw.verdict == "true"
        row = [entry.lamport, stated.rewind, stated.n_before, stated.n_after, screw.past_earlier]
        found[held.name(entry.log)].append(row)
    assert found == vectors()["three devices"]["screw_clocks"]


@pytest.mark.parametrize("name", having("histories"))
def test_a_history_shows_clocks_and_struck_rows_as_published(name):
    held = group(name)
    for device, expected in vectors()[name]["histories"].items():
        rows = history(held.key(device), held.entries())
        assert [shown(held, row) for row in rows] == expected.split()


def shown(held, row):
    entry = next(each for each in held.entries() if each.record_id == row.record_id)
    label = entry.body.decode() if entry.kind == "msg" else entry.kind
    if label.startswith("Message "):
        label = label.split()[1]
    return f"{label}:{row.shown_clock}{'S' if row.struck else ''}"


def test_replayed_rows_name_the_message_before():
    held = group("example")
    rows = history(held.key("phone"), held.entries())
    bodies = {entry.record_id: entry.body for entry in held.entries()}
    replayed = [row for row in rows if row.i == 1]
    assert bodies[replayed[0].previous] == b"Message 4 (phone)"
    assert [bodies[row.previous][:9].decode()[-1] for row in replayed[1:]] == ["2", "3", "5", "4", "6"]
    assert bodies[history(held.key("pc"), held.entries())[6].previous] == b"Message 7 (pc)"


@pytest.mark.parametrize("name", having("named"))
def test_named_entries_have_the_published_verdicts(name):
    held = group(name)
    state = reduce(entries(name))
    for called, (record_id, clock, verdict) in vectors()[name]["named"].items():
        entry = held.named[called]
        assert (entry.record_id.hex(), entry.lamport) == (record_id, clock)
        assert state.verdicts[entry.record_id] == verdict


@pytest.mark.parametrize("name", having("cuts"))
def test_cuts_are_the_published_ones(name):
    held = group(name)
    state = reduce(entries(name))
    found = {
        held.name(log): [cut.seq, held.name(state.graph.entries[cut.removal].log)]
        for log, cut in state.membership.cuts.items()
    }
    assert {device: found[device] for device in vectors()[name]["cuts"]} == vectors()[name]["cuts"]


def test_a_message_behind_the_cut_is_removed():
    held = group("removal")
    state = reduce(entries("removal"))
    for body, status in vectors()["removal"]["message_statuses"].items():
        assert state.message_status(state.graph.index[held.find(body).record_id]) == status


def test_a_fork_has_one_row_with_both_entries():
    held = group("fork")
    state = reduce(held.entries())
    found = [[held.name(fork.log), fork.seq, len(fork.members)] for fork in forks(state.graph)]
    assert found == vectors()["fork"]["forks"]


def test_the_first_probe_of_the_phone_finds_the_common_point():
    held, probe = group("before meeting"), vectors()["before meeting"]["probe"]
    mine, theirs = (held.devices[probe[side]].view_hashes for side in ("of", "with"))
    opener = Peer(mine).open()
    assert (opener.n, [k for k, _ in opener.points]) == (probe["n"], probe["points"])
    assert sync_point(mine, theirs) == (probe["found"], 2)


def test_the_synthetic_group_has_the_published_screws():
    state = reduce(group("synthetic").entries())
    assert len(state.screws) == vectors()["synthetic"]["screw_count"]
    assert {screw.verdict for screw in state.screws} == {"true"}
