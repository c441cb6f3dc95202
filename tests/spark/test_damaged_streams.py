"""A stream whose checkpoint is damaged says so or goes on; names of files are only names."""

import shutil
from pathlib import Path

import pytest

from strandline.core.errors import FaultError
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from support.lakes import Lake, write_files

HOSTILE_NAMES = (
    "two\nlines.journal", "tab\there", "quo\"te's.journal", "back\\slash", "{a,b}.journal", "*.journal", "?", "-rf",
    "${env:HOME}", "$(id)", "%2e%2e%2f", "<b>&amp;", "a" * 255, "ünï\u202ecode\U0001f480", " ", "~", "x;DROP TABLE run",
    "part-00000.snappy.parquet", "_delta_log.journal.", "a=b", "1970-01-01",
)  # fmt: skip


def test_hostile_names_in_a_followed_folder_are_landed_like_any(new_lake, tmp_path):
    lake = new_lake()
    landing = write_files(
        tmp_path / "landing", {name: render(synthetic(at, 3)) for at, name in enumerate(HOSTILE_NAMES)}
    )
    bad = b"no journal at all\n"
    write_files(
        landing, {f"bad {name}"[:255]: bad + str(at).encode() for at, name in enumerate(HOSTILE_NAMES)}
    )
    report = lake.stream(landing)
    assert report.counts["files"] == 2 * len(HOSTILE_NAMES)
    assert len(lake.rows("node_journal_line")) == 3 * len(HOSTILE_NAMES)
    assert len(lake.rows("quarantine", "source")) == len(HOSTILE_NAMES)
    assert lake.stream(landing).counts["files"] == 0


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def noise(path: Path) -> None:
    path.write_bytes(b"\0\xff{not json")


def gone(path: Path) -> None:
    path.unlink()


PLACES = ("metadata", "offsets", "commits", "sources/0", "strandline")


@pytest.fixture(scope="module")
def followed(spark, settings, empty_lakes, tmp_path_factory):
    """A lake with a stream of two batches behind it, and a file that it has not seen yet."""
    root = tmp_path_factory.mktemp("followed")
    lake = Lake(spark, settings, shutil.copytree(empty_lakes[False], root / "lake"))
    for batch in (1, 2):
        write_files(root / "landing", {f"{batch}.journal": render(synthetic(batch, 4))})
        lake.stream(root / "landing")
    write_files(root / "landing", {"3.journal": render(synthetic(3, 4))})
    return lake


@pytest.mark.parametrize("place", PLACES)
def test_a_damaged_checkpoint_loses_nothing_and_ends_in_no_bug(followed, spark, settings, tmp_path, place):
    for number, damage in enumerate((emptied, cut, noise, gone)):
        lake = Lake(spark, settings, shutil.copytree(followed.path, tmp_path / str(number)))
        [checkpoint] = (lake.path / "_checkpoints").iterdir()
        found = checkpoint / place
        files = [found] if found.is_file() else [each for each in found.iterdir() if each.name[0] not in "._"]
        newest = max(files, key=lambda path: path.name)
        newest.with_name(f".{newest.name}.crc").unlink(missing_ok=True)
        damage(newest)
        landing, fault = followed.path.parent / "landing", None
        try:
            report = lake.stream(landing)
        except FaultError as raised:
            fault = raised
        if fault is not None:
            assert fault.code in ("CHECKPOINT_DAMAGED", "CHECKPOINT_FOREIGN"), (damage, fault.message)
            assert str(checkpoint) in fault.message
            shutil.rmtree(checkpoint)
            report = lake.stream(landing)
            assert report.counts["known"] == 8
        assert (len(lake.rows("node_journal_line")), report.counts["rejected"]) == (12, 0), damage
