"""Which buckets of a table have many small files, by its log: numbers and bytes, in memory that files do not fill."""

import json
import tracemalloc

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from strandline.tables.location import Location
from strandline.tables.maintain import SmallFiles, small_files
from strandline.tables.reads import TableReads

TABLE = "node_journal_line"
FILES = 20_000
BUCKETS = 8


def reads(lake):
    return TableReads(None, Location.lake(str(lake)))


def asked(lake, small_bytes=2**30, least=2):
    return small_files(reads(lake), TABLE, small_bytes=small_bytes, least=least)


def test_buckets_with_enough_small_files_are_found_with_their_files_and_bytes(tmp_path):
    counts = {3: 3, 11: 2, 0: 1}
    for bucket, count in counts.items():
        for number in range(count):
            rows = pa.table({"bucket": pa.array([bucket], pa.int32()), "n": [number]})
            write_deltalake(tmp_path / TABLE, rows, mode="append", partition_by=["bucket"])
    added = pa.table(DeltaTable(str(tmp_path / TABLE)).get_add_actions(flatten=True)).to_pylist()

    def size(*buckets):
        return sum(each["size_bytes"] for each in added if int(each["partition.bucket"]) in buckets)

    assert asked(tmp_path) == SmallFiles((3, 11), 5, size(3, 11))
    assert asked(tmp_path, least=3) == SmallFiles((3,), 3, size(3))
    assert asked(tmp_path, least=1) == SmallFiles((0, 3, 11), 6, size(0, 3, 11))
    assert asked(tmp_path, small_bytes=1, least=1) == asked(tmp_path, least=4) == SmallFiles()


def test_a_table_without_buckets_is_one_group_and_one_without_files_none(tmp_path):
    write_deltalake(tmp_path / TABLE, pa.table({"bucket": pa.array([], pa.int32())}))
    assert asked(tmp_path, least=1) == SmallFiles()
    for _ in range(2):
        write_deltalake(tmp_path / TABLE, pa.table({"bucket": pa.array([7], pa.int32())}), mode="append")
    found = asked(tmp_path)
    assert (found.buckets, found.files, found.size > 0) == ((None,), 2, True)


def log_of(lake, files):
    """A table whose log says that it has these files: bucket and size."""
    write_deltalake(
        lake / TABLE, pa.table({"bucket": pa.array([], pa.int32()), "n": [1][:0]}), partition_by=["bucket"]
    )
    added = [
        {
            "path": f"bucket={bucket}/{number}.parquet", "partitionValues": {"bucket": str(bucket)},
            "size": size, "modificationTime": 0, "dataChange": True,
        }
        for number, (bucket, size) in enumerate(files)
    ]  # fmt: skip
    commit = lake / TABLE / "_delta_log" / f"{1:020}.json"
    commit.write_text("".join(json.dumps({"add": each}) + "\n" for each in added), encoding="utf-8")


def test_few_small_files_in_each_of_many_buckets_are_compacted_where_that_is_cheap(tmp_path):
    pairs = [(bucket, 50) for bucket in range(BUCKETS) for _ in range(2)]
    log_of(tmp_path / "many", [*pairs, (99, 50)])
    assert asked(tmp_path / "many", small_bytes=1600, least=8) == SmallFiles(tuple(range(8)), 16, 800)
    # Together they are too large for what they save, or too few.
    assert asked(tmp_path / "many", small_bytes=1599, least=8) == SmallFiles()
    log_of(tmp_path / "few", pairs[1:])
    assert asked(tmp_path / "few", small_bytes=1600, least=8) == SmallFiles()


def test_a_table_of_many_files_is_counted_without_a_row_of_python_for_each(tmp_path):
    log_of(tmp_path, [(number % BUCKETS, 1000 + number) for number in range(FILES)])
    tables = reads(tmp_path)
    tables.version(TABLE)
    tracemalloc.start()
    try:
        found = small_files(tables, TABLE, small_bytes=1000 + FILES, least=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (found.buckets, found.files) == (tuple(range(BUCKETS)), FILES)
    assert peak < 256 * 1024
