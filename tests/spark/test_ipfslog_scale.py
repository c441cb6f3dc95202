"""Large logs and many logs: the reduction's work follows the entries, and no log's size or number makes it another."""

import hashlib
from types import SimpleNamespace

import pytest
from pyspark.sql import functions as F

from bench.logs import TABLE, entry_rows
from strandline.dialect_api import refusals
from strandline.dialects.ipfslog.codec import canonical_cid
from strandline.dialects.ipfslog.spark import few_entries, links
from strandline.dialects.ipfslog.types import Entry
from strandline.pipelines import reducer_options
from support.log_lakes import ReferenceLogs, enter, file_of, lake_tables, told, written
from support.places import BUCKETS


@pytest.fixture(autouse=True)
def _never_few(monkeypatch):
    """What is tested here is the way of many entries, however few a test has."""
    monkeypatch.setattr(few_entries, "FEW_ENTRIES", 0)


def unsigned(log_id, number, time, parents, author):
    """An entry as a row has it, with a block that nobody signed: what reduces does not look into it."""
    block = f"{log_id} {number}".encode()
    digest = hashlib.sha256(block).digest()
    key = f"{author:066x}"
    return Entry(
        digest, canonical_cid(digest, "v0"), "v0", log_id, key, "", time, key, key, None, block,
        tuple(each.record_id for each in parents), (), None, (),
    )  # fmt: skip


def chain(log_id, length, lie=0):
    """A chain; the entry at the place `lie` says time 0, if there is one."""
    made = []
    for number in range(length):
        time = 0 if number == lie and lie else number + 1
        made.append(unsigned(log_id, number, time, made[-1:], 1))
    return made


def unknown(number, count):
    """Entries that nobody has."""
    names = (f"{number} {each}".encode() for each in range(count))
    return [SimpleNamespace(record_id=hashlib.sha256(name).digest()) for name in names]


def refused_by(report):
    """The logs that a reduction left as they were."""
    assert (report.outcome, report.exit, report.error.code) == ("fault", 3, "REDUCE_LIMIT")
    return sorted(report.members["refused"])


MANY = 10_000
SIZES = [
    pytest.param(20_000, 5_000, 3_000, id="20,000 deep, 5,000 heads"),
    pytest.param(100_000, 50_000, 100_000, id="100,000 deep, 50,000 heads", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("depth", "heads", "walked"), SIZES)
def test_deep_chains_many_heads_and_a_late_lie_are_reduced_without_a_step_per_generation(
    new_lake, monkeypatch, depth, heads, walked
):
    lake, reference = new_lake(), ReferenceLogs()
    deep, liar = chain("deep", depth), chain("liar", walked, lie=walked - 500)
    root = [unsigned("wide", 0, 1, [], 0)]
    wide = [*root, *(unsigned("wide", number, 2, root, number) for number in range(1, heads + 1))]
    torn = [unsigned("torn", number, 1, unknown(number, 3), number) for number in range(2)]
    # A log with more heads and missing parents than a task hashes is refused alone, then one that grew beyond that.
    most = links.MOST_LINKS
    monkeypatch.setattr(links, "MOST_LINKS", heads - 1)
    enter(lake, [*deep[:-10], *liar, *wide, torn[0]])
    assert refused_by(lake.reduce()) == ["log:wide"]
    enter(lake, [*deep, torn[1]])
    reference.enter([*deep, *liar, *wide, *torn])
    before = lake.versions()
    monkeypatch.setattr(links, "MOST_LINKS", 7)
    report = lake.reduce()
    assert refused_by(report) == ["log:torn", "log:wide"]
    assert "The log log:torn has 8 heads and missing parents" in report.error.message
    # Ten at the end cost ten rows.
    assert written(lake, "ipfs_log_view", before["ipfs_log_view"] + 1) == 10
    assert sum("log:torn" in row for row in lake.rows("ipfs_log_head")) == 1
    monkeypatch.setattr(links, "MOST_LINKS", most)
    assert lake.reduce().outcome == "ok"
    assert lake_tables(lake) == reference.tables()


def test_a_run_names_the_first_refused_logs_and_counts_all_and_the_next_one_reduces_everything(
    new_lake, monkeypatch
):
    for module in (refusals, reducer_options):
        monkeypatch.setattr(module, "MOST_NAMED", 2)
    lake, reference, most = new_lake(), ReferenceLogs(), links.MOST_LINKS
    torn = [unsigned(f"torn{number}", number, 1, unknown(number, 3), number) for number in range(4)]
    enter(lake, [*torn, *chain("sound", 3)])
    monkeypatch.setattr(links, "MOST_LINKS", 3)
    for _ in range(2):
        report = lake.reduce()
        assert refused_by(report) == ["log:torn0", "log:torn1"]
        assert report.members["refused_total"] == len(torn)
        assert report.error.message.endswith(" 3 more namespaces were not reduced.")
        assert lake.rows("namespace_state", "namespace") == [("log:sound",)]
    monkeypatch.setattr(links, "MOST_LINKS", most)
    back = lake.reduce()
    assert (back.outcome, back.members["refused"], back.members["refused_total"]) == ("ok", [], 0)
    reference.enter([*torn, *chain("sound", 3)])
    assert lake_tables(lake) == reference.tables()


def test_a_missing_parent_that_many_entries_name_counts_once(new_lake, monkeypatch):
    monkeypatch.setattr(links, "MOST_LINKS", 3)
    lake, reference, made = new_lake(), ReferenceLogs(), []
    for number in range(9):
        made.append(unsigned("same", number, number + 1, [*made[-1:], *unknown(0, 1)], 0))
    for some in (made[:6], made):
        enter(lake, some)
        assert lake.reduce().outcome == "ok"
    reference.enter(made)
    assert lake_tables(lake) == reference.tables()


@pytest.mark.slow
def test_ten_thousand_logs_beside_one_that_holds_nine_of_ten_entries_are_reduced_in_one_run(new_lake):
    lake, reference = new_lake(), ReferenceLogs()
    many = [chain(f"small {number}", 1 + number % 3) for number in range(MANY)]
    large = chain("large", 9 * sum(map(len, many)))
    late = [each[-1] for each in many[::100]] + large[-10:]
    held = set(late)
    enter(lake, [each for each in (*large, *(one for few in many for one in few)) if each not in held])
    lake.reduce()
    before = lake.versions()
    enter(lake, late)
    report = lake.reduce()
    assert report.counts == {"new_records": len(late), "reduced": MANY // 100 + 1}
    reference.enter([*large, *(one for few in many for one in few)])
    assert lake_tables(lake) == reference.tables()
    assert written(lake, "ipfs_log_view", before["ipfs_log_view"] + 1) == len(late)


@pytest.mark.slow
def test_one_lie_over_the_head_of_a_log_of_a_million_is_named_and_a_write_list_takes_its_effect_away(
    new_lake,
):
    lake, log_id, length = new_lake(), "/log/0", 1_000_000
    rows = entry_rows(lake.spark, 1, 1, length).withColumns(
        {
            "bucket": F.col("bucket") % BUCKETS,
            "variant": F.lit("v0"),
            "cid": F.concat(F.lit("Qm"), F.hex("record_id").substr(1, 44)),
            "identity_digest": F.lit(None).cast("binary"),
            "block": F.concat_ws(" ", "namespace", "clock_time").cast("binary"),
        }
    )
    lake.store().merge_new(TABLE, rows, tuple(range(BUCKETS)), {"clock_time": (1, length)})
    lake.reduce()
    head = SimpleNamespace(record_id=hashlib.sha256(f"log:%2Flog%2F0 {length}".encode()).digest())
    lie = unsigned(log_id, length, 0, [head], 7)
    enter(lake, [lie])
    assert lake.reduce().outcome == "ok"
    [health] = lake.asked("SELECT mode, entries, out_of_order_cid, out_of_order_writer FROM ipfs_log_health")
    assert health == ("walk", length + 1, lie.cid, lie.writer)
    view = lake.store().read("ipfs_log_view")
    assert view.where(f"position <> if(clock_time = 0, {length + 1}, clock_time)").count() == 0
    lake.reduce(files=file_of({log_id: told("eventlog", ["02" + "0" * 64])}))
    [health] = lake.asked("SELECT mode, entries, denied, out_of_order_cid FROM ipfs_log_health")
    assert health == ("sort", length, 1, None)
