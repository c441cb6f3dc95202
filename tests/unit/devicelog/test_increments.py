"""Device logs: stored rows and news give the rows that all entries give."""

import tracemalloc

import pytest

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.author import DeviceLog, meet, public_key, sign_entry, synthetic
from strandline.dialects.devicelog.kernels import increments
from strandline.dialects.devicelog.kernels.increments import STORED, WHOLE, grown, windows
from strandline.dialects.devicelog.kernels.reduction import reduced
from strandline.dialects.devicelog.kernels.schemas import PARTS
from strandline.dialects.devicelog.reduce.increment import grow
from strandline.dialects.devicelog.types import ScrewStatement
from support.device_rows import batches, in_windows, row_of, stored_batches, stored_parts, total
from support.laws import IS_QUICK
from support.random_devices import gossip, random_history

SEEDS = range(20 if IS_QUICK else 300)
KEYS = {
    "view": ("record_id",),
    "screw": ("record_id",),
    "tip": ("log",),
    "member": ("record_id", "log"),
    "state": (),
}


def parts_of(found):
    """Reduced rows by part and key."""
    rows = {part: {} for part in (*PARTS, WHOLE)}
    for batch in found:
        for row in batch.to_pylist():
            part = row["part"]
            value = row.get(part)
            rows[part][tuple(value[name] for name in KEYS[part]) if value else ()] = value
    return rows


def full(entries, policy="keep-both"):
    return parts_of(reduced(batches([entries], 10_000), policy=policy))


def incremental(tables, old, new, policy="keep-both"):
    """The tables after new entries; None if the group must be reduced whole."""
    first = row_of(new[0])
    of, news = (first["namespace"], first["bucket"]), list(map(row_of, new))
    parts = stored_parts({part: list(rows.values()) for part, rows in tables.items()})
    asked = list(windows(stored_batches(*of, {"tip": parts["tip"], "new": news}, 13)))
    if asked[0].column("log")[0].as_py() is None:
        return None
    held = list(map(row_of, in_windows(old, asked)))
    parts |= {"total": total(old, new), "new": news, "window": held}
    found = parts_of(grown(stored_batches(*of, parts, 13), policy=policy))
    return None if found.pop(WHOLE) else {part: tables[part] | rows for part, rows in found.items()}


def steps(entries):
    """Entries parents first, cut into a beginning and news of one to four."""
    ordered = sorted(entries, key=lambda entry: (entry.lamport, entry.seq, entry.record_id))
    at = max(1, len(ordered) // 3)
    yield ordered[:at]
    while at < len(ordered):
        size = 1 + at % 4
        yield ordered[at : at + size]
        at += size


def count_increments(entries, policy="keep-both"):
    """How many steps were increments; all end with the rows of all entries."""
    done, held, tables = 0, [], None
    for new in steps(entries):
        expected = full(held + new, policy)
        found = tables and incremental(tables, held, new, policy)
        held, tables = held + new, expected
        if found:
            done += 1
            assert found == {part: rows for part, rows in expected.items() if part != WHOLE}
    return done


@pytest.mark.large
@pytest.mark.parametrize(("forks", "least"), [(False, 0.5), (True, 0.3)])
def test_news_step_by_step_end_with_the_rows_of_all_entries(forks, least):
    done = 0
    for seed in SEEDS:
        made = random_history(seed, forks=forks)
        if not forks:
            gossip(made)
        done += count_increments(made.entries(), ("keep-both", "freeze")[seed % 2])
    assert done > least * len(SEEDS)


@pytest.mark.large
def test_most_news_of_devices_that_meet_are_increments():
    for number, (logs, every) in enumerate([(2, 3), (3, 5), (5, 7)]):
        entries = {
            each.record_id: each for log in synthetic(number, logs, 60, every) for each in log.entries()
        }
        assert count_increments(entries.values()) > 10


def three():
    """Devices that have seen everything of each other, so that all rows are final."""
    seeds = [bytes([number]) * 32 for number in (1, 2, 3)]
    first = DeviceLog.found(seeds[0], "a", [public_key(seed) for seed in seeds[1:]])
    others = [DeviceLog.join(seed, "b", first.entries(), first.group, 0) for seed in seeds[1:]]
    devices = [first, *others]
    for number, log in enumerate(devices):
        log.append(b"%d" % number, number)
    for _ in range(2):
        meet_all(devices)
        for log in devices:
            log.ack(9)
    meet_all(devices)
    assert first.state().final_length == 3
    return devices


def meet_all(devices):
    for one, two in [(0, 1), (1, 2), (0, 2), (0, 1)]:
        meet(devices[one], devices[two], 8)


def is_increment(old, log):
    """Whether what a device wrote since is an increment; then it has the rows of all entries."""
    new = [entry for entry in log.entries() if entry not in old]
    found = incremental(full(old), old, new)
    if found is not None:
        expected = full([*old, *new])
        assert found == {part: rows for part, rows in expected.items() if part != WHOLE}
    return found is not None


def write(log):
    log.append(b"new", 20)


def rewind(log, to):
    tip = log.entries()[-1]
    hashes = log.view_hashes
    screw = ScrewStatement(to, hashes[to], 3, hashes[3], 3, hashes[3], (tip.record_id,))
    made = sign_entry(
        Ed25519Key(bytes([3]) * 32), "screw", screw, group=log.group, seq=tip.seq + 1, lamport=tip.lamport + 1, utc=20,
        prev=tip.record_id,
    )  # fmt: skip
    log.merge([made])


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (write, True),
        (lambda log: log.ack(20), True),
        (lambda log: log.add_log(public_key(bytes(32)), 20), False),
        (lambda log: log.remove_log(log.key, 20), False),
        (lambda log: rewind(log, 2), False),
    ],
    ids=["a message", "an ack", "an admission", "a removal", "a screw that rewinds a final row"],
)
def test_only_what_extends_the_end_of_a_view_is_an_increment(what, expected):
    log = three()[2]
    # The newest entry that it knows is its own.
    log.ack(10)
    old = log.entries()
    what(log)
    assert is_increment(old, log) is expected


def test_a_device_that_has_not_seen_a_removal_makes_no_increment_and_one_that_has_not_seen_an_admission_does():
    for act, expected in (("add", True), ("remove", False)):
        first, second, third = three()
        if act == "add":
            first.add_log(public_key(bytes(32)), 20)
        else:
            first.remove_log(third.key, 20)
        old = (*second.entries(), *(entry for entry in first.entries() if entry not in second.entries()))
        write(second)
        new = second.entries()[-1]
        found = incremental(full(old), old, [new])
        assert (found is not None) is expected


def news_and_what_names_them(what):
    """The entries of a group, a message, and an entry that names it."""
    first, second, third = three()
    grant = first.add_log(public_key(bytes(32)), 20)
    meet_all([first, second, third])
    old = [*first.entries()]
    write(first)
    new = first.entries()[-1]
    meet(first, second, 20)
    if what == "in a log with a tip":
        return old, new, second.add_log(public_key(bytes([9]) * 32), 20)
    if what == "in a new log":
        return old, new, DeviceLog.join(bytes(32), "d", second.entries(), grant.record_id, 20).entries()[-1]
    other = next(entry for entry in old if entry.log == third.key and entry.seq == 1)
    twin = sign_entry(
        Ed25519Key(bytes([3]) * 32), "msg", b"twin", group=first.group, seq=1, lamport=new.lamport + 1, utc=20,
        prev=other.prev, deps=[new.record_id],
    )  # fmt: skip
    return old, new, twin


@pytest.mark.parametrize("what", ["in a log with a tip", "in a new log", "beside an older one"])
def test_a_group_with_entries_that_neither_its_state_nor_the_news_have_is_reduced_whole(what):
    """While the first of two entries was away, the group was refused: its state stayed. Then this one comes again."""
    old, new, unread = news_and_what_names_them(what)
    assert incremental(full(old), old, [new]) is not None
    assert incremental(full(old), [*old, unread], [new]) is None


def test_a_group_that_lost_an_entry_of_its_state_is_reduced_whole():
    log = three()[0]
    old = log.entries()
    write(log)
    assert incremental(full(old), old[:1] + old[2:], [log.entries()[-1]]) is None


def test_the_first_final_rows_of_a_group_and_too_many_pasts_are_reduced_whole(monkeypatch):
    seed = bytes([2]) * 32
    first = DeviceLog.found(bytes([1]) * 32, "a", [public_key(seed)])
    second = DeviceLog.join(seed, "b", first.entries(), first.group, 0)
    first.append(b"1", 1)
    first.merge(second.entries(), utc=2)
    old = first.entries()
    assert first.state().final_length == 0
    write(first)
    assert is_increment(old, first)
    second.merge(first.entries(), utc=3)
    old = second.entries()
    second.ack(4)
    assert second.state().final_length > 0
    assert not is_increment(old, second)
    log = three()[0]
    old = log.entries()
    write(log)
    assert is_increment(old, log)
    monkeypatch.setattr(grow, "MAX_BOUNDS", 5)
    assert not is_increment(old, log)


def test_a_group_whose_stored_tips_have_too_many_values_is_reduced_whole(monkeypatch):
    log = three()[0]
    old = log.entries()
    write(log)
    # Three tips, each with pasts and bounds of three branches.
    monkeypatch.setattr(increments, "MAX_STORED", 18)
    assert is_increment(old, log)
    monkeypatch.setattr(increments, "MAX_STORED", 17)
    assert not is_increment(old, log)


@pytest.mark.large
def test_the_memory_of_stored_tips_does_not_grow_with_their_number(monkeypatch):
    monkeypatch.setattr(increments, "MAX_STORED", 10_000)
    bounds = [{"branch": bytes([number]) * 32, "seq": 1_000} for number in range(50)]
    values = dict.fromkeys(STORED["tip"]) | {
        "past": bounds,
        "bounds": bounds,
        "forked": False,
        "waited": True,
    }

    def most(count):
        tips = [values | {"log": number.to_bytes(32), "record_id": bytes(32)} for number in range(count)]
        given = list(stored_batches("group:" + bytes(32).hex(), 0, {"tip": tips}))
        tracemalloc.start()
        try:
            [asked] = windows(given)
            assert asked.column("log").to_pylist() == [None]
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert most(1_600) < 1.2 * most(400)
