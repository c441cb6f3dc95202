"""Names and lists of values cost a number of jobs and of calls of the JVM that does not depend on how many they are."""

from types import SimpleNamespace

import pytest
from pyspark.sql import functions as F

from strandline.core.errors import UsageError
from strandline.core.ids import bucket_of
from strandline.dialects import dialect
from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.codec import render
from strandline.frames.buckets import in_buckets
from strandline.frames.listed import is_listed
from strandline.pipelines.namespace_lookup import Found, find, resolve
from strandline.pipelines.run_context import NoProgress
from strandline.pipelines.spark_jobs import SparkJobs
from support.effort import Counted
from support.golden import Recorder
from support.lakes import write_files

BUCKETS = 8
STRANGE = [
    "it's",
    'a "b"',
    "back\\slash\\'",
    "${spark.app.name}",
    "new\nline",
    "tab\t",
    "ümlaut \u4e16",
    "",
    "`",
    "--",
    "\\u0041",
]
STORED = {"sdmp": ["node:aab", "node:aac", "node:bbc"], "ipfslog": ["log:shop", "log:it's", "log:sh%20op"]}


@pytest.fixture(scope="module")
def stored(spark):
    """Namespaces with records of two dialects, as a snapshot of a lake."""
    dialects = {name: dialect(name) for name in STORED}
    frames = {
        dialects[name].info.record_table: spark.createDataFrame(
            [(each, bucket_of(each, BUCKETS)) for each in names for _ in range(2)],
            "namespace STRING, bucket INT",
        )
        for name, names in STORED.items()
    }
    return dialects, SimpleNamespace(buckets=BUCKETS, read=frames.__getitem__)


def test_all_names_and_all_prefixes_are_looked_up_by_a_job_each(stored, monkeypatch):
    counted = Counted(SparkJobs.row)
    monkeypatch.setattr(SparkJobs, "row", lambda *values: counted(*values))
    names = {
        "node:aab": "node:aab", "bbc": "node:bbc", "shop": "log:shop", "log:it's": "log:it's", "sh op": "log:sh%20op",
        "bb": "node:bbc", "it": "log:it's", "node:aac": "node:aac", "sho": "log:shop",
    }  # fmt: skip
    with SparkJobs(NoProgress()) as jobs:
        found = find(names, *stored, jobs)
        assert counted.calls == 2
        assert find([], *stored, jobs) == {}
        assert find(["node:aab", "shop"], *stored, jobs) == {
            "node:aab": Found("node:aab", "sdmp"), "shop": Found("log:shop", "ipfslog")
        }  # fmt: skip
        assert counted.calls == 3
    kinds = {"node": "sdmp", "log": "ipfslog"}
    assert found == {name: Found(each, kinds[each.partition(":")[0]]) for name, each in names.items()}


def test_names_that_are_unknown_or_ambiguous_or_of_two_dialects_are_refused(stored):
    with SparkJobs(NoProgress()) as jobs:
        assert resolve(["bb", "aac", "node:aac"], *stored, jobs) == ("sdmp", ("node:bbc", "node:aac"))
        for given, code, said in (
            (["node:aab", "aa"], "NAMESPACE_AMBIGUOUS", "aa matches node:aab and node:aac"),
            (["bb", "node:bbd"], "NAMESPACE_UNKNOWN", "node:bbd"),
            (["nobody at all"], "NAMESPACE_UNKNOWN", "nobody at all"),
            (["aab", "shop"], "DIALECTS_DIFFER", "node:aab is of the dialect sdmp, log:shop of ipfslog"),
        ):
            with pytest.raises(UsageError, match=said) as refused:
                resolve(given, *stored, jobs)
            assert refused.value.code == code


def test_gc_costs_the_same_jobs_with_one_name_and_with_many(spark, new_lake, tmp_path):
    lake, recorder = new_lake(), Recorder(spark)
    lake.ingest(write_files(tmp_path / "in", {f"{no}.journal": render(synthetic(no, 3)) for no in range(9)}))
    names = tuple(synthetic_id("node", no) for no in range(9))
    for some in (names[:1], names):
        recorder.run(
            f"{len(some)} names",
            lake,
            lambda some=some: lake.gc(namespaces=some, excluded=some, what_if=True),
        )
    jobs = {name: each["jobs"] for name, each in recorder.commands.items()}
    assert jobs["9 names"] == jobs["1 names"]
    for collect in (lake.gc, lake.snapshot):
        with pytest.raises(
            UsageError, match="is of the dialect sdmp, and --dialect leaves it out"
        ) as refused:
            collect(dialects=("aura",), namespaces=names[:1])
        assert refused.value.code == "DIALECTS_DIFFER"


@pytest.mark.parametrize("count", [0, 1, 3, 200])
def test_a_list_keeps_the_rows_that_isin_keeps(spark, count):
    texts = [*STRANGE, *(f"node:{no}" for no in range(200))]
    rows = spark.createDataFrame(
        [(no, text, text.encode()) for no, text in enumerate(texts)], "n BIGINT, text STRING, content BINARY"
    ).cache()
    some = texts[:count]
    for column, values in (
        ("text", some), ("content", [each.encode() for each in some]), ("n", [*range(count), -1, 2**40]),
    ):  # fmt: skip
        kept = rows.where(is_listed(column, values)).orderBy("n").collect()
        assert kept == rows.where(F.col(column).isin(values)).orderBy("n").collect()
        assert len(kept) == count
    assert rows.where(~is_listed("text", some)).count() == len(texts) - count
    rows.unpersist()


@pytest.mark.parametrize("escaped", ["false", "true"])
def test_a_list_of_texts_is_read_the_same_whatever_the_session_makes_of_backslashes(spark, escaped):
    setting = "spark.sql.parser.escapedStringLiterals"
    spark.conf.set(setting, escaped)
    try:
        rows = spark.createDataFrame([(text,) for text in STRANGE], "text STRING")
        for text in STRANGE:
            assert [row["text"] for row in rows.where(is_listed("text", [text])).collect()] == [text]
    finally:
        spark.conf.unset(setting)


def test_a_list_reaches_the_files_as_isin_does_by_a_call_for_all_values(spark, tmp_path, monkeypatch):
    path = str(tmp_path / "rows")
    spark.range(100).selectExpr(
        "CAST(id % 8 AS INT) AS bucket", "CAST(id AS STRING) AS namespace"
    ).write.partitionBy("bucket").parquet(path)
    rows, names = spark.read.parquet(path), [str(no) for no in range(300)]
    client = spark.sparkContext._gateway._gateway_client
    sent = Counted(client.send_command)
    monkeypatch.setattr(client, "send_command", lambda *values, **options: sent(*values, **options))

    def calls(condition):
        before = sent.calls
        condition()
        return sent.calls - before

    assert calls(lambda: is_listed("namespace", names)) == calls(lambda: is_listed("namespace", names[:1]))
    assert calls(lambda: in_buckets(range(300))) == calls(lambda: in_buckets([1]))
    monkeypatch.undo()
    ours = rows.where(in_buckets([1, 2, 3]) & is_listed("namespace", names[:3]))
    usual = rows.where(F.col("bucket").isin(1, 2, 3) & F.col("namespace").isin(names[:3]))
    plans = [_filters(each) for each in (ours, usual)]
    assert plans[0] == plans[1]
    assert "bucket" in plans[0]["PartitionFilters"]
    assert "In(namespace, [0,1,2])" in plans[0]["PushedFilters"]


def _filters(rows):
    """What the scan of the files is asked for, without the numbers of columns."""
    text = rows._jdf.queryExecution().explainString(
        rows.sparkSession._jvm.org.apache.spark.sql.execution.ExplainMode.fromString("formatted")
    )
    lines = (line.partition(": ") for line in text.splitlines())
    return {name: _bare(value) for name, _, value in lines if name in ("PartitionFilters", "PushedFilters")}


def _bare(text):
    return "".join(part.lstrip("0123456789") for part in text.split("#")) if "#" in text else text
