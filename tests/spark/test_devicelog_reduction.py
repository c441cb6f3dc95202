"""Spark reduces groups of devices like the rules by the letter: 300 random groups and the vectors in one job."""

import random
import re
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from pyspark.sql import functions as F

from laws.test_devicelog_laws import closed_subset
from strandline.contracts.checks import constraints_hold_sql, written_checks
from strandline.contracts.load import contract
from strandline.contracts.quoting import with_buckets
from strandline.contracts.shared_tables import EQUIVOCATIONS, PRUNED
from strandline.contracts.views import views
from strandline.core.ids import bucket_of
from strandline.dialects.devicelog.kernels.headers import group_of
from strandline.dialects.devicelog.reduce import history, prefix_hashes, reduce, sync_point
from strandline.dialects.devicelog.spark.forks import forks, with_forks_of_erased
from strandline.dialects.devicelog.spark.reduction import TABLES, NewEntries
from strandline.dialects.devicelog.spark.sync_points import StoredHashes, common_lengths
from strandline.dialects.devicelog.spark.tables import VIEW
from support.device_frames import ENTRY_DDL, Uncounted, entry_rows, reduce_entries
from support.device_groups import group, named_in_a_label, starting_anew, vectors
from support.device_rules import Reference
from support.devicelog_cases import edited, example
from support.devicelog_tampering import of_phone
from support.places import BUCKETS
from support.random_devices import random_history

POLICIES = ("keep-both", "freeze")


@cache
def groups():
    """Entries by namespace: 300 random groups, those of vectors, and two whose logs may start anew."""
    made = [random_history(seed).entries() for seed in range(300)]
    made += [
        group(name).entries(vectors()[name].get("of")) for name in ("example", "three devices", "synthetic")
    ]
    made += [starting_anew(), named_in_a_label()]
    return {entries[0].namespace: entries for entries in made}


@pytest.fixture(scope="module")
def entries(spark):
    rows = [row for each in groups().values() for row in entry_rows(each)]
    return spark.createDataFrame(rows, ENTRY_DDL).repartition(7).persist()


@pytest.fixture(scope="module")
def reductions(entries):
    """The reduction by a policy, computed once."""
    return cache(lambda policy: reduce_entries(entries, policy))


@pytest.fixture(scope="module", params=POLICIES)
def reduced(request, reductions):
    """The policy, and the rows of each reduced table and of the states."""
    found = reductions(request.param)
    rows = {table: list(map(tuple_of, frame.collect())) for table, frame in found.tables.items()}
    return request.param, rows, found.states.collect(), found


def tuple_of(row):
    return {name: plain(value) for name, value in row.asDict().items()}


def plain(value):
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, list):
        return [tuple(map(plain, each)) if isinstance(each, tuple) else plain(each) for each in value]
    return value


@cache
def letters(policy):
    return {namespace: Reference(entries, policy) for namespace, entries in groups().items()}


def by_namespace(rows):
    found = {namespace: [] for namespace in groups()}
    for row in rows:
        found[row["namespace"]].append(row)
    return found


def test_views_are_those_of_the_rules(reduced):
    policy, rows, _, _ = reduced
    for namespace, found in by_namespace(rows["device_log_view"]).items():
        letter = letters(policy)[namespace]
        shown = sorted((row for row in found if row["position"] is not None), key=lambda row: row["position"])
        ids = [entry.record_id for entry in letter.view]
        assert [(row["position"], row["record_id"]) for row in shown] == list(enumerate(ids))
        assert [row["prefix_hash"] for row in shown] == letter.v[1:]
        assert [row["previous"] for row in shown] == [None, *ids][: len(ids)]
        assert sum(row["final"] for row in found) == letter.final_length
        assert all(row["final"] for row in shown[: letter.final_length])
        messages = {entry.record_id for entry in letter.held.values() if entry.kind == "msg"}
        assert {row["record_id"] for row in found} == messages
        for row in found:
            record_id = row["record_id"]
            expected = "removed" if record_id in letter.ok else "void"
            if record_id in letter.effective:
                expected = "effective" if record_id in ids else "disputed"
            assert row["status"] == expected


class View:
    """A lake that holds one view."""

    buckets = BUCKETS

    def __init__(self, rows):
        self.rows = rows

    def read(self, table):
        assert table == VIEW
        return self.rows


@pytest.mark.parametrize("reduced", POLICIES[:1], indirect=True)
def test_two_views_agree_up_to_one_position_by_messages_by_look_ups_and_by_a_join(spark, reduced):
    policy, _, _, found = reduced
    here = View(found.tables[VIEW])
    others = {}
    for namespace, entries in groups().items():
        # What the other side holds: the first entries of each log, as far as it can be without the rest.
        held = closed_subset(random.Random(namespace), entries)
        others[namespace] = reduce(held).hashes if held else prefix_hashes(group_of(namespace), ())
    rows = [
        (namespace, bucket_of(namespace, BUCKETS), position, v)
        for namespace, hashes in others.items()
        for position, v in enumerate(hashes[1:])
    ]
    theirs = spark.createDataFrame(
        rows, "namespace STRING, bucket INT, position BIGINT, prefix_hash BINARY"
    ).coalesce(1)
    mine = {namespace: letters(policy)[namespace].v for namespace in others}
    expected = {namespace: sync_point(mine[namespace], others[namespace]) for namespace in others}
    joined = {row["namespace"]: row["common"] for row in common_lengths(here.rows, theirs).collect()}
    assert {namespace: joined.get(namespace, 0) for namespace in others} == {
        namespace: k for namespace, (k, _) in expected.items()
    }
    assert len({k for k, _ in expected.values()}) > 5
    longest = sorted(others, key=lambda namespace: len(mine[namespace]))[-2:]
    for namespace in longest:
        stored, there = (
            StoredHashes(here, namespace, Uncounted()),
            StoredHashes(View(theirs), namespace, Uncounted()),
        )
        assert sync_point(stored, there) == expected[namespace]
        assert stored.at({0}) == {0: mine[namespace][0]}


def test_verdicts_are_those_of_the_rules(reduced):
    policy, rows, _, _ = reduced
    screws = by_namespace(rows["device_log_screw"])
    members = by_namespace(rows["device_log_member"])
    for namespace, letter in letters(policy).items():
        removals = {row["record_id"]: row["verdict"] for row in members[namespace] if row["act"] == "remove"}
        found = {row["record_id"]: row["verdict"] for row in screws[namespace]}
        assert found | removals == letter.verdicts
        for row in members[namespace]:
            if row["act"] != "remove":
                record_id = row["record_id"]
                status = (
                    "effective"
                    if record_id in letter.effective
                    else "removed"
                    if record_id in letter.ok
                    else "void"
                )
                assert row["verdict"] == status


def branches_of(letter):
    """The branch of each entry: its log up to it begins with the first entry, and goes on with the kid of least id."""
    found = {}
    for entry in sorted(letter.held.values(), key=lambda each: each.seq):
        goes_on = entry.prev and entry == min(letter.children(entry.prev), key=lambda each: each.record_id)
        found[entry.record_id] = found[entry.prev] if goes_on else entry.record_id
    return found


def bounds_of(letter, branches, past):
    """The greatest seq of a past by branch."""
    bounds = {}
    for record_id in past:
        branch, seq = branches[record_id], letter.held[record_id].seq
        bounds[branch] = max(bounds.get(branch, seq), seq)
    return bounds


def test_tips_are_those_of_the_rules(reduced):
    policy, rows, _, _ = reduced
    for namespace, found in by_namespace(rows["device_log_tip"]).items():
        letter = letters(policy)[namespace]
        branches = branches_of(letter)
        assert {row["log"]: row["status"] for row in found} == letter.statuses
        for log in letter.statuses:
            tips = {row["record_id"] for row in found if row["log"] == log}
            assert tips == ({entry.record_id for entry in letter.tips(log)} or {None})
        for row in found:
            past = letter.pasts.get(row["record_id"], set())
            assert row["behind"] == sum(entry.record_id not in past for entry in letter.view)
            cut = letter.cut.get(row["log"], (None, None, None))
            assert (row["cut_seq"], row["cut_id"], row["removed_by"]) == cut
            if row["record_id"] is None:
                assert (row["past"], row["branch"], row["seq"]) == (None, None, None)
            else:
                assert dict(row["past"]) == bounds_of(letter, branches, past)
                assert row["branch"] == branches[row["record_id"]]
                assert row["seq"] == letter.held[row["record_id"]].seq


def test_states_are_those_of_the_reference(reduced):
    policy, _, states, _ = reduced
    found = {row["namespace"]: (bytes(row["state_hash"]), row["record_count"]) for row in states}
    assert {row["reducer_version"] for row in states} == {f"devicelog-1:{policy}"}
    for namespace, entries in groups().items():
        assert found[namespace] == (reduce(entries, policy).state_hash, len(entries))


def test_reduced_rows_meet_their_contracts(spark, reduced):
    _, _, _, found = reduced
    for table in TABLES.values():
        described = contract(table)
        assert tuple(found.tables[table].columns) == described.names
        for name, kind in found.tables[table].dtypes:
            column = next(each for each in described.columns if each.name == name)
            assert (
                kind.upper().replace("ELEMENT:", "")
                == column.physical_type.replace(": ", ":").replace(", ", ",").upper()
            )
        nulls = [name for name in described.names if name in required(described)]
        assert found.tables[table].dropna(subset=nulls).count() == found.tables[table].count()
        found.tables[table].createOrReplaceTempView(table)
        sql = with_buckets(constraints_hold_sql(described), BUCKETS)
        assert spark.sql(sql).collect() == []


def required(described):
    return {column.name for column in described.columns if column.required}


def test_a_group_that_lacks_an_entry_is_refused_and_others_are_reduced(spark):
    whole, lacking = list(groups().values())[:2]
    named = {dep for entry in lacking for dep in entry.deps}
    rest = [entry for entry in lacking if entry.record_id != min(named)]
    rows = [row for each in (whole, rest) for row in entry_rows(each)]
    found = reduce_entries(spark.createDataFrame(rows, ENTRY_DDL), "keep-both")
    [refused] = found.refused.first
    assert (refused.code, refused.namespace) == ("ENTRIES_LOST", lacking[0].namespace)
    assert [row["namespace"] for row in found.states.collect()] == [whole[0].namespace]


@pytest.fixture(scope="module")
def selects(spark, entries, reductions):
    """The SELECTs of the views, over tables of the groups that the session knows."""
    found = reductions("keep-both")
    states = found.states.withColumn("reduced_at", F.current_timestamp())
    for table, frame in {**found.tables, "namespace_state": states, "device_log_entry": entries}.items():
        frame.createOrReplaceTempView(table)
    for table in ("equivocation", "quarantine"):
        empty = spark.sql("SELECT '' AS namespace, '' AS kind, '' AS status, '' AS dialect").limit(0)
        empty.createOrReplaceTempView(table)
    return {name: view.select for name, view in views(behind=()).items()}


def test_the_view_of_histories_is_what_the_reference_says(spark, selects):
    rows = spark.sql(
        f"SELECT * FROM ({selects['device_log_history']}) ORDER BY namespace, log, i, line"
    ).collect()
    shown = {}
    for row in rows:
        line = (
            row["i"],
            row["record_id"],
            row["position"],
            row["previous"],
            row["replay_clock"],
            row["shown_clock"],
            row["struck"],
        )
        shown.setdefault((row["namespace"], row["log"]), []).append(line)
    count = 0
    for namespace, held in groups().items():
        for log in {entry.log for entry in held}:
            expected = [
                (row.i, row.record_id.hex(), row.position, row.previous and row.previous.hex(), row.replay_clock,
                 row.shown_clock, row.struck)
                for row in history(log, held)
            ]  # fmt: skip
            expected = [(i, record_id, position, previous if position is not None else None, *more)
                        for i, record_id, position, previous, *more in expected]  # fmt: skip
            assert shown.get((namespace, log.hex()), []) == expected
            count += len(expected)
    assert count > 1000


def test_the_example_is_displayed_with_struck_rows(spark, selects):
    namespace = group("example").entries()[0].namespace
    for device, expected in vectors()["example"]["histories"].items():
        rows = spark.sql(
            f"SELECT what, shown_clock, struck FROM ({selects['device_log_history']}) "
            f"WHERE namespace = '{namespace}' AND label = '{device}' ORDER BY i, line"
        ).collect()
        texts = [
            f"{row['what'].removeprefix('Message ').split()[0]}:{row['shown_clock']}{'S' if row['struck'] else ''}"
            for row in rows
        ]
        assert texts == expected.split()


def test_the_order_with_texts_and_the_health_of_the_example(spark, selects):
    namespace = group("example").entries()[0].namespace
    rows = spark.sql(
        f"SELECT position, label, text, final FROM ({selects['device_log']}) "
        f"WHERE namespace = '{namespace}' ORDER BY position"
    ).collect()
    assert [row["text"][8] for row in rows] == list("01235467")
    assert {row["label"] for row in rows} == {"phone", "pc"}
    assert all(row["final"] for row in rows)
    [health] = spark.sql(
        f"SELECT * FROM ({selects['device_log_health']}) WHERE namespace = '{namespace}'"
    ).collect()
    assert (health["messages"], health["final_messages"], health["active"], health["screws"]) == (8, 8, 2, 2)
    assert health["held_back_by"] == []
    assert health["view_hash"] == vectors()["example"]["view_hashes"]["8"]


def test_the_health_of_groups_names_all_that_holds_final_rows_back(spark, selects):
    rows = spark.sql(f"SELECT namespace, held_back_by FROM ({selects['device_log_health']})").collect()
    told = {row["namespace"]: row["held_back_by"] for row in rows}
    words = Counter()
    for namespace, letter in letters("keep-both").items():
        labels = {log: min([each.statement.label for each in letter.of(log) if each.kind == "key"], default=None)
                  for log in letter.statuses}  # fmt: skip
        expected = sorted(
            f"{labels[log] or log.hex()[:8]} {word}" for log, word in letter.held_back().items()
        )
        words.update(word.split()[0] for word in letter.held_back().values())
        if any(len(letter.tips(each.log)) > 1 for each in letter.removals()):
            # Which branch of a forked log a removal is on, the tables do not say.
            expected, told[namespace] = (
                [each for each in found if each.split()[1] not in ("unsettled", "behind")]
                for found in (expected, told[namespace])
            )
        assert told[namespace] == expected, namespace
    assert words.keys() == {"may", "forked", "pending", "unsettled", "behind"}


@pytest.mark.usefixtures("selects")
def test_sound_rows_pass_the_check(spark):
    [check] = [each for each in written_checks() if each.name == "device_logs_agree_with_entries"]
    assert spark.sql(check.select).collect() == []


@pytest.mark.usefixtures("selects")
@pytest.mark.parametrize(
    "change",
    [
        {"prefix_hash": "CASE WHEN position = 3 THEN unhex(sha2('', 256)) ELSE prefix_hash END"},
        {"previous": "CASE WHEN position = 3 THEN record_id ELSE previous END"},
        {"position": "CASE WHEN position >= 3 THEN position + 1 ELSE position END"},
        {"utc": "CASE WHEN position = 3 THEN utc + 1000000000000 ELSE utc END", "lamport": "0"},
    ],
    ids=["a hash", "the row before", "a gap", "the order"],
)
def test_a_changed_row_is_found_by_the_check(spark, change):
    [check] = [each for each in written_checks() if each.name == "device_logs_agree_with_entries"]
    namespace = group("example").entries()[0].namespace
    changed = spark.table("device_log_view").where(F.col("namespace") == namespace)
    changed = changed.withColumns({name: F.expr(value) for name, value in change.items()})
    changed.createOrReplaceTempView("changed_view")
    select = check.select.replace("device_log_view", "changed_view")
    found = [row["namespace"] for row in spark.sql(f"SELECT * FROM ({select})").collect()]
    spark.catalog.dropTempView("changed_view")
    assert namespace in found


class Erased:
    """A lake that erased one message, which a stored fork shows."""

    def __init__(self, spark, entry, stored):
        row = (entry.namespace, entry.record_id, "erase")
        erased = spark.createDataFrame([row], "namespace string, record_id binary, form string")
        self.tables = {PRUNED: erased, EQUIVOCATIONS: stored}

    def stored_bytes(self, table):
        return 1

    def read(self, table):
        return self.tables[table]


def test_a_fork_that_shows_an_erased_body_stays_unless_two_others_show_it(spark):
    gone, options = example()["phone 5"], {"is_weak": False, "hmac_key": None}

    def forks_of(*given):
        return forks(spark.createDataFrame(list(entry_rows(given)), ENTRY_DDL), None, **options)

    rest = [*(each for each in example().values() if each != gone), replace(gone, body=None), edited()]
    lake = Erased(spark, gone, forks_of(*example().values(), edited()))
    [stays] = with_forks_of_erased(forks_of(*rest), lake, Uncounted()).collect()
    assert set(map(bytes, stays["members"])) == {gone.record_id, edited().record_id}
    # A third one with a less id than the erased one: two that have their bodies show the fork.
    made = (of_phone(statement=b"%d" % number, prev="phone 4") for number in range(100))
    third = next(each for each in made if each.record_id < gone.record_id)
    [shown] = with_forks_of_erased(forks_of(*rest, third), lake, Uncounted()).collect()
    assert shown["equivocation_id"] == stays["equivocation_id"]
    assert shown["member_count"] == 3
    assert gone.record_id not in [bytes(each) for each in shown["members"][:2]]


def test_forks_are_looked_for_in_the_buckets_of_news_alone(entries):
    changes = entries.limit(3)
    options = {"is_weak": False, "hmac_key": None}
    for new_entries, count in ((NewEntries(changes, (3,)), 3), (None, 0)):
        plan = forks(entries, new_entries, **options)._jdf.queryExecution().optimizedPlan().toString()
        # Headers are read for the members and for the two that are shown, then these entries.
        assert len(re.findall(r"Filter .*bucket#\d+ = 3\b", plan)) == count
