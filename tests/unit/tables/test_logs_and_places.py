"""What the files of a log say at its edges, and places that are spelled in more than one way."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from strandline.contracts.ddl import BUCKETS_PROPERTY, CONTRACT_PROPERTY
from strandline.contracts.load import contract
from strandline.core.errors import FaultError, UsageError
from strandline.tables import damage, outfile, small_tables
from strandline.tables.checkpoint import check_steps
from strandline.tables.commits import refusals_named
from strandline.tables.delta_log import actions_of, listed
from strandline.tables.delta_rs_faults import Reading
from strandline.tables.location import Location
from strandline.tables.paths import local_path
from strandline.tables.refusals import check_properties
from strandline.tables.small_tables import SmallTables, has_row_within
from support.effort import peak_bytes

TABLE = "namespace_state"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    made = tmp_path / TABLE / "_delta_log"
    made.mkdir(parents=True)
    return made


def put(log: Path, version: int, kind: str, *lines: object) -> Path:
    file = log / f"{version:020}.{kind}"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_an_empty_commit_that_a_checkpoint_sums_up_is_no_damage_and_one_after_it_is(log: Path) -> None:
    lake = Location.lake(str(log.parents[1]))
    put(log, 2, "checkpoint.parquet", "rows")
    put(log, 2, "json")
    damage.check_log(lake, TABLE)
    put(log, 3, "json")
    with pytest.raises(FaultError, match="is empty"):
        damage.check_log(lake, TABLE)


def test_a_commit_that_came_with_its_checksum_after_the_log_was_listed_is_no_damage(
    log: Path, monkeypatch
) -> None:
    lake = Location.lake(str(log.parents[1]))
    commits = {0: put(log, 0, "json", {"add": {}})}
    monkeypatch.setattr(damage, "listed", lambda _: (commits, -1, 1))
    put(log, 1, "crc", {"numFiles": 1})
    with pytest.raises(FaultError, match="is missing, but its checksum exists"):
        damage.check_log(lake, TABLE)
    put(log, 1, "json", {"add": {}})
    damage.check_log(lake, TABLE)


@pytest.mark.parametrize(
    ("info", "is_counted"),
    [
        ([], True),
        ([{"commitInfo": {"operation": "MERGE"}}], True),
        ([{"commitInfo": {"operation": "OPTIMIZE"}}], False),
    ],
)
def test_a_last_commit_is_compared_with_its_checksum_also_if_it_names_no_operation(
    log, info, is_counted
) -> None:
    lake = Location.lake(str(log.parents[1]))
    for version, files in ((0, 1), (1, 5)):
        put(log, version, "json", *info, {"add": {}})
        put(log, version, "crc", {"numFiles": files})
    if is_counted:
        with pytest.raises(FaultError, match="leads to 2 files"):
            damage.check_log(lake, TABLE)
    else:
        damage.check_log(lake, TABLE)


@pytest.mark.large
def test_a_commit_of_very_many_files_is_read_line_by_line_and_no_further_than_needed(log: Path) -> None:
    """A table with 65,536 buckets gets as many files by one MERGE, and each command looks at the newest commits."""
    lake, files = Location.lake(str(log.parents[1])), 20_000
    add = {"add": {"path": "bucket=7/part-00007-of-many.parquet", "size": 5_000, "stats": "x" * 200}}
    for version in (0, 1):
        info = {"commitInfo": {"operation": "MERGE", "timestamp": version}}
        size = put(log, version, "json", info, *[add] * files).stat().st_size
        put(log, version, "crc", {"numFiles": files * (version + 1), "tableSizeBytes": 5_000 * files})

    def looked_at() -> None:
        damage.check_log(lake, TABLE)
        assert damage.log_damage(lake, TABLE) is None
        assert next(actions_of(log / f"{1:020}.json"))["commitInfo"]["timestamp"] == 1
        assert not SmallTables(lake, is_trusted=True).is_small(TABLE)

    assert peak_bytes(looked_at) < size / 20
    for version in (0, 1):
        (log / f"{version:020}.crc").unlink()
    assert peak_bytes(looked_at) < size / 20


def test_no_commit_is_read_of_a_table_whose_checksum_names_many_files(log: Path, monkeypatch) -> None:
    put(log, 0, "crc", {"numFiles": small_tables.MOST_FILES + 1, "tableSizeBytes": 1})
    for version in (0, 1):
        put(log, version, "json", {"add": {"size": 1}})
    read = []
    monkeypatch.setattr(small_tables, "actions_of", lambda commit: read.append(commit) or iter(()))
    assert not SmallTables(Location.lake(str(log.parents[1])), is_trusted=True).is_small(TABLE)
    assert read == []


def test_the_newest_checkpoint_counts_in_whatever_order_a_folder_is_listed(log: Path, monkeypatch) -> None:
    for version in (2, 10):
        put(log, version, "checkpoint.parquet")
    names = sorted(path.name for path in log.iterdir())
    for order in (names, names[::-1]):
        monkeypatch.setattr(os, "listdir", lambda _, order=order: order)
        assert listed(log) == ({}, 10, -1)


def test_a_table_is_named_by_its_folder_and_not_by_a_word_that_has_its_name(tmp_path: Path) -> None:
    lake = Location.lake(str(tmp_path))
    with pytest.raises(FaultError, match=f"the table {TABLE} of"), Reading(lake, "run", TABLE):
        raise OSError(f"{tmp_path}/{TABLE}/a.parquet is truncated")


def test_the_first_batch_that_was_committed_must_have_been_begun(tmp_path: Path) -> None:
    (tmp_path / "commits").mkdir()
    check_steps(str(tmp_path))
    (tmp_path / "commits" / "0").write_text("v1\n")
    with pytest.raises(FaultError, match="batch 0 is committed"):
        check_steps(str(tmp_path))


def test_a_null_in_a_column_of_the_contract_is_a_bug_and_in_a_column_of_an_operator_a_fault() -> None:
    said = "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: {}."
    with pytest.raises(PySparkException), refusals_named(TABLE):
        raise PySparkException(said.format("namespace"))
    with pytest.raises(FaultError, match="has a column mine"), refusals_named(TABLE):
        raise PySparkException(said.format("mine"))


def test_a_manifest_that_another_process_wrote_meanwhile_stays(tmp_path: Path) -> None:
    manifest = tmp_path / "out.manifest.json"
    manifest.write_bytes(b"theirs")
    outfile._leave_manifest_of(tmp_path / "out", manifest, b"", b"ours")
    assert manifest.read_bytes() == b"theirs"
    outfile._leave_manifest_of(tmp_path / "out", manifest, b"", b"theirs")
    assert not manifest.exists()


@pytest.mark.parametrize("uri", ["file:/a/b", "FILE:///a/b", "File:/a/b"])
def test_a_uri_of_a_file_is_its_path_however_the_scheme_is_spelled(uri: str) -> None:
    assert Location.lake(uri).path == "/a/b"


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("/a", b"/a"), ("file:///a", b"/a"), ("dbfs:/a", b"/dbfs/a"), ("dbfs:/Volumes/a", b"/Volumes/a"),
        ("dbfs:/Volume", b"/dbfs/Volume"),
    ],
)  # fmt: skip
def test_a_path_of_databricks_is_below_dbfs_unless_it_is_one_of_a_volume(uri: str, path: bytes) -> None:
    assert local_path(uri) == path


def test_a_range_of_a_row_has_both_of_its_ends() -> None:
    rows = pa.table({"bucket": pa.array([0], pa.int32()), "n": [5]})
    found = [
        has_row_within(rows, buckets, {"n": each}) for buckets in ((0, 1), (1,)) for each in ((5, 9), (1, 5))
    ]
    assert found == [True, True, False, False]
    assert not any(has_row_within(rows, (0,), {"n": each}) for each in ((6, 9), (1, 4)))


def test_two_tables_with_two_numbers_of_buckets_are_refused() -> None:
    lake = Location.lake("/lake")

    def stated(*buckets: int) -> dict[str, dict[str, str]]:
        names = ("node_journal_line", "aura_fact")
        return {
            name: {CONTRACT_PROPERTY: contract(name).version, BUCKETS_PROPERTY: str(number)}
            for name, number in zip(names, buckets, strict=True)
        }

    check_properties(lake, stated(4, 4))
    with pytest.raises(UsageError, match="has 4 buckets and aura_fact has 8"):
        check_properties(lake, stated(4, 8))
