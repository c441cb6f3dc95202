"""Where a lake is."""

from pathlib import Path

import pytest
from deltalake.exceptions import DeltaError

from strandline.core.errors import FaultError, UsageError
from strandline.tables.delta_rs_faults import Reading
from strandline.tables.location import Location
from strandline.tables.read_lake import binary_literal, newest_addition


def test_a_folder_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lake = Location.lake("a lake")
    assert lake.describe() == str(tmp_path / "a lake")
    assert lake.table_path("run") == str(tmp_path / "a lake" / "run")
    assert lake.is_local()
    assert Location.lake("file:///x/y").local_path() == Path("/x/y")


@pytest.mark.parametrize(
    "name", ["a%2Fb", "x%41", "back\\slash", "latin-1 \udce9", "a[1]", "x^y", "x|y", "tab\t"]
)
def test_a_folder_that_delta_rs_would_look_for_elsewhere_or_not_write_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)
    (tmp_path / "link").symlink_to(tmp_path / name)
    for path in ("lake", str(tmp_path / name), f"{tmp_path}/link/lake"):
        with pytest.raises(UsageError, match="another path") as refused:
            Location.lake(path)
        assert refused.value.code == "LAKE_PATH_INVALID"
    assert Location.lake(f"{tmp_path}/100% (é) 'a' {{b}} #;?*&").is_local()


def test_a_uri_stays_what_it_is() -> None:
    lake = Location.lake("s3a://bucket/lake/")
    assert lake.table_path("run") == "s3a://bucket/lake/run"
    assert lake.is_path()
    assert not lake.is_local()
    with pytest.raises(ValueError, match="not a folder"):
        lake.local_path()


def test_a_schema_has_a_catalog_and_no_paths() -> None:
    lake = Location.parse_schema("main.strandline")
    assert (lake.catalog, lake.schema_name, lake.describe()) == ("main", "strandline", "main.strandline")
    assert not lake.is_path()
    with pytest.raises(ValueError, match="its catalog"):
        lake.table_path("run")


@pytest.mark.parametrize(
    "text",
    [
        "main",
        "main.",
        ".x",
        "a.b.c",
        "a.b`",
        "a.b c",
        "1a.b",
        "a." + "x" * 129,
        "a.b\n",
        "`a`.`b`",
        "a.`b``c`",
        "a.b-c",
        "a.b;--",
        "a.\u00e9",
    ],
)
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Location.parse_schema(text)


@pytest.mark.parametrize("path", ["", "  ", "a\x00b", "a\nb"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(UsageError):
        Location.lake(path)


def test_a_lake_named_in_one_text_is_a_schema_unless_a_folder_has_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.folder").mkdir()
    assert Location.named("main.ours") == Location.schema("main", "ours")
    for path in ("lake", "main.folder", "./main.ours", "a.b.c", "s3a://bucket/lake"):
        assert Location.named(path) == Location.lake(path)


def test_two_names_of_one_lake_are_told(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "lake")
    lake = Location.lake(str(tmp_path / "lake"))
    assert lake.is_same(Location.lake(f"file://{tmp_path}/link/"))
    assert not lake.is_same(Location.lake(str(tmp_path / "lake2")))
    assert not lake.is_same(Location.schema("main", "lake"))
    assert Location.schema("main", "a").is_same(Location.schema("MAIN", "A"))
    assert Location.lake("s3a://b/x").is_same(Location.lake("s3a://b/x/"))


def commits(*each: tuple[int, str | None]) -> list[dict[str, object]]:
    """A history without metrics."""
    return [{"version": version, "operation": operation} for version, operation in each]


@pytest.mark.parametrize(
    ("inserted", "updated", "newest"),
    [("0", "0", None), (0, 0, None), ("1", "0", 7), ("0", "2", 7), (None, "0", 7)],
)
def test_a_merge_that_only_deletes_is_no_news(inserted, updated, newest) -> None:
    told = {"numTargetRowsInserted": inserted, "numTargetRowsUpdated": updated, "numTargetRowsDeleted": "9"}
    assert newest_addition([{"version": 7, "operation": "MERGE", "operationMetrics": told}], 6, 7) == newest


def test_a_commit_that_adds_no_rows_is_no_news() -> None:
    history = commits(
        (5, "OPTIMIZE"), (4, "SET TBLPROPERTIES"), (3, "MERGE"), (2, "WRITE"), (1, None), (0, "CREATE TABLE")
    )
    assert newest_addition(history, 3, 5) is None
    assert newest_addition(history, 2, 5) == 3
    assert newest_addition(history, -1, 5) == 3
    assert newest_addition(commits((0, "CREATE TABLE")), -1, 0) is None


def test_an_unknown_commit_and_a_cut_history_count_as_news() -> None:
    assert newest_addition(commits((2, "SOMETHING NEW"), (1, "WRITE")), 1, 2) == 2
    assert newest_addition(commits((9, "OPTIMIZE")), 3, 9) == 9
    # Two commits came after the version was asked for, so the oldest two of the three are not listed.
    newer = commits((11, "OPTIMIZE"), (10, "OPTIMIZE"), (9, "OPTIMIZE"))
    assert newest_addition(newer, 6, 9) == 9
    assert newest_addition(newer, 8, 9) is None


def test_a_binary_literal_holds_hex_alone() -> None:
    assert binary_literal(b"'; DROP TABLE x --") == "X'273b2044524f50205441424c452078202d2d'"


@pytest.mark.parametrize(
    ("path", "scheme"),
    [
        ("lake", None),
        ("/data/lake", None),
        ("file:/data/lake", None),
        ("S3A://bucket/lake", "s3a"),
        ("dbfs:/lake", "dbfs"),
    ],
)
def test_a_lake_at_a_uri_has_a_scheme(path, scheme):
    assert Location.lake(path).scheme() == scheme
    assert Location.schema("main", "s").scheme() is None


def test_an_answer_of_a_store_is_no_damage_but_a_file_that_is_missing_is():
    lake = Location.lake("s3://bucket/lake")
    told = {
        "Kernel error -> Operation not supported.": "LAKE_UNREADABLE",
        "Generic S3 error: The operation lacked the necessary privileges to complete": "LAKE_UNREADABLE",
        "Object at location lake/run/bucket=1/part-0.parquet not found": "TABLE_DAMAGED",
    }
    for text, code in told.items():
        with pytest.raises(FaultError) as caught, Reading(lake, "run"):
            raise DeltaError(text)
        assert caught.value.code == code
        assert "s3://bucket/lake" in caught.value.message
    with pytest.raises(FaultError) as caught, Reading(Location.lake("/data/lake"), "run"):
        raise DeltaError("Kernel error -> Operation not supported.")
    assert caught.value.code == "TABLE_DAMAGED"


def test_a_file_that_may_not_be_read_is_no_damage():
    file = "/data/lake/run/bucket=8/part-0.parquet"
    told = f"Parquet error: Failed to fetch metadata for file {file[1:]}: Unable to open file {file}"
    with pytest.raises(FaultError) as caught, Reading(Location.lake("/data/lake"), "run"):
        raise DeltaError(f"{told}: Permission denied (os error 13)")
    assert caught.value.code == "NOT_READABLE"
    assert caught.value.message.endswith(f"may not read {file}")
