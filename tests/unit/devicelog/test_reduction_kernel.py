"""Device logs: the kernel that reduces rows, wherever batches are cut, and what checking screws costs."""

import random
from itertools import pairwise

import pytest

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.author import DeviceLog, public_key, sign_entry, synthetic
from strandline.dialects.devicelog.kernels.headers import by_namespace
from strandline.dialects.devicelog.kernels.reduced_rows import MAX_BOUNDS
from strandline.dialects.devicelog.kernels.reduction import LOST, reduced, reduced_or_lost
from strandline.dialects.devicelog.kernels.schemas import PARTS
from strandline.dialects.devicelog.reduce import (
    Memberships,
    MissingEntryError,
    View,
    empty_view_hash,
    history,
    key_of,
    prefix_hashes,
    reduce,
)
from strandline.dialects.devicelog.reduce.membership import pasts
from strandline.dialects.devicelog.reduce.screws import judged_screws
from strandline.dialects.devicelog.reduce.view_hashes import ViewHashes
from strandline.dialects.devicelog.reduce.whole import whole_of
from strandline.dialects.devicelog.types import AddStatement, KeyStatement, RemoveStatement, ScrewStatement
from support.device_groups import group
from support.device_rows import batches
from support.random_devices import random_history


@pytest.fixture(scope="module")
def groups():
    made = [random_history(seed).entries() for seed in range(12)]
    return [*made, group("example").entries()]


def rows_of(found):
    return [row for batch in found for row in batch.to_pylist()]


@pytest.mark.large
def test_headers_are_those_of_the_entries(groups):
    for found, entries in zip(by_namespace(batches(groups, 7)), groups, strict=True):
        assert found.namespace == entries[0].namespace
        for header, entry in zip(found.headers, entries, strict=True):
            assert all(getattr(header, name) == getattr(entry, name) for name in header.__slots__)


def test_an_id_is_one_object_however_many_entries_of_its_group_name_it(groups):
    count = 0
    for found in by_namespace(batches(groups, 7)):
        held = {}
        for header in found.headers:
            heads = header.statement.from_heads if isinstance(header.statement, ScrewStatement) else ()
            named = [header.record_id, *filter(None, [header.prev]), *header.deps, *heads]
            assert all(held.setdefault(each, each) is each for each in named)
            count += len(heads)
    assert count > 10


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_batch_may_end_anywhere(groups, size):
    whole = rows_of(reduced(batches(groups, 10_000), policy="keep-both"))
    assert rows_of(reduced(batches(groups, size), policy="keep-both")) == whole
    assert {row["namespace"] for row in whole} == {entries[0].namespace for entries in groups}
    for row in whole:
        assert [part for part in PARTS if row[part] is not None] == [row["part"]]


def test_the_policy_of_the_lake_decides_the_state(groups):
    for policy in ("keep-both", "freeze"):
        found = [
            row for row in rows_of(reduced(batches(groups, 50), policy=policy)) if row["part"] == "state"
        ]
        assert [row["state"]["state_hash"] for row in found] == [
            reduce(each, policy).state_hash for each in groups
        ]
        assert [row["state"]["record_count"] for row in found] == list(map(len, groups))


def test_a_group_that_lacks_an_entry_is_named_and_others_are_reduced(groups):
    named = {dep for entry in groups[1] for dep in entry.deps}
    lacking = [groups[0], [each for each in groups[1] if each.record_id != min(named)], groups[2]]
    assert len(lacking[1]) == len(groups[1]) - 1
    found = rows_of(reduced_or_lost(batches(lacking, 50), policy="keep-both"))
    assert [row["namespace"] for row in found if row["part"] == LOST] == [groups[1][0].namespace]
    assert [row for row in found if row["part"] != LOST] == rows_of(
        reduced(batches([groups[0], groups[2]], 50), policy="keep-both")
    )
    with pytest.raises(MissingEntryError, match=r"the entry [0-9a-f]{64} of a device log is missing"):
        rows_of(reduced(batches(lacking, 50), policy="keep-both"))


def start_of(seed, grant):
    return sign_entry(
        Ed25519Key(seed), "key", KeyStatement("x"), group=grant.group, seq=0, lamport=grant.lamport + 1, utc=0,
        prev=None, deps=[grant.record_id],
    )  # fmt: skip


@pytest.mark.large
def test_a_past_of_too_many_branches_is_null():
    seeds = [number.to_bytes(32, "big") for number in range(1, MAX_BOUNDS + 2)]
    first = DeviceLog.found(seeds[0], "0", [public_key(seed) for seed in seeds[1:-1]])
    grant = first.add_log(public_key(seeds[-1]), 0)
    founder = first.entries()[0]
    others = [start_of(seed, founder) for seed in seeds[1:-1]]
    for joins, is_null in ((others, False), ([start_of(seeds[-1], grant)], True)):
        first.merge(joins)
        first.ack(2)
        rows = rows_of(reduced(batches([first.entries()], 10_000), policy="keep-both"))
        [tip] = [row["tip"] for row in rows if row["part"] == "tip" and row["tip"]["log"] == first.key]
        assert (tip["past"] is None, tip["bounds"] is None) == (is_null, is_null)


def test_checking_the_screws_of_a_log_costs_what_it_replayed():
    devices = synthetic(0, 2, 400, 10)
    state = reduce([entry for log in devices for entry in log.entries()])
    whole = state.whole
    for log in state.statuses:
        own = [facts for facts in whole.screws if state.graph.entries[facts.index].log == log]
        views = ViewHashes(state.graph.branches, empty_view_hash(state.group))
        part = type(whole)(state.graph, tuple(own))
        screws = list(judged_screws(part, Memberships(state.graph), views))
        stated = [state.graph.entries[screw.index].statement for screw in screws]
        assert len(stated) > 10
        assert {screw.verdict for screw in screws} == {"true"}
        replayed = sum(each.n_after - each.rewind for each in stated)
        added = sum(after.n_before - before.n_after for before, after in pairwise(stated))
        assert views.steps <= stated[0].n_before + replayed + added


MESSAGES, SCREWS = 60, 40


@pytest.mark.parametrize(
    ("changed", "verdict", "steps"),
    [
        ({"n_before": 2}, "SCREW_BEFORE", 0),
        ({"n_after": 2}, "SCREW_AFTER", 1),
        ({"v_before": bytes(32)}, "SCREW_BEFORE", 1),
        ({"v_after": bytes(32)}, "SCREW_AFTER", MESSAGES + 2),
        ({"v_rewind": bytes(32)}, "SCREW_REWIND", MESSAGES + 2),
        ({}, "true", MESSAGES + 2),
    ],
    ids=["numbers before", "numbers after", "hashes before", "hashes after", "hashes of rewinds", "nothing"],
)
@pytest.mark.parametrize("seen", ["all", "some"])
def test_screws_that_fork_a_log_cost_one_view_whatever_is_wrong_with_them(changed, verdict, steps, seen):
    chance = random.Random(7)
    log = DeviceLog.found(b"a" * 32, "a", [public_key(b"b" * 32)])
    for utc in range(MESSAGES):
        log.append(b"x", utc)
    messages = [*log.messages()]
    start = start_of(b"b" * 32, log.entries()[0])
    own = after(start, "msg", b"y", seed=b"b" * 32)
    alone = prefix_hashes(own.group, [own.record_id])
    screws = []
    for _ in range(SCREWS):
        newest = chance.randrange(4, MESSAGES) if seen == "some" else MESSAGES - 1
        rows = sorted([own, *messages[: newest + 1]], key=key_of)
        ends = prefix_hashes(own.group, [each.record_id for each in rows])
        values = {
            "rewind": 0, "v_rewind": ends[0], "n_before": 1, "v_before": alone[-1], "n_after": len(rows),
            "v_after": ends[-1], "from_heads": (own.record_id,),
        }  # fmt: skip
        statement = ScrewStatement(**values | changed)
        screws.append(after(own, "screw", statement, seed=b"b" * 32, utc=len(screws), dep=messages[newest]))
    whole = whole_of([*log.entries(), start, own, *screws])
    views = ViewHashes(whole.graph.branches, empty_view_hash(own.group))
    judged = [*judged_screws(whole, Memberships(whole.graph), views)]
    assert [screw.verdict for screw in judged] == [verdict] * SCREWS
    assert views.steps <= steps


def test_a_history_copies_no_view_for_a_screw(monkeypatch):
    devices = synthetic(0, 2, 200, 10)
    entries = [entry for log in devices for entry in log.entries()]
    monkeypatch.delattr(View, "ids")
    shown = history(devices[0].key, entries)
    assert sum(row.position is None for row in shown) > 5
    assert sum(not row.struck for row in shown if row.position is not None) == 200


def test_a_member_that_admits_and_rewinds_in_turn_is_settled_once(monkeypatch):
    log = DeviceLog.found(b"a" * 32, "a")
    held = [*log.entries()]
    for number in range(30):
        admits = after(held[-1], "add-log", AddStatement(public_key(number.to_bytes(32, "big"))))
        removes = after(admits, "remove-log", RemoveStatement(public_key(bytes([number + 1]) * 32), -1, None))
        screw = ScrewStatement(0, bytes(32), 1, bytes(32), 0, bytes(32), (admits.record_id,))
        held += [admits, removes, after(removes, "screw", screw)]
    settled = []
    made = pasts.PastMembership
    monkeypatch.setattr(pasts, "PastMembership", lambda *given: settled.append(given) or made(*given))
    state = reduce(held)
    assert {screw.verdict for screw in state.screws} == {"SCREW_BEFORE"}
    assert len(settled) == 1


def after(prev, kind, statement, *, seed=b"a" * 32, utc=0, dep=None):
    lamport = 1 + max(prev.lamport, -1 if dep is None else dep.lamport)
    return sign_entry(
        Ed25519Key(seed), kind, statement, group=prev.group, seq=prev.seq + 1, lamport=lamport, utc=utc,
        prev=prev.record_id, deps=[] if dep is None else [dep.record_id],
    )  # fmt: skip
