"""Places with any number of records: Spark names them like plain Python, and no aggregate collects them."""

import random
import re

import pytest
from pyspark.sql import functions as F

from strandline.dialects.aura.spark.contexts import bindings
from strandline.dialects.aura.spark.contexts import forks as contexts
from strandline.dialects.devicelog.spark import forks as devices
from strandline.dialects.ipfslog.spark import dag
from strandline.dialects.ipfslog.spark import forks as logs
from strandline.dialects.sdmp.spark import journal_rows
from strandline.frames import crowds
from strandline.frames.links import MOST_COMPARED, distinct
from strandline.tables.commits import session_settings
from support.device_frames import ENTRY_DDL

MOST = 4
LINE_DDL = (
    "namespace string, bucket int, record_id binary, profile string, n long, line_number string, line_hash string, "
    "author_fp string, resource_id string"
)
LOG_DDL = "namespace string, bucket int, key string, clock_time long, variant string, record_id binary, block binary"
FACT_DDL = (
    "namespace string, bucket int, record_id binary, variant string, content_json string, "
    "attest array<struct<authority: string, commitment: binary>>"
)
GRANTED_DDL = (
    "namespace string, bucket int, body_id binary, fact_id binary, variant string, content_json string, "
    "attestors array<string>, quorum int"
)
COMMIT_DDL = (
    "namespace string, bucket int, is_proven boolean, channel binary, parent_epoch long, bump_id binary, "
    "fact_id binary"
)


def test_the_least_members_their_number_and_two_texts_of_each_place(spark, monkeypatch):
    monkeypatch.setattr(crowds, "MAX_MEMBERS", MOST)
    sizes = (*range(1, 2 * MOST + 1), 3 * MOST, 100)
    places = [
        (space, position, size) for size in sizes for space, position in ((f"s{size}", None), ("s", size))
    ]
    rows = [
        (space, position, number.to_bytes(2, "big"), f"{space} {position} {number}")
        for space, position, size in places
        for number in random.Random(size).sample(range(65_536), size)
    ]
    random.Random(5).shuffle(rows)
    frame = spark.createDataFrame(
        rows, "space string, position int, record_id binary, raw string"
    ).repartition(3)
    found = crowds.crowds(frame, ("space", "position"), "raw")
    expected = {}
    for space, position, size in places:
        of_place = sorted(row[2:] for row in rows if row[:2] == (space, position))
        (_, first), *others = of_place
        if others:
            members = [id_ for id_, _ in of_place[:MOST]]
            expected[space, position] = (members, size, first, others[0][1])
    assert {(row[0], row[1]): (list(map(bytes, row[2])), *row[3:]) for row in found.collect()} == expected
    assert_windows(found)


def assert_windows(found):
    plan = found._jdf.queryExecution().optimizedPlan().toString()
    assert "Window" in plan
    assert "Aggregate" not in plan


def test_the_least_members_of_each_place_also_where_there_is_one(spark, monkeypatch):
    monkeypatch.setattr(crowds, "MAX_MEMBERS", MOST)
    sizes = (*range(1, 2 * MOST + 1), 3 * MOST, 100)
    rows = [
        (size, number.to_bytes(2, "big"))
        for size in sizes
        for number in random.Random(size).sample(range(65_536), size)
    ]
    random.Random(6).shuffle(rows)
    frame = spark.createDataFrame(rows, "position int, record_id binary").repartition(3)
    found = crowds.members(frame, ["position"])
    assert {row[0]: list(map(bytes, row[1])) for row in found.collect()} == {
        size: sorted(id_ for position, id_ in rows if position == size)[:MOST] for size in sizes
    }
    assert_windows(found)


def forks_of_lines(spark):
    lines = spark.createDataFrame([], LINE_DDL)
    return journal_rows.forks(journal_rows.siblings(lines), lines)


def forks_of_logs(spark):
    entries = spark.createDataFrame([], LOG_DDL)
    return logs.forks(logs.without_twins(entries, logs.repeated_clocks(entries)), entries)


def forks_of_devices(spark):
    return devices.forks(spark.createDataFrame([], ENTRY_DDL), None, is_weak=True, hmac_key=None)


def forks_of_contexts(spark):
    return contexts.contradictions(spark.createDataFrame([], FACT_DDL), spark.createDataFrame([], COMMIT_DDL))


def bindings_of_contexts(spark):
    granted = spark.createDataFrame([], GRANTED_DDL)
    return bindings.bindings(granted, bindings.proven_pairs(granted))


@pytest.mark.parametrize(
    "forks", [forks_of_lines, forks_of_logs, forks_of_devices, forks_of_contexts, bindings_of_contexts]
)
def test_no_aggregate_collects_the_records_of_a_fork_or_a_binding(spark, forks):
    with session_settings(spark, {"spark.sql.debug.maxToStringFields": "100"}):
        plan = forks(spark)._jdf.queryExecution().analyzed().toString()
    collected = [line for line in plan.splitlines() if re.search(r"Aggregate .*collect_(?:list|set)", line)]
    # Device logs join the two entries that a fork shows.
    assert len(collected) == (forks is forks_of_devices)
    assert "row_number()" in plan


def test_links_have_no_long_clock_id_and_the_order_of_their_entries_is_decided_by_rank(spark):
    rows = []
    for size in (dag.LINK_CLOCK_CHARS, dag.LINK_CLOCK_CHARS + 1):
        first, last = ("c" * (size - 1) + end for end in "ab")
        for kind, parent, child in ((dag.LATE, first, last), (dag.INVERTED, last, first)):
            name = f"{kind} {size}"
            rows.append((name, 0, b"p", "p", 5, parent, "w", []))
            rows.append((name, 0, b"c", "c", 5, child, "w", [b"p"]))
    nodes = spark.createDataFrame(
        rows, "namespace string, bucket int, record_id binary, cid string, clock_time long, clock_id string, "
        "writer string, next array<binary>",
    )  # fmt: skip

    def kinds(found):
        return dict(found.where("parent IS NOT NULL").select("namespace", "kind").collect())

    short = {name: name.split()[0] for name, *_ in rows if name.endswith(str(dag.LINK_CLOCK_CHARS))}
    long = {name: name.split()[0] for name, *_ in rows if name not in short}
    assert {row.namespace for row in dag.links(nodes).where("clock_id IS NULL").collect()} == {*long}
    found = dag.edges(nodes)
    assert kinds(found) == short | dict.fromkeys(long, dag.UNSURE)
    assert kinds(dag.settled(found, nodes)) == short | long


@pytest.mark.timeout(120)
def test_repeated_digests_of_a_long_list_are_dropped_without_comparing_each_with_each(spark):
    draw = random.Random(8)
    lists = [
        draw.choices([draw.randbytes(32) for _ in range(size)], k=size)
        for size in (0, 1, 2, MOST_COMPARED - 1, MOST_COMPARED, MOST_COMPARED + 1, 1_000)
    ]
    rows = [*enumerate(lists), (len(lists), None), (len(lists) + 1, [None, b"", b"", None] * MOST_COMPARED)]
    frame = spark.createDataFrame(rows, "number int, digests array<binary>")
    found = dict(frame.select("number", distinct("digests")).collect())
    assert {number: told and list(told) for number, told in found.items()} == {
        number: digests and list(dict.fromkeys(digests)) for number, digests in rows
    }
    # Compared each with each, these take minutes.
    many = F.transform(F.sequence(F.lit(1), F.lit(200_000)), lambda n: F.unhex(F.lpad(F.hex(n), 64, "0")))
    [(size,)] = spark.range(1).select(F.size(distinct(many))).collect()
    assert size == 200_000
