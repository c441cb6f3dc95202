"""Device logs: what an attacker, a thief or a restored backup can do to a group, and what it cannot."""

import pytest

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.author import DeviceLog, meet, public_key, sign_entry
from strandline.dialects.devicelog.kernels.reduced_rows import tip_rows
from strandline.dialects.devicelog.reduce import forks, reduce
from strandline.dialects.devicelog.types import AddStatement, KeyStatement, RemoveStatement
from support.devicelog_cases import Log

A, B, C, D = (bytes([number]) * 32 for number in (1, 2, 3, 4))
KEY_A, KEY_B, KEY_C, KEY_D = map(public_key, (A, B, C, D))


def after(seed, prev, kind, body, utc, deps=()):
    """An entry after `prev` with the right clock, whoever may write it."""
    clock = 1 + max([prev.lamport, *(dep.lamport for dep in deps)])
    return sign_entry(
        Ed25519Key(seed), kind, body, group=prev.group, seq=prev.seq + 1, lamport=clock, utc=utc,
        prev=prev.record_id, deps=[dep.record_id for dep in deps],
    )  # fmt: skip


def starting(seed, grant, utc=0):
    """The first entry of a log on a grant."""
    return sign_entry(
        Ed25519Key(seed), "key", KeyStatement("again"), group=grant.group, seq=0, lamport=grant.lamport + 1, utc=utc,
        prev=None, deps=[grant.record_id],
    )  # fmt: skip


def removing(key, last):
    return RemoveStatement(key, last.seq, last.record_id)


def trio():
    """a founded the group and admitted b, then c; each has written one message, and everybody has seen it."""
    a = DeviceLog.found(A, "a", [KEY_B, KEY_C])
    b = DeviceLog.join(B, "b", a.entries(), a.group, 0)
    c = DeviceLog.join(C, "c", a.entries(), a.group, 0)
    for utc, log in enumerate((a, b, c), start=1):
        log.append(log.key[:1], utc)
    for _ in range(2):
        for one, other in ((a, b), (b, c), (a, c)):
            meet(one, other, 9)
    for log in (a, b, c):
        log.ack(10)
    for _ in range(2):
        for one, other in ((a, b), (b, c), (a, c)):
            meet(one, other, 11)
    return a, b, c


def own(log):
    return [entry for entry in log.entries() if entry.log == log.key]


def statuses(state, entries):
    return [state.message_status(state.graph.index[entry.record_id]) for entry in entries]


def test_everything_is_final_when_everybody_has_seen_it():
    a, _, _ = trio()
    state = a.state()
    assert state.final_length == len(state.view) == 3


def test_two_entries_at_one_place_are_both_shown_and_nothing_is_final():
    a, b, _ = trio()
    newest = own(b)[-1]
    twins = [after(B, newest, "msg", body, 20) for body in (b"one", b"other")]
    entries = [*a.entries(), *twins]
    state = reduce(entries)
    assert state.forked == {KEY_B}
    assert {twin.record_id for twin in twins} <= set(state.view)
    assert state.final_length == 0
    frozen = reduce(entries, "freeze")
    assert statuses(frozen, twins) == ["disputed", "disputed"]
    assert frozen.view == a.state().view


def test_a_senior_that_removes_a_forked_log_at_one_branch_makes_rows_final_again():
    a, b, c = trio()
    twins = [after(B, own(b)[-1], "msg", body, 20) for body in (b"one", b"other")]
    a.merge(twins, utc=21)
    a.remove_log(KEY_B, 22, last=twins[1].record_id)
    c.merge(a.entries(), utc=23)
    c.ack(24)
    a.merge(c.entries(), utc=25)
    a.ack(26)
    state = a.state()
    assert statuses(state, twins) == ["removed", "effective"]
    assert state.final_length == len(state.view)
    frozen = reduce(a.entries(), "freeze")
    assert statuses(frozen, twins) == ["removed", "effective"]


def test_a_removed_device_goes_on_in_vain_and_logs_that_it_admits_are_void():
    a, b, _ = trio()
    a.remove_log(KEY_B, 20)
    message = b.append(b"still here", 0)
    grant = b.add_log(KEY_D, 0)
    start = starting(D, grant)
    said = after(D, start, "msg", b"hello", 0)
    state = reduce([*a.entries(), *b.entries(), start, said])
    assert statuses(state, [message, said]) == ["removed", "void"]
    assert (state.statuses[KEY_B], state.statuses[KEY_D]) == ("removed", "void")


def test_a_removed_device_can_remove_neither_a_senior_nor_a_junior():
    a, b, _ = trio()
    a.remove_log(KEY_B, 20)
    seen = {log: max((e for e in b.entries() if e.log == log), key=lambda e: e.seq) for log in (KEY_A, KEY_C)}
    senior = after(B, own(b)[-1], "remove-log", removing(KEY_A, seen[KEY_A]), 0, [seen[KEY_A], seen[KEY_C]])
    junior = after(B, senior, "remove-log", removing(KEY_C, seen[KEY_C]), 0)
    state = reduce([*a.entries(), senior, junior])
    assert state.verdicts[senior.record_id] == "REMOVE_NOT_SENIOR"
    assert state.verdicts[junior.record_id] == "REMOVE_BY_REMOVED"
    assert state.statuses[KEY_A] == state.statuses[KEY_C] == "active"


def test_an_early_grant_by_a_removed_device_lifts_nobody():
    a, b, _ = trio()
    a.remove_log(KEY_B, 20)
    before = a.state()
    grant = after(B, own(b)[0], "add-log", AddStatement(KEY_C), 0)
    lifted = starting(C, grant, 0)
    state = reduce([*a.entries(), grant, lifted])
    assert state.membership.ranks[KEY_C] == before.membership.ranks[KEY_C]
    assert state.view == before.view


def test_final_rows_stay_when_a_removed_device_forks():
    a, b, c = trio()
    a.remove_log(KEY_B, 20)
    c.merge(a.entries(), utc=21)
    c.ack(22)
    a.merge(c.entries(), utc=23)
    a.ack(24)
    before = a.state()
    assert before.final_length == 3
    fork = [after(B, own(b)[0], "msg", b"%d" % number, 0) for number in range(3)]
    state = reduce([*a.entries(), *fork])
    assert (state.view, state.final_length) == (before.view, before.final_length)
    assert state.forked == {KEY_B}


def test_a_device_that_left_and_is_cut_longer_by_a_senior_stays_where_it_left():
    a, b, _ = trio()
    leaving = b.remove_log(KEY_B, 20)
    later = b.append(b"later", 21)
    a.merge(b.entries(), utc=22)
    a.remove_log(KEY_B, 23, last=later.record_id)
    state = a.state()
    assert state.membership.cuts[KEY_B].seq == leaving.seq
    assert statuses(state, [later]) == ["removed"]


def test_while_a_leaver_is_not_removed_by_another_its_fork_may_change_the_view_and_the_log_is_waited_for():
    a, b, _ = trio()
    b.remove_log(KEY_B, 20)
    a.merge(b.entries(), utc=21)
    assert KEY_B in a.state().waited
    a.remove_log(KEY_B, 22)
    assert KEY_B not in a.state().waited


def test_a_remover_that_names_less_than_it_had_acknowledged_removes_nothing():
    a, _, c = trio()
    removal = a.remove_log(KEY_C, 20, last=own(c)[0].record_id)
    nothing = after(A, removal, "remove-log", RemoveStatement(KEY_C, -1, None), 21)
    state = reduce([*a.entries(), nothing])
    assert state.verdicts[removal.record_id] == "REMOVE_CUTS_SEEN"
    assert state.verdicts[nothing.record_id] == "REMOVE_CUTS_SEEN"
    assert state.statuses[KEY_C] == "active"


def test_of_two_that_remove_one_log_at_once_the_earlier_claim_decides():
    a, b, c = trio()
    more = c.append(b"more", 12)
    b.merge(c.entries(), utc=13)
    first, second = a.remove_log(KEY_C, 20), b.remove_log(KEY_C, 30)
    state = reduce([*a.entries(), *b.entries()])
    assert {state.verdicts[each.record_id] for each in (first, second)} == {"effective"}
    deciding = min((first, second), key=lambda each: (each.lamport, each.utc, each.record_id))
    assert state.graph.entries[state.membership.cuts[KEY_C].removal] == deciding
    assert statuses(state, [more]) == ["removed" if deciding is first else "effective"]


def test_a_member_that_dates_back_wins_ties_of_equal_clocks_only():
    a = DeviceLog.found(A, "a", [KEY_B])
    b = DeviceLog.join(B, "b", a.entries(), a.group, 0)
    early = a.append(b"early", 1_000)
    same_clock = b.append(b"dated back", 0)
    higher_clock = b.append(b"dated back again", 0)
    tied = [e for e in (early, same_clock) if e.lamport == early.lamport]
    a.merge(b.entries(), utc=1_001)
    assert a.view.index(higher_clock.record_id) == 2
    assert len(tied) < 2 or a.view[0] == same_clock.record_id


def test_a_false_screw_changes_no_view_and_is_shown_with_its_code():
    a, b, _ = trio()
    screw = next((e for e in a.entries() if e.kind == "screw"), None)
    assert screw is not None
    key = {KEY_A: A, KEY_B: B, KEY_C: C}[screw.log]
    last = max((e for e in a.entries() if e.log == screw.log), key=lambda e: e.seq)
    false = after(key, last, "screw", screw.statement, 30)
    before = a.state()
    state = reduce([*a.entries(), false])
    assert state.verdicts[false.record_id] == "SCREW_FROM"
    assert (state.view, state.hashes) == (before.view, before.hashes)
    assert len(b.entries()) == len(a.entries())


@pytest.mark.large
def test_ten_thousand_kids_of_one_entry_are_one_fork_and_slow_nothing_down():
    a, b, _ = trio()
    newest = own(b)[-1]
    children = [after(B, newest, "msg", b"%d" % number, 0) for number in range(10_000)]
    state = reduce([*a.entries(), *children])
    [fork] = forks(state.graph)
    assert len(fork.members) == len(children)
    assert state.statuses[KEY_A] == "active"
    assert len(state.view) == 3 + len(children)
    assert len(state.graph.branches) == 3 + len(children) - 1


ABSENT_LOG = b"\x09" * 32


def granted_twice(*removers):
    """A founder and two members; the log that never wrote is granted before both came, and again after it.

    Members given by number remove it, one after the other; number 2 is the founder.
    """
    founder, *members = logs = Log(b"founder"), Log(b"first"), Log(b"second")
    founder.found("founder")
    founder.add(ABSENT_LOG)
    for member in members:
        member.join(founder.add(member.key.public), "member")
    grant = members[1].add(ABSENT_LOG, deps=[members[0].entries[-1]])
    removals = []
    for number in removers:
        remover = [*members, founder][number]
        given = [*(each for each in (grant, *removals) if each.log != remover.key.public)]
        removals.append(remover.remove(ABSENT_LOG, None, deps=given[-1:]))
    state = reduce([each for log in logs for each in log.entries])
    return state, members, removals


@pytest.mark.parametrize("removers", [(0,), (0, 1), (1, 0), (2,), (2, 0), (0, 2), (1, 0, 2), (0, 2, 1)])
def test_who_is_senior_to_a_later_grant_alone_withdraws_that_one_alone(removers):
    state, members, removals = granted_twice(*removers)
    assert [state.verdicts[each.record_id] for each in removals] == ["effective"] * len(removals)
    found = state.membership
    first, last = (rank for rank, _ in found.grants[ABSENT_LOG])
    # The member that came first is the senior one.
    assert first < found.ranks[members[0].key.public] < last
    assert state.statuses[ABSENT_LOG] == ("withdrawn" if 2 in removers else "pending")
    # A removal withdraws the grants behind its author's rank: the first one stays the longest.
    [row] = [row for row in tip_rows(state) if row["log"] == ABSENT_LOG]
    assert (row["granted_by"], row["status"]) == (first[2], state.statuses[ABSENT_LOG])
