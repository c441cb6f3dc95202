"""Logs reduced by Spark have the rows that the plain reference gives, however the news came and whatever was told."""

import random
import shutil
from datetime import timedelta
from itertools import repeat
from types import SimpleNamespace

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import functions as F

from strandline.contracts.views import views
from strandline.core.errors import UsageError
from strandline.dialects import dialect
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.codec import ANYONE
from strandline.dialects.ipfslog.reduce import (
    Dag,
    LogConfiguration,
    counter,
    feed,
    iterate,
    list_digest,
    node_of,
    state,
    traverse,
)
from strandline.dialects.ipfslog.spark import few_entries, forks, hints, order, reduction, suffix, write_lists
from strandline.dialects.ipfslog.spark import logs as log_frames
from strandline.dialects.ipfslog.spark.dag import settled
from strandline.dialects.ipfslog.spark.retained import RetainedEntries
from strandline.dialects.ipfslog.types import log_namespace
from strandline.frames.listed import MOST_PUSHED
from strandline.frames.one_task import ONE_TASK
from strandline.pipelines import reduce, reducer_options, sql
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.run_context import NoProgress
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.commits import session_settings
from strandline.tables.views import bare_names
from support.effort import Counted
from support.ipfslog_cases import LOG, dag, document, lies, names, who
from support.kills import KilledError, killed_at
from support.lakes import Lake
from support.log_lakes import (
    REDUCED,
    ReferenceLogs,
    enter,
    enter_identities,
    file_of,
    lake_tables,
    prune,
    told,
)
from support.log_parts import drawn_reads, taken
from support.plans import executed_plans
from support.random_logs import random_log

LOGS = 150
MANY_WRITERS = tuple(f"writer {number:060}" for number in range(80))
ORDERED = (few_entries, order, suffix, state)
"""Modules that hash the order of a log by blocks."""
HASHES = document()["dag"]["hashes"]
TWO = tuple(sorted([who("bob").id, who("carol").id]))


@pytest.mark.parametrize("batches", [2, pytest.param(3, marks=pytest.mark.slow)], ids="{} batches".format)
def test_spark_and_reference_agree_on_random_logs_over_batches_manifests_and_changed_files(
    new_lake, monkeypatch, batches
):
    # The order of many logs has several blocks: those before the changes keep their hashes.
    for module in ORDERED:
        monkeypatch.setattr(module, "ORDER_BLOCK", 4)
    # These have too many bytes, then too many entries, to be reduced whole.
    whole, few = Counted(reduction.from_few), (few_entries.FEW_ENTRIES, few_entries.FEW_BYTES)
    most = hints.BROADCAST_BYTES
    monkeypatch.setattr(reduction, "from_few", whole)
    monkeypatch.setattr(few_entries, "FEW_BYTES", 10_000)
    # Half of the write lists are too long for the states of their logs.
    lake = new_lake()
    logs = [random_log(seed, batches, MANY_WRITERS if seed % 2 else ()) for seed in range(LOGS)]
    reference = ReferenceLogs({each.log_id: each.told for each in logs if each.told})
    files = file_of(reference.told)
    manifests = [manifest for each in logs for manifest in each.manifests]
    late = manifests[::3]
    enter_identities(lake)
    for number in range(batches):
        entries = [entry for each in logs for entry in each.batches[number]]
        known = [each for each in manifests if each not in late] if number == 0 else []
        for side in (lake, reference):
            enter(lake, entries, known) if side is lake else reference.enter(entries, known)
        report = lake.reduce(files=files if number == 0 else {})
        assert report.outcome == "ok"
        assert lake_tables(lake) == reference.tables()
        monkeypatch.setattr(few_entries, "FEW_ENTRIES", LOGS)
        monkeypatch.setattr(few_entries, "FEW_BYTES", few[1])
        # The next batches have rows of logs with too many bytes for a broadcast.
        monkeypatch.setattr(hints, "BROADCAST_BYTES", -1)
        if number == batches - 2:
            # Some entries go: that changes no row. What comes in the next batch may be one of them.
            pruned = prune(lake, reference, random.Random(0))
            assert len(pruned) > LOGS // (20 if batches == 2 else 10)
            assert reference.tables() == lake_tables(lake)
    assert sum(row[0] is not None for row in lake.rows("namespace_state", "order_blocks")) > LOGS // 4
    # `--full` repairs damaged rows, missing ones and one without an entry.
    name = lake.rows("ipfs_log_document", "namespace")[0][0]
    lake.damage("UPDATE ipfs_log_view SET tied = NOT tied WHERE namespace = '{}'", name)
    lake.damage("DELETE FROM ipfs_log_head WHERE namespace = '{}'", name)
    row = "SELECT * EXCEPT (document_key), 'stray' AS document_key FROM ipfs_log_document"
    lake.damage(f"INSERT INTO ipfs_log_document BY NAME {row} WHERE namespace = '{{}}' LIMIT 1", name)
    # Links of entries with long clock ids have none: ranks decide then.
    ranked = Counted(settled)
    monkeypatch.setattr("strandline.dialects.ipfslog.spark.dag.settled", ranked)
    monkeypatch.setattr("strandline.dialects.ipfslog.spark.dag.LINK_CLOCK_CHARS", 0)
    found = lake.reduce(full=True)
    assert ranked.calls == 1
    assert (found.outcome, found.exit) == ("found", 1)
    assert found.members["differences"] == {
        table: [name] for table in ("ipfs_log_document", "ipfs_log_head", "ipfs_log_view")
    }
    assert lake_tables(lake) == reference.tables()
    monkeypatch.setattr(hints, "BROADCAST_BYTES", most)
    # Whole logs have equal rows: nothing is new, and nothing is written.
    assert whole.calls == 0
    monkeypatch.setattr(few_entries, "FEW_ENTRIES", few[0])
    before = lake.versions()
    again = lake.reduce(full=True)
    assert (again.counts["reduced"], again.members["differences"]) == (0, {})
    assert lake.versions() == before
    # Manifests come late, and the operator thinks again: only logs that are told otherwise are reduced.
    assert whole.calls == 1
    monkeypatch.setattr(few_entries, "FEW_ENTRIES", few[0] if batches == 2 else LOGS)
    enter(lake, manifests=late)
    reference.enter(manifests=late)
    changed = [each.log_id for each in logs if each.told and each.log_id not in pruned][::4]
    reference.told |= {log_id: told("keyvalue", TWO) for log_id in changed}
    told_otherwise = file_of(reference.told | {pruned[0]: told("feed")})
    with pytest.raises(UsageError, match="were pruned under its store and write list"):
        lake.reduce(files=told_otherwise)
    report = lake.reduce(files=file_of(reference.told))
    assert len(changed) <= report.counts["reduced"] < LOGS
    assert lake_tables(lake) == reference.tables()
    assert_views_agree(lake, reference)
    assert_parts_agree(lake, reference)


LARGE_PARTS = {
    "clock_id": "c" * 1_000,
    "writer": "w" * 1_000,
    "next": [b"d" * 32] * 25,
    "ops": [("PUTALL", "", None, 0, None)] * 25,
    "value": [("PUT", "k", "v" * 1_000, 0, None)],
}


def test_one_entry_with_a_large_part_is_not_reduced_whole(spark, monkeypatch):
    # Each part may have two MiB in each entry: the number of entries bounds nothing.
    ops = "ARRAY<STRUCT<op: STRING, op_key: STRING, value_json: STRING, item: INT, target: STRING>>"
    ddl = (
        "namespace STRING, bucket INT, record_id BINARY, cid STRING, clock_time BIGINT, clock_id STRING,"
        f" writer STRING, key STRING, variant STRING, next ARRAY<BINARY>, ops {ops}"
    )
    usual = {"clock_id": "c", "writer": "w", "next": [], "ops": []}
    configured = spark.createDataFrame([("log:a", None)], "namespace STRING, list_id BINARY")
    monkeypatch.setattr(few_entries, "FEW_BYTES", 999)

    def are_few(entries=1, walk_entries=10, stored=None, **parts):
        part = usual | parts
        row = (
            "log:a",
            0,
            b"r",
            "zdpu",
            1,
            part["clock_id"],
            part["writer"],
            "k",
            "v2",
            part["next"],
            part["ops"],
        )
        retained = RetainedEntries(spark.createDataFrame([row], ddl), None)
        scope = SimpleNamespace(walk_entries=walk_entries, version=0)
        tables = SimpleNamespace(few_rows=lambda *_: stored)
        return few_entries.are_few(retained, configured, entries, tables, SparkJobs(NoProgress()), scope)

    assert are_few()
    for name, value in LARGE_PARTS.items():
        assert not are_few(**{"ops" if name == "value" else name: value}), name
    # What the driver has of the table says it without a job, where it is far below.
    assert are_few(stored=SimpleNamespace(nbytes=249), next=LARGE_PARTS["next"])
    assert not are_few(stored=SimpleNamespace(nbytes=250), next=LARGE_PARTS["next"])
    assert not are_few(entries=11)
    assert not are_few(entries=few_entries.FEW_ENTRIES + 1, walk_entries=10**9)


def assert_views_agree(lake, reference):
    """The views show of every log what its reference says."""
    values, fed, counted, denied, nodes = set(), set(), set(), set(), set()
    in_table = {record_id for (record_id,) in lake.rows("ipfs_log_entry", "record_id")}
    for log_id, held in reference.entries.items():
        configuration, state = reference.configuration(log_id), reference.state(log_id)
        in_order = [held[record_id] for record_id in state.values]
        for each, row in zip(in_order, state.view, strict=True):
            is_pruned = each.record_id in reference.pruned.get(log_id, {})
            links = tuple(digest.hex() for digest in each.next)
            nodes.add((each.namespace, row.position, each.cid, None if is_pruned else each.variant, links))
            values |= {(log_id, row.position, each.cid)} if each.record_id in in_table else set()
        denied |= {(log_id, held[record_id].cid) for record_id in state.denied}
        if configuration.store == "feed":
            fed |= {(log_id, held[record_id].cid) for record_id in feed(in_order)}
        if configuration.store == "counter":
            counted.add((log_id, counter(state.documents)))
    assert set(lake.asked("SELECT log_id, position, cid FROM ipfs_log_values")) == values
    assert set(lake.asked("SELECT namespace, position, cid, variant, next FROM ipfs_log_dag")) == nodes
    assert set(lake.asked("SELECT log_id, cid FROM ipfs_log_denied")) == denied
    assert set(lake.asked("SELECT log_id, cid FROM ipfs_log_feed")) == fed
    assert set(lake.asked("SELECT log_id, total FROM ipfs_log_counter")) == counted
    shown = lake.asked(
        "SELECT log_id, mode, entries, denied, heads, tails, missing, forks, store, whence FROM ipfs_log_health",
    )
    assert {row[0]: row[1:] for row in shown} == {
        log_id: health(reference, log_id) for log_id in reference.entries
    }
    for view in ("node", "missing", "eventlog", "keyvalue", "documents"):
        lake.asked(f"SELECT * FROM ipfs_log_{view}")
    healths = lake.asked("SELECT namespace, records FROM namespace_health")
    assert set(healths) == {(log_namespace(log_id), len(held)) for log_id, held in reference.entries.items()}


def assert_parts_agree(lake, reference):
    """The table functions take of every log what the reference takes: of all logs at once, and as SQL asks for one."""
    dags = {}
    for log_id, held in reference.entries.items():
        gone = reference.pruned.get(log_id, {})
        listed = filter(reference.configuration(log_id).may_write, held.values())
        kept = (node_of(each) for each in listed if each.record_id not in gone)
        dags[log_namespace(log_id)] = Dag([*kept, *reference.skeletons(log_id)])
    drawn = {
        namespace: drawn_reads(random.Random(namespace), each)
        for namespace, each in dags.items()
        if each.nodes
    }
    expected = {
        (namespace, at, step, record_id.hex())
        for namespace, reads in drawn.items()
        for at, (name, wanted) in enumerate(reads)
        for step, record_id in enumerate(taken(dags[namespace], name, wanted), start=1)
    }

    named = {"iterate": iterate, "traverse": traverse}

    def read_all(log):
        reads = drawn[log["namespace"][0].as_py()]
        found = [
            kernels.part(log, lambda each, name=name, wanted=wanted: named[name](each, **wanted))
            for name, wanted in reads
        ]
        places = (pa.array([at] * each.num_rows, pa.int64()) for at, each in enumerate(found))
        return pa.concat_tables(map(pa.Table.append_column, found, repeat("at"), places))

    store = lake.store()
    with store.sized(0), bare_names(store):
        rows = lake.spark.table("ipfs_log_dag")
        found = rows.groupBy("namespace").applyInArrow(read_all, kernels.PART_DDL + ", at BIGINT").collect()
    assert {(row.namespace, row.at, row.step, row.record_id) for row in found} == expected
    # As SQL asks: without bounds of all logs, with bounds of one.
    queries, wanted = [], set()
    everywhere = "TABLE(SELECT * FROM ipfs_log_dag) PARTITION BY (namespace)"
    for name, arguments in (("iterate", {"amount": 3}), ("traverse", {"amount": 2}), ("traverse", {})):
        queries.append((name, arguments, everywhere, drawn))
    for namespace in sorted(drawn)[:4]:
        one = everywhere.replace("_dag", f"_dag WHERE namespace = '{namespace}'")
        name, arguments = drawn[namespace][2 if len(queries) % 3 else -1]
        queries.append((name, arguments, one, [namespace]))
    texts = []
    for at, (name, arguments, rows, namespaces) in enumerate(queries):
        told_ = "".join(f", {key} => {literal(value)}" for key, value in arguments.items())
        texts.append(f"SELECT {at} AS at, * FROM ipfs_log_{name}({rows}{told_})")
        for namespace in namespaces:
            for step, record_id in enumerate(taken(dags[namespace], name, arguments), start=1):
                wanted.add((at, namespace, step, record_id.hex(), dags[namespace].nodes[record_id].cid))
    assert set(lake.asked(" UNION ALL ".join(texts))) == wanted
    with pytest.raises(UsageError, match="The log holds no entry 'zdpuNone'"):
        query(lake, f"SELECT * FROM ipfs_log_iterate({everywhere}, lte => 'zdpuNone')")
    with pytest.raises(UsageError, match="not one whole log"):
        query(
            lake, f"SELECT * FROM ipfs_log_iterate({everywhere.replace('_dag', '_dag WHERE position > 1')})"
        )


def literal(value):
    """An argument as SQL spells it."""
    return (
        str(value)
        if isinstance(value, int)
        else "'" + (value if isinstance(value, str) else ",".join(value)) + "'"
    )


def query(lake, text):
    """What `strandline sql` gives."""
    store = lake.store()
    return sql.run(store, sql.SqlRequest(text), lake.context(store, "sql")).members["rows"]


def health(reference, log_id):
    state, configuration = reference.state(log_id), reference.configuration(log_id)
    return (
        state.mode, state.count, len(state.denied), len(state.heads), len(state.tails), len(state.missing),
        len(reference.forks(log_id)), configuration.store, configuration.whence,
    )  # fmt: skip


def test_the_published_dag_and_lies_have_their_hashes_and_orders_whatever_is_said_or_restored(
    new_lake, tmp_path
):
    lake, made, lie = new_lake(), dag("v2"), lies("v2")
    enter_identities(lake)
    enter(lake, made.values())

    def reduced(**request):
        lake.reduce(**request)
        [state] = lake.rows("namespace_state", "state_hash", "reducer_version", "record_count")
        return state[0].hex(), *state[1:]

    versions_told = {
        (store, tuple(write)): version for store, write, version in document()["reducer_versions"]
    }
    # A machine whose clock is ahead: what is said after its run holds all the same, and goes on to hold.
    assert reduced(files=file_of({LOG: told("keyvalue")}), clock=timedelta(days=3650)) == (
        HASHES["v2 keyvalue"],
        versions_told["keyvalue", ("*",)],
        9,
    )
    heads = sorted(lake.rows("ipfs_log_head", "rank", "record_id"))
    assert names(made, [row[1] for row in heads]) == document()["dag"]["reads"]["v2"]["heads"]
    only = file_of({LOG: told("keyvalue", TWO)})
    assert reduced(files=only) == (
        HASHES["v2 only bob, carol"], versions_told["keyvalue", ("bob", "carol")], 9,
    )  # fmt: skip
    assert len(lake.rows("ipfs_log_view")) == 5
    assert reduced()[0] == HASHES["v2 only bob, carol"]
    assert reduced(files={"log-config": None})[0] == HASHES["v2 none"]
    # A file can name more logs than a condition may list.
    named = [LOG, *(f"other {number}" for number in range(MOST_PUSHED))]
    assert reduced(files=file_of(dict.fromkeys(named, told("keyvalue"))))[0] == HASHES["v2 keyvalue"]
    assert reduced(files={"log-config": None})[0] == HASHES["v2 none"]
    assert lake.rows("ipfs_log_document") == []
    entered = {table: lake.rows(table) for table in REDUCED}
    version = lake.versions()["ipfs_log_entry"]
    # A lie turns the log to the walk; a list without the liar turns it back.
    enter(lake, lie.values())
    before = lake_tables(lake)
    limited = lake.reduce(walk_entries=12)
    assert (limited.outcome, limited.exit, limited.error.code) == ("fault", 3, "REDUCE_LIMIT")
    assert limited.members["refused"] == ["log:strand"]
    assert lake_tables(lake) == before
    # A run of another dialect says nothing of the log that was refused.
    store = lake.store()
    other = reduce.run(
        store, (dialect("sdmp"),), ReduceRequest(), lake.settings, lake.context(store, "reduce", None)
    )
    assert other.members["refused"] == []
    lake.reduce(walk_entries=13)
    reference = ReferenceLogs()
    reference.enter([*made.values(), *lie.values()])
    assert lake_tables(lake) == reference.tables()
    [shown] = lake.asked("SELECT mode, out_of_order_cid, out_of_order_writer FROM ipfs_log_health")
    assert shown == ("walk", lie["B"].cid, who("alice").id)
    lake.reduce(files=only)
    assert set(lake.rows("ipfs_log_view", "mode")) == {("sort",)}
    # RESTORE of the entries to the version before the lie: the reduction is that of the restored rows.
    entries = f"delta.`{lake.path / 'ipfs_log_entry'}`"
    lake.spark.sql(f"RESTORE TABLE {entries} TO VERSION AS OF {version}").collect()
    assert lake.reduce(files={"log-config": None}).exit == 0
    assert {table: lake.rows(table) for table in REDUCED} == entered
    # The removed entries are accepted again and reduced as changes.
    enter(lake, lie.values())
    lake.reduce()
    assert lake_tables(lake) == reference.tables()
    # A run that somebody deleted wrote last to a table that logs share, and have no row for: repaired once.
    store.mark_race("equivocation")
    assert [lake.reduce().counts["reduced"] for _ in range(2)] == [1, 0]
    assert lake_tables(lake) == reference.tables()
    # Spark, which reads a `run` that is not small, finds the same options and refusals.
    wanted = {
        "log-config": (reducer_options.MEMBER, "log-config", None),
        "refused": (reducer_options.REFUSED, None, "ipfs_log_entry"),
    }
    store = lake.store()
    by_spark = reducer_options._newest_of_many(store, wanted)
    assert by_spark.keys() == wanted.keys()
    rows = DeltaTable(str(lake.path / "run")).to_pyarrow_table()
    assert reducer_options._newest_of_few(rows, wanted) == by_spark
    # The versions of a clone begin anew: what is told there holds, not what was told before it was made.
    cloned = Lake(lake.spark, lake.settings, tmp_path / "cloned", dialect="ipfslog")
    shutil.copytree(
        lake.path, cloned.path, ignore=lambda folder, _: ["run"] if folder == str(lake.path) else []
    )
    lake.spark.sql(f"CREATE TABLE delta.`{cloned.path}/run` SHALLOW CLONE delta.`{lake.path}/run`").collect()
    cloned.reduce(files=file_of({LOG: told("keyvalue")}))
    said = cloned.rows("ipfs_log_document")
    assert len(said) > 0
    for _ in range(2):
        cloned.reduce()
        assert cloned.rows("ipfs_log_document") == said


@pytest.mark.slow
def test_a_killed_reduction_is_repaired_and_a_limit_names_the_log_and_keeps_its_state(new_lake):
    lake, made, lie = new_lake(), list(dag("core2").values()), list(lies("v2").values())
    reference = ReferenceLogs({LOG: told("keyvalue")})
    enter_identities(lake)
    enter(lake, made[:4])
    lake.reduce(files=file_of(reference.told))
    enter(lake, made)
    reference.enter(made)
    for point in ("reduce.ipfs_log_view", "reduce.before_state"):
        with pytest.raises(KilledError):
            lake.reduce(faults=killed_at(point))
    lake.reduce()
    assert lake_tables(lake) == reference.tables()
    before = {table: lake.rows(table) for table in REDUCED}
    enter(lake, lie)
    reference.enter(lie)
    for _ in range(2):
        report = lake.reduce(walk_entries=12)
        assert (report.outcome, report.exit, report.error.code) == ("fault", 3, "REDUCE_LIMIT")
        assert report.members["refused"] == ["log:strand"]
        assert "log:strand has 13 entries" in report.error.message
        unchanged = {table: lake.rows(table) for table in REDUCED if table != "equivocation"}
        assert unchanged == {table: rows for table, rows in before.items() if table != "equivocation"}
    assert lake.reduce(walk_entries=13).outcome == "ok"
    assert lake_tables(lake) == reference.tables()
    with pytest.raises(UsageError, match=r"logs\.json names an unknown store in logs\[0\]\.store"):
        lake.reduce(files=file_of({LOG: told("unheard of")}))


def test_a_border_has_few_bytes_of_a_clock_id_and_no_entry_from_the_first_new_one_on_is_before_it(spark):
    clocks = ["", "a", "x" * 500, *("x" * 500 + end for end in "ab"), "x" * 16, "y", "\U0001f980", "\uffff"]
    rows = [
        ("log:a", time, clock, f"{time} {place}") for time in (1, 2) for place, clock in enumerate(clocks)
    ]
    entries = spark.createDataFrame(rows, "namespace string, clock_time long, clock_id string, cid string")

    def k(row):
        return row[1], row[2].encode("utf-16-be")

    for new in rows[: len(clocks)]:
        found = suffix.first_new(entries.where(entries["cid"] == new[3]))
        [border] = found.collect()
        assert border["least"]["time"] == new[1]
        assert new[2].encode("utf-16-be")[:32] == border["least"]["clock"]
        behind = {row["cid"] for row in suffix.from_borders(entries, found, hints.unhinted).collect()}
        assert {row[3] for row in rows if k(row) >= k(new)} <= behind


def test_no_log_is_broadcast_where_each_stage_has_one_task(spark):
    names, hint = spark.createDataFrame([("log:a",)], "namespace STRING"), hints.hint_of(1)
    assert hint(names) is not names
    with session_settings(spark, ONE_TASK):
        assert hint(names) is names
    assert hint(names) is not names


def test_write_lists_are_asked_by_their_texts_in_one_broadcast_whatever_many_logs_name_one(spark):
    long = sorted(f"w{number}" for number in range(2, 5_000))
    stored = {b"open": ["a", ANYONE], b"both": ["key:k1", "w1"], b"long": long, b"unused": ["w1"]}
    own = {b"key": ["k1", "key:k2"], b"none": []}
    lists = stored | own
    named = {
        "log:anyone": None, "log:open": b"open", "log:both": b"both", "log:key": b"key", "log:same": b"key",
        "log:none": b"none", **{f"log:long {number}": b"long" for number in range(20)},
    }  # fmt: skip
    writers = [("w1", "k1"), ("w2", "k2"), ("k1", "k1"), ("other", "k3"), (ANYONE, "k4")]
    rows = [(namespace, *each) for namespace in (*named, "log:unknown") for each in writers]
    entries = spark.createDataFrame(rows, "namespace STRING, writer STRING, key STRING").repartition(2)
    given = spark.createDataFrame(
        [
            (name, "feed", list_id, own.get(list_id), kernels.texts_bytes(lists[list_id]) if list_id else 0)
            if list_id else (name, "none", None, [ANYONE], 0)
            for name, list_id in named.items()
        ],
        "namespace STRING, store STRING, list_id BINARY, write ARRAY<STRING>, list_bytes BIGINT",
    ).repartition(1)  # fmt: skip
    manifests = spark.createDataFrame([*stored.items()], "record_id BINARY, write ARRAY<STRING>").repartition(
        1
    )
    jobs = SparkJobs(NoProgress())
    [sizes] = given.agg(write_lists.sizes().alias("sizes")).collect()[0]
    size = sum(kernels.texts_bytes(lists[each]) for each in named.values() if each)
    assert (sizes["has_own"], sizes["has_named"], sizes["list_bytes"]) == (True, True, size)
    assert sizes["name_bytes"] == sum(len(name) + 64 for name in named)
    found_lists = write_lists.write_lists(given, manifests, sizes, jobs)
    once = {bytes(row["list_id"]): row["write"] for row in found_lists.lists.collect()}
    assert found_lists.lists.count() == len(once)
    assert once == {list_id: each for list_id, each in lists.items() if list_id != b"unused"}
    hint = hints.hint_of(hints.BROADCAST_BYTES)
    with executed_plans(spark) as plans:
        found = log_frames.listed(entries, given, hint, found_lists)
        assert found.columns == entries.columns
        kept = [tuple(row) for row in found.collect()]
    expected = [
        (namespace, writer, key)
        for namespace, writer, key in rows
        if namespace in named
        and (
            named[namespace] is None or not {ANYONE, writer, f"key:{key}"}.isdisjoint(lists[named[namespace]])
        )
    ]
    assert sorted(kept) == sorted(expected)
    # Everyone may write: no list is asked.
    open_logs = given.where("namespace = 'log:anyone'")
    [no_lists] = open_logs.agg(write_lists.sizes().alias("sizes")).collect()[0]
    assert write_lists.write_lists(open_logs, manifests, no_lists, jobs) is None
    assert log_frames.listed(entries, open_logs, hint, None).count() == len(writers)
    assert hints.hint_of(hints.BROADCAST_BYTES + 1)(given) is given
    # The states of logs with one list have its configuration, which is computed once.
    states = given.select("list_id", "store", *(
        F.when(F.col("write").isNotNull(), F.lit("own")).alias(name) for name in ("reducer_version", "configuration")
    ))  # fmt: skip
    described = {
        (row["list_id"] and bytes(row["list_id"]), row["reducer_version"], row["configuration"])
        for row in write_lists.described(states, found_lists).collect()
    }
    of_manifests = {
        list_id: LogConfiguration("feed", tuple(each), "manifest", (list_id,))
        for list_id, each in stored.items() if list_id != b"unused"
    }  # fmt: skip
    assert described == {
        *((each, "own", "own") for each in (None, b"key", b"none")),
        *((list_id, each.reducer_version, each.as_json) for list_id, each in of_manifests.items()),
    }
    # The view asks the same lists, by the configurations of the states.
    told_of = {
        name: LogConfiguration("feed", tuple(lists[list_id]), "manifest" if list_id in stored else "config", (list_id,))
        if list_id else LogConfiguration()
        for name, list_id in named.items()
    }  # fmt: skip
    assert sum("write_list" in each.as_json for each in told_of.values()) == 20
    of_states = [(name, "ipfslog", each.as_json) for name, each in told_of.items()]
    columns = ("record_id", "cid", "log_id", "clock_time", "payload_json", "source", "run_id", "landed_at")
    frames = {
        "namespace_state": spark.createDataFrame(
            of_states, "namespace STRING, dialect STRING, configuration STRING"
        ),
        "ipfs_log_manifest": manifests,
        "ipfs_log_entry": entries.withColumns({name: F.lit("1") for name in columns}),
    }
    for table, frame in frames.items():
        frame.createOrReplaceTempView(table)
    denied = (
        spark.sql(views(behind=())["ipfs_log_denied"].select).select("namespace", "writer", "key").collect()
    )
    for table in frames:
        spark.catalog.dropTempView(table)
    assert sorted(map(tuple, denied)) == sorted(
        row for row in rows if row[0] in named and row not in expected
    )
    [plan] = plans.texts
    assert "array_contains" not in plan
    assert "NestedLoop" not in plan
    final = plan.partition("== Initial Plan ==")[0]
    assert final.count("+- ReusedExchange (") == 2


def test_a_manifest_has_the_digest_of_its_list_in_spark_as_in_the_library(spark):
    lists = [["*"], [], ["10:", "a", "é"], None]
    manifests = spark.createDataFrame(
        [(bytes([at]), "list", "t" * 9_999, "a" * 9_999, each) for at, each in enumerate(lists)],
        "record_id BINARY, kind STRING, type STRING, access STRING, write ARRAY<STRING>",
    )
    rows = {
        bytes(row["record_id"])[0]: row for row in log_frames.limited(manifests, has_carries=True).collect()
    }
    for at, each in enumerate(lists):
        expected = (None, None) if each is None else (kernels.texts_bytes(each), list_digest(each))
        digest = rows[at]["list_digest"]
        assert (rows[at]["list_bytes"], digest if digest is None else bytes(digest)) == expected
        assert len(rows[at]["type"]) == len(rows[at]["access"]) < 1_000


def test_the_clocks_of_changes_have_no_key_in_their_rows(spark):
    ddl = "namespace STRING, key STRING, clock_time BIGINT, variant STRING"
    long = "k" * 100_000
    changed = [
        ("log:a", long, 1, "v2"),
        ("log:a", long, 1, "v1"),
        ("log:a", "short", 2, "v2"),
        ("log:a", "x", 3, "v0"),
    ]
    marks = forks.clock_marks(spark.createDataFrame(changed, ddl))
    rows = marks.collect()
    assert len(rows) == 2
    assert all(len(str(tuple(row))) < 100 for row in rows)
    stored = [*changed, ("log:b", long, 1, "v2"), ("log:a", long + "k", 1, "v2"), ("log:a", "short", 1, "v2")]
    entries = spark.createDataFrame(stored, ddl)
    found = forks.at_marks(entries, marks)
    assert found.columns == entries.columns
    assert sorted(map(tuple, found.collect())) == sorted(changed[:3])
