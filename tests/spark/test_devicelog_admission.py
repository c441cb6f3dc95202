"""Device logs and feeds in a lake: published entries, every attack, copies, entries behind one, choices of a lake."""

import dataclasses

import pytest

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.codec import write_entry
from strandline.dialects.devicelog.info import INFO
from strandline.dialects.devicelog.spark import increments, reduction
from strandline.pipelines.admission import Admitter
from support.device_feeds import HELD, held
from support.devicelog_cases import TABLET, Log, compact, edited, entry, example, feed, lines, ssb_value
from support.devicelog_reference import ReferenceDeviceLogs, assert_admitted_equal, entry_row, told
from support.devicelog_tampering import (
    FOLLOWING,
    SIGNATURES,
    WAITING,
    plus_order,
    spelled_in_labels,
    tampered,
)
from support.lakes import choose, write_files
from support.log_lakes import union
from support.random_devices import in_parts, random_history
from support.reference_rows import tuples
from support.second_signatures import sign_again

TABLE = "device_log_entry"
BY_SQL = """
    SELECT lower(hex(record_id)) AS record_id, sha2(CAST(concat(
      '28:strandline/devicelog/entry/1,',
      CASE WHEN kind = 'key' AND size(deps) = 0 THEN '0:,' ELSE concat('64:', substring(namespace, 7), ',') END,
      '64:', lower(hex(log)), ',', length(string(seq)), ':', seq, ',', length(kind), ':', kind, ',',
      length(string(lamport)), ':', lamport, ',', length(string(utc)), ':', utc, ',',
      CASE WHEN prev IS NULL THEN '0:,' ELSE concat('64:', lower(hex(prev)), ',') END,
      length(string(size(deps))), ':', size(deps), ',',
      array_join(transform(deps, each -> concat('64:', lower(hex(each)), ',')), ''),
      length(string(body_size)), ':', body_size, ',', '64:', sha2(body, 256), ','
    ) AS BINARY), 256) AS computed
    FROM device_log_entry WHERE profile = 'native'
"""


def test_the_published_entries_and_every_attack_on_them_in_one_lake(new_lake, tmp_path):
    """Their ids are computed again in plain SQL; the fork is one row with the published evidence."""
    lake, reference = new_lake(dialect="devicelog"), ReferenceDeviceLogs()
    genuine, refused = spelled_in_labels()
    files = {
        "a-labels.jsonl": lines(*refused, *genuine),
        "b-attacks.jsonl": b"\n".join(line for line, _ in tampered()) + b"\n",
        "c-example.jsonl": lines(*list(example().values())[::-1], edited(), *feed()[::-1]),
    }
    expected = reference.ingest(files)
    assert told(lake.ingest(write_files(tmp_path / "in", files))) == expected
    assert_admitted_equal(lake, reference)
    assert expected.new == 16 + len(genuine)
    rows = lake.asked(BY_SQL)
    assert {record_id for record_id, _ in rows} == {
        each.record_id.hex() for each in (*example().values(), edited(), *genuine)
    }
    assert all(record_id == computed for record_id, computed in rows)
    found = {codes for [codes] in lake.rows("quarantine", "reasons")}
    for reasons in (*FOLLOWING.values(), *WAITING.values()):
        assert reasons[1] in found
    assert {(reason,) for _, reason in SIGNATURES.values()} <= found
    lake.reduce()
    assert lake.rows("equivocation") == tuples("equivocation", reference.forks())
    assert [
        (position, count) for position, count in lake.rows("equivocation", "position", "member_count")
    ] == [("5", 2)]


class Copied:
    """A log of two entries, and three copies of the next one: a good one, a broken one, one that was signed again."""

    def __init__(self, name):
        seed = name.encode().ljust(32)
        log = Log(Ed25519Key(seed))
        log.found(name)
        log.say("before")
        self.before = list(log.entries)
        self.good = log.say("copied")
        self.bad = dataclasses.replace(self.good, sig=plus_order(self.good.sig))
        self.second = dataclasses.replace(self.good, sig=sign_again(seed, self.good.record_id))


def test_copies_of_one_entry_in_any_run_are_each_judged_by_themselves(new_lake, tmp_path):
    after, before, waiting = (Copied(name) for name in ("after", "before", "waiting"))
    runs = [
        [*after.before, after.good, *before.before, before.bad, waiting.bad, waiting.second, waiting.good],
        [after.bad, after.second, before.second, before.good, *waiting.before, waiting.bad],
    ]
    lake, reference = new_lake(dialect="devicelog"), ReferenceDeviceLogs()
    for number, run in enumerate(runs):
        files = {f"{number}.jsonl": lines(*run)}
        expected = reference.ingest(files)
        assert told(lake.ingest(write_files(tmp_path / str(number), files))) == expected
        assert_admitted_equal(lake, reference)
    for each in (after, before, waiting):
        rows = [
            row for row in lake.rows("quarantine", "namespace", "reasons") if row[0] == each.good.namespace
        ]
        assert rows == [(each.good.namespace, ("SIGNATURE_INVALID",))]
    stored = lake.rows(TABLE, "record_id", "sig")
    tables = lake.tables()
    again = [copy for each in (after, before, waiting) for copy in (*each.before, each.good, each.bad)]
    report = lake.ingest(write_files(tmp_path / "again", {"a.jsonl": lines(*again)}))
    # Only a good signature other than the stored one is verified again.
    other = [each for each in (after, before, waiting) if (each.good.record_id, each.good.sig) not in stored]
    assert report.counts["signatures_verified"] == len(other)
    assert lake.tables() == tables


def chain(length):
    log = Log(b"chain")
    log.found("chain")
    for number in range(length):
        log.say(str(number))
    return [write_entry(each) for each in log.entries]


def behind_one(new_lake, tmp_path, lines_of_chain):
    """A lake with entries that all waited for the first, which came alone."""
    lake = new_lake(dialect="devicelog")
    first, *rest = lines_of_chain
    report = lake.ingest(write_files(tmp_path / "rest", {"a.jsonl": b"\n".join(rest[::-1]) + b"\n"}))
    assert (report.counts["new"], report.counts["deferred"]) == (0, len(rest))
    report = lake.ingest(write_files(tmp_path / "first", {"a.jsonl": first + b"\n"}))
    assert (report.counts["new"], report.counts["readmitted"]) == (1, len(rest))
    assert lake.rows("quarantine") == []
    assert len(lake.rows(TABLE, "record_id")) == 1 + len(rest)
    return lake


def test_ten_thousand_entries_behind_one_are_admitted_by_one_run(new_lake, tmp_path):
    behind_one(new_lake, tmp_path, chain(10_000))


@pytest.mark.slow
def test_a_hundred_thousand_entries_behind_one_are_admitted_by_one_run(new_lake, tmp_path):
    """Two more are an increment; 10,000 kids of one entry are one row of `equivocation`, which names them all."""
    *most, last, newest = chain(100_000)
    lake = behind_one(new_lake, tmp_path, most)
    lake.reduce()
    log = Log(b"kids")
    log.found("kids")
    parent = log.say("parent")
    kids = [entry(log.key, "msg", b"%d" % number, group=log.group, prev=parent) for number in range(10_000)]
    files = {"kids.jsonl": lines(*log.entries, *kids), "newest.jsonl": newest + b"\n" + last + b"\n"}
    report = lake.ingest(write_files(tmp_path / "more", files))
    assert report.counts["new"] == 4 + len(kids)
    lake.reduce()
    [(members, count)] = lake.rows("equivocation", "members", "member_count")
    assert (count, list(members)) == (len(kids), sorted(each.record_id for each in kids))
    changed = lake.rows("device_log_view", "seq", "position", "final")
    assert max(changed, key=lambda row: row[0]) == (100_000, 99_999, True)
    assert lake.reduce(full=True).exit == 0


def test_news_are_merged_into_stored_rows_as_a_full_reduction_writes_them(new_lake, monkeypatch):
    """Every group counts as large: news that extend logs change rows of views. Other groups are reduced whole.

    Feeds have gaps. The logs of the first news are broadcast, those of the second are not.
    """
    lake, merged, from_changes = new_lake("grown", dialect="devicelog"), [], increments.from_changes

    def seen(*arguments):
        found = from_changes(*arguments)
        merged.append((found.rows is not None, found.whole is not None))
        return found

    monkeypatch.setattr(reduction, "FEW_ENTRIES", 0)
    monkeypatch.setattr(increments, "_FEW_LOGS", 8)
    monkeypatch.setattr(increments, "from_changes", seen)
    groups = [
        in_parts(random_history(seed, forks=seed > 40, removals=seed > 40).entries()) for seed in range(90)
    ]
    groups += [in_parts(held(name)) for name in HELD]
    alone = []
    for number in range(8):
        log = Log(b"%d" % number)
        log.found("alone")
        for text in range(20 + number):
            log.say(str(text))
        alone.append([log.entries[:10], log.entries[10:14], log.entries[14:]])
    for step, parts in enumerate(([*alone, *groups], alone, [*alone, *groups])):
        news = [each for part in parts for each in part[step]]
        if step == 2:
            news += [each for part in groups for each in part[1]]
        union(lake, TABLE, [entry_row(each) | {"run_id": f"run {step}"} for each in news])
        assert lake.reduce().counts["reduced"] == len({each.namespace for each in news})
    assert merged == [(True, False), (True, True)]
    assert lake.reduce(full=True).members["differences"] == {}


def test_a_group_that_lost_an_entry_keeps_its_rows_until_the_entry_comes_again(new_lake):
    lake = new_lake("lost", dialect="devicelog")
    forked, other = (list(random_history(seed, forks=True, removals=True).entries()) for seed in (42, 41))
    namespace = forked[0].namespace
    union(lake, TABLE, [entry_row(each) | {"run_id": "first"} for each in (*forked, *other)])
    lake.reduce()
    reduced = {table: lake.rows(table) for table in (*INFO.reduced_tables, "equivocation", "namespace_state")}
    # Its forks lie in a bucket of their own: a MERGE into the buckets of what was reduced does not see them.
    buckets = dict(lake.rows("equivocation", "namespace", "bucket"))
    assert buckets[namespace] not in {
        row[1] for row in lake.rows("namespace_state", "namespace", "bucket") if row[0] != namespace
    }
    lost = next(each for each in forked if any(each.record_id in more.deps for more in forked))
    lake.damage(f"ALTER TABLE {TABLE} SET TBLPROPERTIES (delta.appendOnly = false)")
    lake.damage(f"DELETE FROM {TABLE} WHERE record_id = X'{{}}'", lost.record_id.hex())
    full = lake.reduce(full=True)
    assert (full.exit, full.error.code, full.members["refused"]) == (3, "ENTRIES_LOST", [namespace])
    assert full.members["differences"] == {}
    assert {table: lake.rows(table) for table in reduced} == reduced
    union(lake, TABLE, [entry_row(lost) | {"run_id": "again"}])
    assert lake.reduce(full=True).members["differences"] == {}
    assert {table: lake.rows(table) for table in reduced} == reduced


def test_entries_that_came_before_a_refusal_are_in_the_state_after_it(new_lake, monkeypatch):
    """The lost entry comes again, and extends the stored state. The one that named it, and its twin, were read before.

    Until then each run names the group, also one without new entries.
    """
    monkeypatch.setattr(reduction, "FEW_ENTRIES", 0)
    lake = new_lake("refused", dialect="devicelog")
    log, peer, other = Log(b"log"), Log(b"peer"), Log(b"other")
    log.found("log", (peer.key.public,))
    peer.join(log.entries[0], "peer")
    other.found("other")

    def come(*entries):
        union(lake, TABLE, [entry_row(each) | {"run_id": "come"} for each in entries])

    come(*log.entries, *peer.entries, *other.entries)
    lake.reduce()
    lost = log.say("lost")
    named = peer.add(Log(b"third").key.public, deps=[lost])
    twin = peer.say("twin", prev=peer.entries[0])
    come(lost, named, twin, other.say("moves the version on"))
    lake.damage(f"ALTER TABLE {TABLE} SET TBLPROPERTIES (delta.appendOnly = false)")
    lake.damage(f"DELETE FROM {TABLE} WHERE record_id = X'{{}}'", lost.record_id.hex())
    for reduced_count in (1, 0):
        refused = lake.reduce()
        assert (refused.error.code, refused.members["refused"]) == ("ENTRIES_LOST", [lost.namespace])
        assert refused.counts["reduced"] == reduced_count
    come(lost)
    found = lake.reduce()
    assert (found.counts["reduced"], found.members["refused"]) == (1, [])
    counts = dict(lake.rows("namespace_state", "namespace", "record_count"))
    assert counts == {lost.namespace: 5, other.entries[0].namespace: 2}
    [(position, members)] = lake.rows("equivocation", "position", "members")
    assert (position, list(members)) == ("1", sorted((named.record_id, twin.record_id)))
    assert lake.reduce(full=True).members["differences"] == {}


def test_a_weak_lake_takes_a_feed_without_its_beginning_and_a_network_key_binds_signatures(
    new_lake, tmp_path
):
    weak, keyed = (new_lake(name, dialect="devicelog") for name in ("weak", "keyed"))
    choose(weak.path, TABLE, "strandline.devicelog.ssb_profile", "strict", "weak")
    in_base64 = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
    choose(keyed.path, TABLE, "strandline.devicelog.ssb_hmac_key", "", in_base64)
    first, second, third = feed()
    other = ssb_value(TABLET, first, 2, 7, {"type": "post", "text": "another second"})
    files = {"feed.json": b"[" + b",".join(map(compact, (third, second, other))) + b"]"}
    reference = ReferenceDeviceLogs("weak")
    expected = reference.ingest(files)
    assert told(weak.ingest(write_files(tmp_path / "weak-in", files))) == expected
    assert expected.new == 3
    assert_admitted_equal(weak, reference)
    weak.reduce()
    assert weak.rows("equivocation") == tuples("equivocation", reference.forks())
    network = [ssb_value(TABLET, None, 1, time, {"type": "post"}, hmac_key=b"\x07" * 32) for time in (1, 2)]
    files = {"feed.jsonl": lines(*network, first)}
    reference = ReferenceDeviceLogs(hmac_key=b"\x07" * 32)
    expected = reference.ingest(files)
    assert told(keyed.ingest(write_files(tmp_path / "keyed-in", files))) == expected
    assert (expected.new, expected.rejected) == (2, 1)
    assert_admitted_equal(keyed, reference)
    keyed.reduce()
    assert keyed.rows("equivocation") == tuples("equivocation", reference.forks())
    assert "network_key" in keyed.rows("equivocation", "evidence")[0][0]


def test_what_waits_for_a_record_that_another_run_wrote_at_the_same_time_is_admitted_by_the_next(
    new_lake, tmp_path, monkeypatch
):
    lake, merge = new_lake(dialect="devicelog"), Admitter.merge

    def ingest(name, entries):
        return lake.ingest(write_files(tmp_path / name, {"log.jsonl": lines(*entries)}))

    for number, is_first_inside in enumerate((True, False)):
        log, another = Log(b"raced %d" % number), Log(b"another %d" % number)
        log.found("log")
        log.say("a")
        log.say("b")
        another.found("another")
        parts = [log.entries[1:], log.entries[:1]]
        outside, inside = parts if is_first_inside else parts[::-1]
        reports = []

        def overtaken(admitter, admission, inside=inside, reports=reports, number=number):
            if not reports:
                reports.append(None)
                reports[0] = ingest(f"inside {number}", inside)
            return merge(admitter, admission)

        monkeypatch.setattr(Admitter, "merge", overtaken)
        assert ingest(f"outside {number}", outside).outcome == "ok"
        assert reports[0].outcome == "ok"
        assert [status for [status] in lake.rows("quarantine", "status")] == ["deferred"] * 2
        later = ingest(f"later {number}", another.entries)
        assert (later.counts["new"], later.counts["readmitted"]) == (1, 2)
        assert lake.rows("quarantine") == []
        assert not lake.store().begin_repair(INFO.ingest_tables)

    def beside(admitter, admission):
        lake.store().mark_race(TABLE)
        return merge(admitter, admission)

    # Two others race while a third run is between its reading and its writing: it does not hide their mark.
    monkeypatch.setattr(Admitter, "merge", beside)
    third = Log(b"third")
    third.found("third")
    assert ingest("third", third.entries).counts["new"] == 1
    assert lake.store().begin_repair(INFO.ingest_tables)
