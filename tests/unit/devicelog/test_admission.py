"""Which entries are admitted: the published example, each attack by its reason, order and copies change nothing."""

import dataclasses
import hashlib

import pytest

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.codec import block_of, line_documents, read_line, write_entry
from strandline.dialects.devicelog.verify import (
    HeldEntries,
    References,
    deferred,
    fork_members,
    forks,
    judge,
    judge_documents,
    signature_findings,
)
from strandline.dialects.devicelog.verify import signatures as signing
from strandline.dialects.devicelog.verify.references import NAMED
from support.devicelog_cases import PC, PHONE, Log, compact, edited, entry, example, feed, ssb_value
from support.devicelog_corpus import corpus
from support.devicelog_reference import ReferenceDeviceLogs
from support.devicelog_tampering import (
    ABSENT,
    FOLLOWING,
    SIGNATURES,
    WAITING,
    naming,
    of_phone,
    plus_order,
)
from support.second_signatures import sign_again

IDS = {
    "phone 0": "a1061575cec68c6d6f63fcd1bca458abadbfeb629e419270f3bc488f198d7f32",
    "phone 1": "2e19a1e6c7469e5960e9c2c71057ca2f85bf281de637727af6ff00a9e637e111",
    "phone 2": "55d8e79a8dd8d4e9dcc7bc8e20bba2b2bfe3c56048d3d7764774be73761a1f44",
    "phone 3": "701210356034ee516df0fea12247039cebcaaa8fd93ae41fa6713018dcccc11c",
    "phone 4": "0423b58a2d7f248cbec699ca9d3b2ca845221d3c4d9608a35e2c2e70f6245444",
    "phone 5": "f93ae96b26dc635f35ab7375ffd93fabd340899e2d00c264af52f88d3bbd7b57",
    "phone 6": "12b2091812e0b3185c40c43dc3c99d9473fd363f79225d78033b80241ce97027",
    "pc 0": "164fc8b5b6c8716331d609112df86aa97361d4e30371a1521cd2c21313156ce2",
    "pc 1": "667f5f2f241c04286c3e7bdc6f37df3d88abb3eae173c45b376b237bbab60a3f",
    "pc 2": "4f49779b641e62951b5802261a64b7399392a48dfcc1f73c008fb34fb81c04ec",
    "pc 3": "19576786e7a8739f09e209ef6e68abccf0b99ea383b0685a5d8406e568c58c8e",
    "pc 4": "5df28ff8697b2d94ec81d082f50ff2f7d52a76db5ce03685ad3de7609abee0f4",
}
LINES = [write_entry(each) for each in example().values()]


def refused(*made, given=LINES):
    """The rows of the quarantine after the example and these entries."""
    return judge([*given, *map(block_of, made)]).quarantine


def test_the_published_example_is_accepted_whole():
    assert {name: each.record_id.hex() for name, each in example().items()} == IDS
    found = judge(LINES[::-1] + LINES[:3])
    assert (found.counts.new, found.counts.known, found.quarantine) == (12, 3, ())
    assert {each.lamport for each in found.accepted} == {-1, 0, 1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize("name", SIGNATURES)
def test_each_bad_signature_has_its_reason(name):
    make, reason = SIGNATURES[name]
    assert [row.reasons for row in refused(make())] == [(reason,)]
    assert refused(make())[0].record_id == make().record_id


@pytest.mark.parametrize("name", FOLLOWING)
def test_each_entry_that_contradicts_those_it_names_has_its_reasons(name):
    make, reasons = FOLLOWING[name]
    [row] = refused(make())
    assert (row.status, row.reasons, row.waits_for) == ("rejected", reasons, ())
    assert set(row.evidence) == set(reasons)


@pytest.mark.parametrize("name", WAITING)
def test_each_entry_that_names_an_absent_one_waits_for_it(name):
    make, reasons = WAITING[name]
    [row] = refused(make())
    assert (row.status, row.reasons, row.waits_for) == ("deferred", reasons, (f"record:{ABSENT.hex()}",))


def test_what_names_a_rejected_entry_waits_for_it():
    bad = of_phone(seq=9)
    child = of_phone(prev_id=bad.record_id, seq=10, lamport=6)
    later = judge(map(write_entry, (bad, child)), example().values())
    for found in (refused(bad, child), later.quarantine):
        rows = {row.record_id: row for row in found}
        assert rows[bad.record_id].reasons == ("SEQ_GAP",)
        assert rows[child.record_id].reasons == ("PREV_MISSING",)
        assert rows[child.record_id].waits_for == (f"record:{bad.record_id.hex()}",)


def test_an_entry_is_judged_only_when_all_that_it_names_is_there():
    # Its clock does not fit what is there, which nobody can say before the other one comes.
    assert [row.reasons for row in refused(naming(deps=[ABSENT]))] == [("DEP_MISSING",)]


def test_a_device_joins_on_an_entry_that_names_it_whoever_wrote_that():
    phone, tablet, other = Log(b"a"), Log(b"b"), Log(b"c")
    phone.found("a")
    grant = phone.add(tablet.key.public)
    tablet.join(grant, "b")
    other.join(tablet.add(other.key.public), "c")
    made = [each for log in (phone, tablet, other) for each in log.entries]
    assert judge(map(write_entry, made)).counts.new == len(made) == 5


def test_a_removal_may_name_no_entry():
    phone = Log(PHONE)
    phone.found("phone", (PC.public,))
    phone.remove(PC.public, None)
    assert judge(map(write_entry, phone.entries)).counts.new == 2


def test_an_entry_of_a_device_cannot_follow_a_message_of_a_feed():
    value = feed()[0]
    message = read_line(compact(value))
    key = Ed25519Key(b"\x03" * 32)
    intruder = entry(
        key, "msg", b"x", group=message.group, prev_id=message.record_id, seq=2, lamport=1
    )  # fmt: skip
    found = judge([compact(value), write_entry(intruder)])
    assert [row.reasons for row in found.quarantine] == [("PREV_MISSING",)]


def test_a_bad_copy_never_blocks_a_good_one_before_or_after_or_in_another_run():
    good = of_phone()
    bad = dataclasses.replace(good, sig=plus_order(good.sig))
    for runs in ([[good, bad]], [[bad, good]], [[bad], [good]], [[good], [bad]], [[good], [good, bad, bad]]):
        held, rejected = judge_documents(_documents(LINES)).held, set()
        for run in runs:
            found = judge_documents(_documents(map(write_entry, run)), held)
            held = found.held
            rejected |= {(row.raw, row.reasons) for row in found.quarantine}
        assert held.entries[good.namespace, good.record_id].sig == good.sig
        assert rejected == {(write_entry(bad), ("SIGNATURE_INVALID",))}


def _documents(given):
    return [document for line in given for document in line_documents(line)]


def test_of_two_good_signatures_in_one_run_the_least_is_kept_and_a_later_one_is_known():
    one = of_phone()
    other = dataclasses.replace(one, sig=sign_again(b"\x01" * 32, one.record_id))
    assert signature_findings(other) == ()
    assert one.sig != other.sig
    least = min(one.sig, other.sig)
    for order in ((one, other), (other, one)):
        found = judge([*LINES, *map(write_entry, order)])
        assert found.held.entries[one.namespace, one.record_id].sig == least
        assert (found.counts.new, found.counts.known) == (13, 1)
    first = judge([*LINES, write_entry(max(one, other, key=lambda each: each.sig))])
    later = judge_documents(_documents(map(write_entry, (one, other))), first.held)
    assert (later.counts.new, later.counts.known, later.quarantine) == (0, 2, ())
    assert later.held == first.held


@pytest.mark.large
def test_any_order_split_and_repetition_admits_and_refuses_the_same():
    for seed in (3, 4):
        runs = corpus(seed, 8, 10)
        whole = ReferenceDeviceLogs()
        whole.ingest(
            {f"{number}{name}": each for number, run in enumerate(runs) for name, each in run.items()}
        )
        for split in (runs, runs[::-1], [*runs, runs[0]]):
            parts = ReferenceDeviceLogs()
            for run in split:
                parts.ingest(run)
            assert _set(parts) == _set(whole)


def _set(lake):
    return set(lake.held.entries), lake.rejected, lake.waiting


@pytest.mark.large
def test_a_chain_that_comes_backwards_and_entries_behind_one_are_admitted_by_one_run():
    log = Log(b"chain")
    log.found("chain")
    for number in range(300):
        log.say(str(number))
    backwards = [write_entry(each) for each in log.entries[::-1]]
    assert judge(backwards).counts.new == 301
    first = judge_documents(_documents(backwards[:-1]))
    assert first.counts.deferred == 300
    found = judge_documents(_documents(backwards[-1:]), first.held)
    assert (found.counts.new, found.counts.readmitted) == (1, 300)
    assert found.held == HeldEntries(judge(backwards).held.entries)


def test_both_libraries_verify_a_sample(monkeypatch):
    sampled = next(each for each in _many() if int.from_bytes(each.record_id[:2], "big") < 65)
    assert signature_findings(sampled) == ()
    monkeypatch.setattr(signing, "verify_by_partner", lambda *_: False)
    assert [each.reason for each in signature_findings(sampled)] == ["LIBRARY_DISAGREEMENT"]
    assert signature_findings(example()["phone 1"]) == ()


def _many():
    return (of_phone(utc=utc) for utc in range(100_000))


def test_the_published_fork_is_one_row_whose_evidence_has_the_published_bytes():
    [found] = forks([*example().values(), edited()])
    assert edited().record_id.hex() == "97b13ba5db482940094371c187d469a622a572dfe4fd1b65ad70dd512cf7f77f"
    assert (found.kind, found.key, found.position) == ("DEVICELOG_FORK", PHONE.public.hex(), "5")
    assert found.members == (edited().record_id, example()["phone 5"].record_id)
    assert found.equivocation_id.hex() == "11115a2210eb6025e0fda14ba2a98e04f85b870053e78053804da80cf0727bc9"
    assert len(found.evidence) == 1839
    digest = hashlib.sha256(found.evidence.encode()).hexdigest()
    assert digest == "4bb1d7305b7268490ee784ba9e74f1b9e87cd33986914b69baa082b803bb38ee"


@pytest.mark.large
def test_two_starts_are_a_fork_and_ten_thousand_kids_of_one_entry_are_one_row():
    made = example()
    again = entry(PC, "key", made["pc 0"].statement, group=made["pc 0"].group, deps=[made["phone 0"]], utc=9)
    assert [(each.position, len(each.members)) for each in forks([*made.values(), again])] == [("0", 2)]
    children = [of_phone(utc=utc) for utc in range(10_000)]
    [found] = forks([*made.values(), *children])
    assert found.member_count == len(found.members) == 10_001
    assert len(found.evidence) < 4_000


def test_messages_fork_where_they_follow_one_and_in_a_weak_lake_wherever_they_stand():
    one, two = ssb_value(*_of_feed(2, 1)), ssb_value(*_of_feed(2, 2))
    other = ssb_value(_of_feed(2, 3)[0], feed()[1], 2, 3, {"type": "post"})
    a, b, c = (read_line(compact(value)) for value in (one, two, other))
    assert len(fork_members([a, b, c])) == 2
    assert len(fork_members([a, b, c], "weak")) == 3
    key = b"\x07" * 32
    [found] = forks([a, b], hmac_key=key)
    assert "network_key" in found.evidence
    assert forks([a]) == ()


def _of_feed(sequence, time):
    return Ed25519Key(b"\x03" * 32), feed()[0], sequence, time, {"type": "post"}


def test_an_erased_entry_is_no_evidence():
    erased = dataclasses.replace(edited(), body=None)
    assert forks([*example().values(), erased]) == ()


def test_the_corpus_has_what_its_laws_are_about():
    lake = ReferenceDeviceLogs()
    counts = [lake.ingest(run) for run in corpus(3, 12, 10)]
    assert all(
        sum(getattr(each, name) for each in counts) for name in ("new", "known", "rejected", "deferred")
    )
    assert sum(each.readmitted for each in counts) > 10
    assert len(lake.forks()) > 1


def test_the_network_key_of_a_lake_is_no_part_of_the_evidence_of_native_entries():
    made = [*example().values(), edited()]
    [without] = forks(made)
    assert forks(made, hmac_key=b"\x07" * 32) == (without,)
    assert "network_key" not in without.evidence


def test_the_evidence_of_what_is_missing_names_so_many_entries_and_no_more():
    ids = tuple(bytes([number]) * 32 for number in range(NAMED + 1))
    verdict = deferred(References(None, ids), ids)
    assert verdict.evidence["DEP_MISSING"]["needs"] == [each.hex() for each in ids[:16]]
    assert len(verdict.waits_for) == 17


@pytest.mark.parametrize("name", ["phone 5", "edited"])
def test_a_fork_of_which_either_entry_was_erased_has_no_row(name):
    pair = {"phone 5": example()["phone 5"], "edited": edited()}
    pair[name] = dataclasses.replace(pair[name], body=None)
    rest = [each for key, each in example().items() if key != "phone 5"]
    assert forks([*rest, *pair.values()]) == ()


def test_a_waiting_entry_that_comes_again_and_is_refuted_has_one_row():
    bad = of_phone(seq=9)
    lines = [write_entry(each) for each in example().values()]

    def documents(given):
        return [document for line in given for document in line_documents(line)]

    # What it names is not there, so that it waits.
    first = judge_documents(documents([write_entry(bad)]))
    assert [row.status for row in first.quarantine] == ["deferred"]
    found = judge_documents(documents([*lines, write_entry(bad)]), first.held)
    assert [(row.status, row.record_id) for row in found.quarantine] == [("rejected", bad.record_id)]
    assert (found.counts.read, found.counts.rejected) == (len(lines) + 1, 1)
