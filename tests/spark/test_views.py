"""Each view has a row of each kind: it tells all that it can from rows of the references. What dashboards count."""

from datetime import UTC, datetime

from pyspark.sql.types import BooleanType, StructType

from strandline.contracts.ddl import columns_ddl
from strandline.contracts.load import contract, tables
from strandline.frames.one_task import ONE_TASK
from strandline.tables.commits import session_settings
from strandline.tables.views import lake_views
from strandline.tables.work_settings import SMALL_WORK
from support import view_rows
from support.other_settings import OF_QUERIES
from support.typed_pages import DASHBOARDS
from support.view_kinds import kinds, shown


def test_each_view_has_a_row_of_each_kind(spark):
    planted = view_rows.rows()
    lacking = []
    try:
        for table in tables():
            schema = StructType.fromDDL(columns_ddl(contract(table)))
            for field in schema:
                field.nullable = True
            rows = [tuple(row.get(name) for name in schema.names) for row in planted.get(table, ())]
            spark.createDataFrame(rows, schema).coalesce(1).createOrReplaceTempView(table)
        with session_settings(spark, {**ONE_TASK, **SMALL_WORK}):
            for name, view in lake_views().items():
                frame = spark.sql(view.select)
                booleans = {field.name for field in frame.schema if isinstance(field.dataType, BooleanType)}
                rows = frame.collect()
                # A host may have another session: without ANSI the size of a null is -1.
                with session_settings(spark, OF_QUERIES):
                    assert sorted(map(repr, spark.sql(view.select).collect())) == sorted(map(repr, rows)), (
                        name
                    )
                found = shown(row.asDict() for row in rows)
                wanted = list(kinds(view, booleans))
                assert {column for column, _ in wanted} == set(frame.columns), name
                lacking += [
                    f"{name}.{column}: {value}" for column, value in wanted if (column, value) not in found
                ]
    finally:
        for table in tables():
            spark.catalog.dropTempView(table)
    assert lacking == []


def test_dashboards_count_a_batch_of_a_stream_once_and_what_sync_copies(spark):
    at = datetime.now(UTC)
    columns = (
        "command STRING, dialect STRING, outcome STRING, started_at TIMESTAMP, read BIGINT, new BIGINT, "
        "readmitted BIGINT"
    )
    runs = [
        ("ingest", "sdmp", "ok", at, 10, 7, 1),
        ("ingest", "sdmp", "ok", at, 20, 5, 0),
        ("stream", "sdmp", "ok", at, 30, 12, 1),
        ("sync", None, "ok", at, 40, 40, 0),
        ("sync", "aura", "ok", at, None, None, None),
        ("reduce", None, "ok", at, None, None, None),
    ]
    try:
        spark.createDataFrame(runs, columns).coalesce(1).createOrReplaceTempView("run_history")
        with session_settings(spark, {**ONE_TASK, **SMALL_WORK}):
            growth, freshness = (spark.sql(DASHBOARDS[name]).collect() for name in ("growth", "freshness"))
    finally:
        spark.catalog.dropTempView("run_history")
    assert [(row.dialect, row.records, row.total) for row in growth] == [
        ("sdmp", 13, 13),
        ("several", 40, 40),
    ]
    assert [(row.dialect, row.read_since_yesterday) for row in freshness] == [("sdmp", 30)]


def test_the_newest_collection_is_that_whose_run_was_added_last_whatever_its_clock_says(spark):
    ran = "run_id STRING, started_at TIMESTAMP, detail STRING"
    runs = [
        ("early-1", datetime(2036, 1, 1, tzinfo=UTC), '{"run_version": 4}'),
        ("late-2", datetime(2026, 1, 1, tzinfo=UTC), '{"run_version": 9}'),
    ]
    collected = (
        "run_id STRING, namespace STRING, outcome STRING, reason STRING, gc_number BIGINT, pruned BIGINT, "
        "bytes BIGINT, kinds MAP<STRING, BIGINT>, holds MAP<STRING, BIGINT>, snapshot_id BINARY"
    )
    rows = [
        (run_id, "log:a", "DONE", None, 1, pruned, 0, {"entry": pruned}, {}, None)
        for run_id, pruned in (("early-1", 3), ("late-2", 5), ("killed-3", 7))
    ]
    try:
        for table, found, columns in (("run", runs, ran), ("gc_run", rows, collected)):
            spark.createDataFrame(found, columns).coalesce(1).createOrReplaceTempView(table)
        with session_settings(spark, {**ONE_TASK, **SMALL_WORK}):
            newest = spark.sql(lake_views()["gc_report"].select).collect()
    finally:
        for table in ("run", "gc_run"):
            spark.catalog.dropTempView(table)
    assert [(row.run, row.prunable) for row in newest] == [("late-2", 5)]
