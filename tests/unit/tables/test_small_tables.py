"""Tables that Spark must read: large, damaged, or with commits that are not in the log."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from strandline.tables import small_tables
from strandline.tables.location import Location
from strandline.tables.reads import TableReads
from strandline.tables.small_tables import SmallTables, _are_recorded
from support import delta_rs_lake

TABLE = "node_journal_line"


@pytest.fixture
def lake(tmp_path):
    delta_rs_lake.write(
        tmp_path, TABLE, [{"namespace": f"node:{number}", "bucket": number} for number in range(3)]
    )
    delta_rs_lake.write(tmp_path, TABLE, [{"namespace": "node:3", "bucket": 3}])
    delta_rs_lake.set_properties(tmp_path, TABLE, {small_tables.CHANGE_FEED: "true"})
    return tmp_path


def found(lake, version=None):
    return SmallTables(Location.lake(str(lake)), is_trusted=True).rows(TABLE, version)


def changed(lake, first, last):
    return SmallTables(Location.lake(str(lake)), is_trusted=True).changes(TABLE, first, last)


def test_rows_of_a_version_have_the_columns_and_types_of_the_table(lake):
    rows, schema = found(lake)
    assert sorted(rows["namespace"].to_pylist()) == [f"node:{number}" for number in range(4)]
    assert schema.names == rows.schema.names
    assert schema["bucket"].dataType.simpleString() == "int"
    before, _ = found(lake, 1)
    assert before.num_rows == 3
    empty, _ = found(lake, 0)
    assert empty.num_rows == 0


def test_a_table_whose_files_have_another_name_of_a_column_is_not_read(tmp_path):
    delta_rs_lake.write(tmp_path, TABLE, [])
    delta_rs_lake.map_columns(tmp_path, TABLE, ["source"])
    delta_rs_lake.write(tmp_path, TABLE, [{"namespace": "node:1", "bucket": 1, "source": "/in/a"}])
    assert found(tmp_path) is None


def test_rows_are_read_once_a_version(lake):
    small = SmallTables(Location.lake(str(lake)), is_trusted=True)
    first = small.rows(TABLE)
    assert small.rows(TABLE) is first
    delta_rs_lake.write(lake, TABLE, [{"namespace": "node:4", "bucket": 4}])
    later = small.rows(TABLE)
    assert later[0].num_rows == 5
    # An older version that is asked for once takes the place of none that is kept.
    older, _ = small.rows(TABLE, 1)
    assert older.num_rows == 3
    assert small.rows(TABLE) is later


@pytest.mark.parametrize(("limit", "value"), [("MOST_FILES", 3), ("MOST_BYTES", 1000), ("MOST_MEMORY", 100)])
@pytest.mark.parametrize("has_checksum", [True, False])
def test_a_table_over_a_limit_is_not_read(lake, monkeypatch, limit, value, has_checksum):
    if has_checksum:
        sizes = DeltaTable(str(lake / TABLE)).get_add_actions().column("size_bytes").to_pylist()
        stated = {"numFiles": len(sizes), "tableSizeBytes": sum(sizes)}
        (lake / TABLE / "_delta_log" / f"{2:020}.crc").write_text(json.dumps(stated))
    assert found(lake) is not None
    monkeypatch.setattr(small_tables, limit, value)
    assert found(lake) is None


@pytest.mark.parametrize("has_checksum", [True, False])
def test_a_table_of_just_the_most_files_and_bytes_is_read(lake, monkeypatch, has_checksum):
    sizes = DeltaTable(str(lake / TABLE)).get_add_actions().column("size_bytes").to_pylist()
    if has_checksum:
        stated = {"numFiles": len(sizes), "tableSizeBytes": sum(sizes)}
        (lake / TABLE / "_delta_log" / f"{2:020}.crc").write_text(json.dumps(stated))
    for fewer_files, fewer_bytes in ((0, 0), (1, 0), (0, 1)):
        monkeypatch.setattr(small_tables, "MOST_FILES", len(sizes) - fewer_files)
        monkeypatch.setattr(small_tables, "MOST_BYTES", sum(sizes) - fewer_bytes)
        assert (found(lake) is not None) == (fewer_files + fewer_bytes == 0)


def test_a_long_log_without_a_checksum_is_not_read(lake, monkeypatch):
    monkeypatch.setattr(small_tables, "MOST_COMMITS", 2)
    assert found(lake) is None
    assert changed(lake, 0, 2) is None
    rows, _ = changed(lake, 1, 2)
    assert rows.num_rows == 4


def test_after_its_newest_checksum_a_long_log_is_read_commit_by_commit(lake, monkeypatch):
    """As that of `run`, whose rows delta-rs adds, after a compaction with Spark."""
    for number in range(4, 8):
        delta_rs_lake.write(lake, TABLE, [{"namespace": f"node:{number}", "bucket": number}])
    log = lake / TABLE / "_delta_log"

    def stated(version, **members):
        (log / f"{version:020}.crc").write_text(json.dumps(members))

    monkeypatch.setattr(small_tables, "MOST_COMMITS", 4)
    assert found(lake) is None
    stated(2, numFiles=4, tableSizeBytes=4_000)
    assert found(lake) is None
    stated(3, numFiles=5, tableSizeBytes=5_000)
    rows, _ = found(lake)
    assert rows.num_rows == 8
    # What came after it counts, too.
    for name, limit in (("MOST_FILES", 7), ("MOST_BYTES", 5_001)):
        with monkeypatch.context() as limited:
            limited.setattr(small_tables, name, limit)
            assert found(lake) is None
    # One that is no checksum is none.
    stated(5, numFiles="many", tableSizeBytes=1)
    assert found(lake) is not None


def test_changes_that_the_table_does_not_record_are_not_read(lake):
    assert changed(lake, 1, 2) is not None
    delta_rs_lake.set_properties(lake, TABLE, {small_tables.CHANGE_FEED: "false"})
    assert changed(lake, 1, 2) is None


@pytest.mark.parametrize("off_at", [0, 2, 3, 4])
def test_changes_are_read_only_of_versions_that_all_record_them(lake, off_at):
    delta_rs_lake.write(lake, TABLE, [{"namespace": "node:4", "bucket": 4}])
    delta_rs_lake.write(lake, TABLE, [{"namespace": "node:5", "bucket": 5}])
    log = lake / TABLE / "_delta_log"
    first = [json.loads(line) for line in (log / f"{0:020}.json").read_text().splitlines()]
    [metadata] = [action for action in first if "metaData" in action]
    if off_at:
        metadata["metaData"]["configuration"][small_tables.CHANGE_FEED] = "false"
        commit = log / f"{off_at:020}.json"
        commit.write_text(f"{commit.read_text()}\n{json.dumps(metadata)}\n")
    recorded = [_are_recorded({small_tables.CHANGE_FEED: "true"}, log, 1, last) for last in (1, 2, 3, 4)]
    assert recorded == [not 0 < off_at <= last for last in (1, 2, 3, 4)]


def data_file(lake):
    return next((lake / TABLE / "bucket=3").glob("*.parquet"))


def flip_a_bit(lake):
    content = bytearray(data_file(lake).read_bytes())
    content[40] ^= 1
    data_file(lake).write_bytes(content)


def null_in_the_key(lake):
    """A file that is whole, as the log says it, but has a null where the table allows none."""
    rows = pq.ParquetFile(data_file(lake)).read()
    nulls = pa.nulls(rows.num_rows, rows.schema.field("namespace").type)
    at = rows.schema.get_field_index("namespace")
    pq.write_table(rows.set_column(at, "namespace", nulls), data_file(lake))
    actions = [json.loads(line) for line in newest(lake).read_text().splitlines()]
    for action in actions:
        action.get("add", {}).update(size=data_file(lake).stat().st_size)
    newest(lake).write_text("\n".join(map(json.dumps, actions)))


def newest(lake):
    return lake / TABLE / "_delta_log" / f"{2:020}.json"


def sizeless(lake):
    """A long log without checksums is read commit by commit."""
    for crc in (lake / TABLE / "_delta_log").glob("*.crc"):
        crc.unlink()
    actions = [json.loads(line) for line in newest(lake).with_name(f"{1:020}.json").read_text().splitlines()]
    for action in actions:
        action.get("add", {}).update(size="many")
    newest(lake).with_name(f"{1:020}.json").write_text("\n".join(map(json.dumps, actions)))


def staged(lake):
    folder = lake / TABLE / "_delta_log" / "_staged_commits"
    folder.mkdir()
    (folder / "3.json").write_bytes(b"")


@pytest.mark.large
@pytest.mark.parametrize(
    "damage",
    [
        flip_a_bit, null_in_the_key, staged, sizeless,
        lambda lake: data_file(lake).unlink(),
        lambda lake: data_file(lake).write_bytes(b"PAR1"),
        lambda lake: newest(lake).write_bytes(b"noise"),
        lambda lake: newest(lake).write_bytes(newest(lake).read_bytes()[:200]),
        lambda lake: shutil.rmtree(lake / TABLE),
    ],
    ids=["flipped bit", "null", "staged commit", "size", "no data file", "no Parquet", "noise", "half", "no table"],
)  # fmt: skip
def test_what_is_damaged_is_left_to_spark_which_tells_it(lake, damage):
    damage(lake)
    assert found(lake) is None
    assert changed(lake, 2, 2) is None


def test_a_null_where_the_table_allows_none_is_left_to_spark(lake):
    assert found(lake) is not None
    null_in_the_key(lake)
    assert found(lake) is None
    assert changed(lake, 2, 2) is None
    # Elsewhere it is a value.
    rows, _ = found(lake, 1)
    assert rows["source"].null_count == rows.num_rows


def test_rows_that_a_commit_changed_are_none_that_it_inserted(tmp_path):
    delta_rs_lake.write(tmp_path, TABLE, [{"namespace": "node:1", "bucket": 1, "source": "/in/a"}])
    delta_rs_lake.set_properties(tmp_path, TABLE, {small_tables.CHANGE_FEED: "true"})
    table = DeltaTable(str(tmp_path / TABLE))
    table.update(predicate="namespace = 'node:1'", updates={"source": "'/in/b'"})
    rows, _ = changed(tmp_path, table.version(), table.version())
    assert rows.num_rows == 0


def test_a_row_within_buckets_and_bounds_is_found_without_spark(tmp_path):
    delta_rs_lake.write(
        tmp_path, TABLE, [{"namespace": f"node:{n}", "bucket": n % 2, "n": n} for n in range(1, 6)]
    )
    tables = TableReads(None, Location.lake(str(tmp_path)))
    asked = {
        ((0,), (2, 4)): True, ((1,), (2, 2)): False, ((0, 1), (6, 2**62)): False, ((7,), (0, 9)): False,
        ((0,), (0, 1)): False, ((1,), (-(2**62), 1)): True, ((0,), (4, 2)): False,
    }  # fmt: skip
    for (buckets, bounds), is_there in asked.items():
        assert tables.has_rows_within(TABLE, buckets, {"n": bounds}) == is_there
    assert [tables.has_rows_within(TABLE, (bucket,), {}) for bucket in range(3)] == [True, True, False]


def test_an_old_version_is_opened_for_changes_only_if_its_commit_is_gone(lake, monkeypatch):
    delta_rs_lake.write(lake, TABLE, [{"namespace": "node:4", "bucket": 4}])
    monkeypatch.setattr(TableReads, "_frame", lambda _, small: small[0])
    opened = []
    monkeypatch.setattr(TableReads, "read_version", lambda _, *asked: opened.append(asked))
    tables = TableReads(None, Location.lake(str(lake)))
    version = tables.version(TABLE)
    for is_gone in (False, True):
        rows, count = tables.changes_since(TABLE, version - 1, version)
        assert (rows["namespace"].to_pylist(), count) == (["node:4"], 1)
        assert opened == [(TABLE, version - 1)] * is_gone
        DeltaTable(str(lake / TABLE)).create_checkpoint()
        (lake / TABLE / "_delta_log" / f"{version - 1:020}.json").unlink(missing_ok=True)
