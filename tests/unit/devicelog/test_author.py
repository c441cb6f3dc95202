"""Device logs: writing without Spark, what is refused, and what a device does alone."""

import doctest

import pytest

from strandline.core.ed25519 import Ed25519Key, verify_ed25519
from strandline.dialects.devicelog import author
from strandline.dialects.devicelog.author import DeviceLog, meet, public_key, sign_entry
from strandline.dialects.devicelog.author import log as log_module
from strandline.dialects.devicelog.author import messages as messages_module
from strandline.dialects.devicelog.codec import read_entry, write_entry
from strandline.dialects.devicelog.reduce import Found, Peer, Probe, history, parse_message, reduce, sync
from strandline.dialects.devicelog.types import KeyStatement

A, B, C, D = (bytes([number]) * 32 for number in (1, 2, 3, 4))


def pair():
    """Two devices of a group: the second joined when the first had written nothing."""
    first = DeviceLog.found(A, "a", [public_key(B)])
    return first, DeviceLog.join(B, "b", first.entries(), first.group, 0)


@pytest.mark.parametrize("module", [log_module, messages_module, sync])
def test_the_examples_in_docstrings_are_true(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


def test_what_is_written_is_read_and_verified():
    first, second = pair()
    first.append(b"\x00\xff", 5)
    second.add_log(public_key(C), 6)
    second.remove_log(public_key(C), 7)
    second.append(b"x", 8)
    meet(first, second, 9)
    assert {entry.kind for entry in first.entries()} >= {"key", "msg", "add-log", "remove-log"}
    for entry in first.entries():
        assert read_entry(write_entry(entry)) == entry
        assert verify_ed25519(entry.log, entry.record_id, entry.sig)


def refused(call):
    with pytest.raises(ValueError, match=r"."):
        call()


def test_wrong_arguments_are_refused():
    first, second = pair()
    founder = first.entries()[0]
    refused(lambda: DeviceLog.found(b"short", "a"))
    refused(lambda: DeviceLog.found(A, "line\nbreak"))
    refused(lambda: DeviceLog.found(A, "a", [public_key(A)]))
    refused(lambda: DeviceLog.found(A, "a", [public_key(B)] * 2))
    refused(lambda: first.append(b"", -1))
    refused(lambda: first.append(b"", 1.5))
    refused(lambda: first.append(bytes(262_145), 0))
    refused(lambda: first.add_log(b"short", 0))
    refused(lambda: first.remove_log(second.key, 0, last=founder.record_id))
    refused(lambda: first.remove_log(second.key, 0, last=bytes(32)))
    refused(lambda: first.merge(DeviceLog.found(C, "other").entries()))
    refused(lambda: DeviceLog.join(C, "c", first.entries(), first.group, 0))
    refused(lambda: DeviceLog.join(C, "c", first.entries(), bytes(32), 0))
    assert len(first.entries()) == 1


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("seq", 0, 2**53 - 1), ("lamport", -1, 2**53 - 1), ("utc", 0, 253_402_300_799_999)],
)
def test_only_numbers_that_a_reader_takes_are_signed(name, least, most):
    given = {"group": bytes(32), "seq": 1, "lamport": 1, "utc": 1, "prev": bytes(32)}
    assert getattr(sign_entry(Ed25519Key(A), "ack", b"", **(given | {name: least})), name) == least
    greatest = sign_entry(Ed25519Key(A), "ack", b"", **(given | {name: most}))
    assert read_entry(write_entry(greatest)) == greatest
    for bad in (least - 1, most + 1, 1.0, 1.5, True, "1", None):
        with pytest.raises(ValueError, match=name):
            sign_entry(Ed25519Key(A), "ack", b"", **(given | {name: bad}))


def test_a_key_is_admitted_and_joins_only_once():
    first, second = pair()
    refused(lambda: first.add_log(second.key, 0))
    refused(lambda: first.add_log(first.key, 0))
    refused(lambda: DeviceLog.join(B, "b", second.entries(), first.group, 0))


def test_a_log_joins_on_its_least_grant():
    first, second = pair()
    early, late = first.add_log(public_key(C), 1), second.add_log(public_key(C), 2)
    entries = [*first.entries(), *second.entries()]
    least, other = sorted([early, late], key=lambda each: (each.lamport, each.utc, each.record_id))
    refused(lambda: DeviceLog.join(C, "c", entries, other.record_id, 3))
    assert DeviceLog.join(C, "c", entries, least.record_id, 3).state().statuses[public_key(C)] == "active"


def test_an_entry_whose_parents_are_missing_waits_for_them():
    first, second = pair()
    entries = [second.append(b"%d" % number, number) for number in range(3)]
    start = next(entry for entry in second.entries() if entry.log == second.key)
    assert first.merge(entries[1:], utc=9) == "same"
    assert first.merge([entries[0]], utc=9) == "same"
    assert first.merge([start], utc=9) == "forward"
    assert [entry.body for entry in first.messages()] == [b"0", b"1", b"2"]
    assert first.merge(entries, utc=9) == "same"


def test_a_removal_waits_for_the_last_entry_that_it_names():
    first, second = pair()
    last = second.append(b"x", 1)
    first.merge(second.entries(), utc=2)
    removal = first.remove_log(second.key, 3)
    third = DeviceLog.found(A, "a", [public_key(B)])
    assert third.merge([removal], utc=4) == "same"
    assert removal.record_id not in {entry.record_id for entry in third.entries()}
    third.merge(second.entries(), utc=5)
    assert {last.record_id, removal.record_id} <= {entry.record_id for entry in third.entries()}


def again():
    """The first device of a pair, started again from its seed."""
    return DeviceLog.found(A, "a", [public_key(B)])


def test_a_device_that_starts_again_follows_its_newest_entry():
    first, second = pair()
    bread = first.append(b"bread", 1)
    meet(first, second, 2)
    first = again()
    assert first.merge(second.entries(), utc=3) == "forward"
    milk = first.append(b"milk", 4)
    assert (milk.seq, milk.prev) == (bread.seq + 1, bread.record_id)
    state = first.state()
    assert (state.forked, [entry.body for entry in first.messages()]) == (frozenset(), [b"bread", b"milk"])


def test_what_a_device_had_not_seen_before_it_started_again_is_followed_by_a_true_screw():
    first, second = pair()
    first.append(b"bread", 1)
    butter = first.append(b"butter", 3)
    early = second.append(b"early", 1)
    entries = [*first.entries(), *second.entries()]
    first = again()
    assert first.merge(entries, second.view_hashes, utc=4) == "screw"
    assert first.view[1:] == (early.record_id, butter.record_id)
    [*_, screw] = first.entries()
    assert (screw.kind, screw.prev, screw.statement.rewind) == ("screw", butter.record_id, 1)
    assert first.state().verdicts == {screw.record_id: "true"}
    assert not first.state().forked


def test_rows_that_were_shown_before_own_entries_came_back_move_without_a_screw():
    first, second = pair()
    butter, late = first.append(b"butter", 1), second.append(b"late", 9)
    first = again()
    assert first.merge(second.entries(), utc=10) == "forward"
    assert first.merge([butter], utc=11) == "resumed"
    assert first.view == (butter.record_id, late.record_id)
    assert {entry.kind for entry in first.entries()} == {"key", "msg"}
    first.append(b"x", 12)
    assert [row.struck for row in history(first.key, first.entries())] == [False] * 3


def test_a_log_that_was_continued_elsewhere_ends_the_fork_by_leaving():
    first, second = pair()
    backup = again()
    kept, lost = first.append(b"kept", 1), backup.append(b"lost", 2)
    with pytest.raises(ValueError, match="continued elsewhere"):
        first.merge([lost], utc=3)
    assert first.view == (kept.record_id, lost.record_id)
    leaving = first.remove_log(first.key, 4)
    assert first.view == (kept.record_id,)
    assert first.entries()[-1] == leaving
    second.merge(first.entries(), utc=5)
    assert second.state().verdicts == {leaving.record_id: "effective"}


def test_a_screw_of_before_is_not_written_again():
    first, second = pair()
    first.append(b"1", 5)
    first.append(b"2", 5)
    second.append(b"3", 1)
    assert first.merge(second.entries(), utc=6) == "screw"
    backup = again()
    assert backup.merge(first.entries(), utc=7) == "forward"
    assert {*backup.entries()} == {*first.entries()}
    assert backup.append(b"4", 8) == first.append(b"4", 8)


def test_a_log_that_was_continued_elsewhere_accepts_entries_and_writes_none():
    first, second = pair()
    first.append(b"bread", 1)
    meet(first, second, 2)
    first = again()
    first.append(b"milk", 3)
    eggs = second.append(b"eggs", 4)
    with pytest.raises(ValueError, match="continued elsewhere"):
        first.merge(second.entries(), utc=5)
    assert first.merge(second.entries(), utc=5) == "same"
    assert [entry.body for entry in first.messages()] == [b"bread", b"milk", b"eggs"]
    assert eggs in first.entries()
    known = first.entries()
    for write in (
        lambda: first.append(b"x", 6), lambda: first.ack(6), lambda: first.add_log(public_key(C), 6)
    ):  # fmt: skip
        with pytest.raises(ValueError, match="continued elsewhere"):
            write()
    assert first.entries() == known
    assert {entry.kind for entry in known if entry.log == first.key} == {"key", "msg"}
    start = DeviceLog.found(A, "another label", [public_key(B)])
    refused(lambda: start.merge(second.entries()))


@pytest.mark.parametrize("forked_first", [False, True])
def test_a_senior_learns_of_a_fork_from_the_device_whose_log_forked(forked_first):
    first, second = pair()
    copy = DeviceLog.join(B, "b", first.entries(), first.group, 0)
    second.append(b"1", 1)
    copy.append(b"2", 2)
    with pytest.raises(ValueError, match="continued elsewhere"):
        second.merge(copy.entries(), utc=3)
    news = first.append(b"3", 4)
    both = (second, first) if forked_first else (first, second)
    with pytest.raises(ValueError, match="continued elsewhere"):
        meet(*both, utc=5)
    assert first.state().forked == {second.key}
    assert news in second.entries()
    assert meet(*both, utc=6) == ("same", "same")
    assert {*first.entries()} == {*second.entries()}


def test_nothing_is_written_while_entries_of_the_own_log_wait():
    first, second = pair()
    egg = second.append(b"egg", 1)
    first.merge(second.entries(), utc=2)
    bread = first.append(b"bread", 3)
    first = again()
    assert first.merge([bread], utc=4) == "same"
    with pytest.raises(ValueError, match="wait"):
        first.append(b"milk", 5)
    assert first.merge([*second.entries(), egg], utc=6) == "forward"
    assert first.append(b"milk", 7).prev == bread.record_id


def others_of(first):
    """Three devices that joined the group of a first one: one wrote `egg`, one `late` and one `early`."""
    devices = [DeviceLog.join(seed, "x", first.entries(), first.group, 0) for seed in (B, C, D)]
    for device, body, utc in zip(devices, (b"egg", b"late", b"early"), (1, 9, 1), strict=True):
        device.append(body, utc)
    return devices


def test_no_row_moves_without_a_screw_while_entries_of_the_own_log_wait():
    def found():
        return DeviceLog.found(A, "a", [public_key(seed) for seed in (B, C, D)])

    first = found()
    egg, late, early = others_of(first)
    first.merge(egg.entries(), utc=2)
    bread = first.append(b"bread", 3)
    first = found()
    assert [first.merge(each, utc=4) for each in ([bread], late.entries(), early.entries())] == ["same"] * 3
    assert not first.view
    first.merge(egg.entries(), utc=5)
    assert len(first.view) == 4
    [screw] = (entry for entry in first.entries() if entry.kind == "screw")
    assert (screw.prev, first.state().verdicts[screw.record_id]) == (bread.record_id, "true")
    [*shown] = (row.record_id for row in history(first.key, first.entries()) if not row.struck)
    assert [each for each in shown if each != screw.record_id] == [*first.view]


def test_a_merge_at_a_time_that_no_screw_can_have_accepts_nothing():
    first, second = pair()
    start, late, early = first.append(b"start", 2), first.append(b"late", 2), second.append(b"early", 1)
    for utc in (1.5, -1):
        with pytest.raises(ValueError, match="utc"):
            first.merge(second.entries(), utc=utc)
    assert first.view == (start.record_id, late.record_id)
    assert first.merge(second.entries(), utc=3) == "screw"
    assert first.view == (start.record_id, early.record_id, late.record_id)


def test_a_removal_that_reorders_its_authors_own_view_is_followed_by_a_true_screw():
    first = DeviceLog.found(A, "a", [public_key(B)])
    many = list(heads_of_many(first, 2))
    first.merge(many, utc=3)
    first.append(b"mine", 4)
    before = first.view
    removal = first.remove_log(public_key(B), 5, last=many[2].record_id)
    screw = first.entries()[-1]
    assert before == (many[1].record_id, many[2].record_id, before[2])
    assert first.view == (many[2].record_id, before[2])
    assert (screw.kind, screw.prev) == ("screw", removal.record_id)
    assert removal.prev in screw.statement.from_heads
    assert first.state().verdicts == {removal.record_id: "effective", screw.record_id: "true"}


def test_a_device_shows_both_branches_of_a_fork_that_reaches_it_later():
    first, second = pair()
    first.merge(second.entries())
    key, start = Ed25519Key(B), second.entries()[-1]
    for content, shown in ((b"1", 1), (b"2", 2)):
        child = sign_entry(
            key, "msg", content, group=start.group, seq=1, lamport=start.lamport + 1, utc=0, prev=start.record_id
        )  # fmt: skip
        first.merge([child])
        assert (len(first.view), first.view) == (shown, first.state().view)


def test_a_device_that_leaves_keeps_its_messages():
    first, second = pair()
    second.append(b"x", 1)
    leaving = second.remove_log(second.key, 2)
    second.append(b"after", 3)
    first.merge(second.entries(), utc=4)
    state = first.state()
    assert [entry.body for entry in first.messages()] == [b"x"]
    assert state.statuses[second.key] == "removed"
    assert state.verdicts[leaving.record_id] == "effective"
    refused(lambda: first.add_log(second.key, 5))


def test_a_device_without_a_place_in_the_group_writes_no_screw():
    first, second = pair()
    second.append(b"x", 1)
    first.remove_log(second.key, 2)
    first.append(b"y", 3)
    assert second.merge(first.entries(), utc=4) == "removed"
    assert {entry.kind for entry in second.entries() if entry.log == second.key} == {"key", "msg"}


def heads_of_many(first, count):
    """Entries of a log that forks `count` times after its first one: so many heads."""
    key = Ed25519Key(B)
    founder = first.entries()[0]
    start = sign_entry(
        key, "key", KeyStatement("b"), group=first.group, seq=0, lamport=0, utc=0, prev=None,
        deps=[founder.record_id],
    )  # fmt: skip
    yield start
    for number in range(count):
        yield sign_entry(
            key, "msg", b"%d" % number, group=first.group, seq=1, lamport=1, utc=number, prev=start.record_id
        )


@pytest.mark.large
def test_more_heads_than_an_entry_can_name_are_acknowledged_in_parts():
    first = DeviceLog.found(A, "a", [public_key(B)])
    for number in range(5):
        first.append(b"mine %d" % number, 10_000 + number)
    many = list(heads_of_many(first, 2500))
    assert first.merge(many, utc=20_000) == "screw"
    first.append(b"last", 20_001)
    state = first.state()
    assert all(len(entry.deps) <= 1024 for entry in first.entries())
    assert {screw.verdict for screw in state.screws} == {"true"}
    assert len(state.view) == 2500 + 6
    tip = state.graph.tips(first.key)[0]
    assert all(state.graph.reaches(tip, index) for index in range(len(state.graph.entries)))


def test_messages_of_the_search_are_json_and_others_are_refused():
    probe = Peer([bytes(32), b"\x01" * 32]).open()
    for message in (probe, Found(3), Probe(0, 0, 1, ())):
        assert parse_message(message.to_json()) == message
    good = probe.to_json()
    for bad in (
        None, [], {}, {"t": "found"}, {"t": "found", "k": -1}, {"t": "found", "k": True}, {**good, "t": "found"},
        {**good, "more": 1}, {**good, "n": 1.0}, {**good, "lo": -1}, {**good, "points": [[1]]},
        {**good, "points": [[1, "x"]]}, {**good, "points": [[2**53, "00" * 32]]}, {**good, "points": {}},
        {**good, "points": [[1, "00" * 32]] * 65},
    ):  # fmt: skip
        assert parse_message(bad) is None


def test_a_lying_peer_gets_an_answer_within_the_view():
    peer = Peer([bytes(32), b"\x01" * 32])
    for probe in (Probe(9, 9, 2, ()), Probe(0, 0, 0, ()), Probe(2**53 - 1, 2**53 - 1, 2**53 - 1, ())):
        answer = peer.answer(probe)
        assert isinstance(answer, Found)
        assert 0 <= answer.k <= 1


def test_a_set_of_entries_that_is_not_whole_is_refused():
    first, second = pair()
    refused(lambda: reduce([]))
    refused(lambda: reduce(second.entries()[1:]))
    refused(lambda: reduce([*first.entries(), *DeviceLog.found(C, "other").entries()]))
    refused(lambda: reduce(first.entries(), "none"))


def test_the_package_names_what_it_offers():
    assert all(hasattr(author, name) for name in author.__all__)
