"""Names in a followed folder are only names; from a damaged checkpoint a stream goes on without loss, or names it."""

import shutil
from pathlib import Path

import pytest

from strandline.core.errors import FaultError
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.tables.sources import select
from support.lakes import write_files

HOSTILE_NAMES = (
    "two\nlines.journal", "tab\there", "quo\"te's.journal", "back\\slash", "{a,b}.journal", "*.journal", "?", "-rf",
    "${env:HOME}", "$(id)", "%2e%2e%2f", "<b>&amp;", "a" * 255, "ünï\u202ecode\U0001f480", " ", "~", "x;DROP TABLE run",
    "part-00000.snappy.parquet", "a=b", "1970-01-01", "x._COPYING_.journal",
)  # fmt: skip
HIDDEN_NAMES = (
    "_hidden.journal", ".hidden.journal", "_delta_log.journal", "_metadata.journal", "_common_metadata", "_a=b",
    "half.journal._COPYING_", "_SUCCESS",
)  # fmt: skip


def test_hostile_names_in_a_followed_folder_are_landed_like_any_and_hidden_ones_are_passed_over(
    new_lake, tmp_path
):
    lake, place = new_lake(), tmp_path / "_landing %2f ünï"
    good = {name: render(synthetic(at, 3)) for at, name in enumerate(HOSTILE_NAMES)}
    bad = {f"bad {name}"[:250]: b"no journal at all\n%d" % at for at, name in enumerate(HOSTILE_NAMES)}
    hidden = {name: render(synthetic(100 + at, 3)) for at, name in enumerate(HIDDEN_NAMES)}
    landing = write_files(place, good | bad | hidden)
    below = {"in.journal": render(synthetic(200, 3))}
    for name in ("_a=b.d", "_metadata.d", ".d"):
        write_files(landing / name, below)
    report = lake.stream(landing)
    assert report.counts["files"] == len(good) + len(bad)
    assert len(lake.rows("node_journal_line")) == 3 * len(good)
    assert {Path(source).name for (source,) in lake.rows("quarantine", "source")} == set(bad)
    # Those are the files that `ingest` takes.
    assert len(select([str(landing)], most=1_000).files) == len(good) + len(bad)
    again = lake.stream(landing)
    assert (again.counts["batches"], again.counts["read"]) == (0, 0)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_at_a_line(path: Path) -> None:
    path.write_bytes(path.read_bytes().partition(b"\n")[0])


def noise(path: Path) -> None:
    path.write_bytes(b"\0\xff{not json")


def gone(path: Path) -> None:
    path.unlink()


def of_another_stream(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"/landing/", b"/elsewhere/"))


REFUSED = {
    "metadata": (emptied, cut, noise, gone),
    "offsets": (emptied, cut, cut_at_a_line, noise),
    "commits": (emptied, cut, noise),
    "sources/0": (emptied, cut, noise, gone),
    "strandline": (gone,),
}
"""Damage by folder; `tests/unit/tables/test_checkpoint.py` has damage found before the stream starts."""
GONE_ON_FROM = {"commits": (gone,), "sources/0": (cut_at_a_line, of_another_stream)}


def test_a_stream_goes_on_from_a_damaged_checkpoint_without_loss_or_names_it(new_lake, tmp_path):
    lake, landing = new_lake(), tmp_path / "landing"
    for number in (1, 2):
        lake.stream(write_files(landing, {f"{number}.journal": render(synthetic(number, 4))}))
    [checkpoint] = (lake.path / "_checkpoints").iterdir()
    whole = shutil.copytree(checkpoint, tmp_path / "whole")

    def damaged(place: str, damage) -> None:
        shutil.rmtree(checkpoint)
        shutil.copytree(whole, checkpoint)
        found = checkpoint / place
        files = [found] if found.is_file() else [each for each in found.iterdir() if each.name[0] not in "._"]
        newest = max(files, key=lambda path: path.name)
        newest.with_name(f".{newest.name}.crc").unlink(missing_ok=True)
        damage(newest)

    for number, (place, damage) in enumerate(
        ((place, damage) for place, each in GONE_ON_FROM.items() for damage in each), 3
    ):
        write_files(landing, {f"{number}.journal": render(synthetic(number, 4))})
        damaged(place, damage)
        report = lake.stream(landing)
        assert (report.counts["new"], report.counts["rejected"]) == (4, 0), (place, damage)
    held = lake.rows("node_journal_line")
    assert len(held) == 4 * number

    said = {}
    for place, each in REFUSED.items():
        for damage in each:
            damaged(place, damage)
            with pytest.raises(FaultError) as refused:
                lake.stream(landing)
            said[place, damage.__name__] = refused.value.code
            assert str(checkpoint) in refused.value.message
    assert said == dict.fromkeys(said, "CHECKPOINT_DAMAGED")
    # What the fault says is what helps.
    assert refused.value.next.startswith("name another with --checkpoint, or delete it")
    shutil.rmtree(checkpoint)
    report = lake.stream(landing)
    assert (report.counts["known"], report.counts["new"]) == (len(held), 0)
    assert lake.rows("node_journal_line") == held
