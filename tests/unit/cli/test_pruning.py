"""What `snapshot` and `gc` refuse before Spark starts, and what they print."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from strandline.cli import show
from strandline.cli.erasing import erasures
from strandline.cli.main import main
from strandline.dialect_api.pruning import Erasing
from strandline.pipelines.gc_upkeep import Upkeep
from strandline.pipelines.report import Report


@pytest.mark.parametrize("command", ["snapshot", "gc"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--skip-window", "4294967296"), "4294967295"),
        (("--skip-window", "-1"), "0"),
        (("--skip-window", "1.5"), "skip-window"),
        (("--dialect", "nobody"), "no dialect nobody"),
    ],
)
def test_what_is_out_of_range_is_wrong_usage_and_writes_nothing(command, words, said, tmp_path, capsys):
    assert main([command, *words, "--lake", str(tmp_path / "lake")]) == 2
    assert said in "".join(capsys.readouterr())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--erase", "devicelog:30"), "ERASE_TIME"),
        (("--erase", "devicelog", "--now", "2026-11-25T00:00:00Z"), "ERASE_TIME"),
        (("--now", "2026-11-25T00:00:00Z"), "ERASE_TIME"),
        (("--erase", "devicelog:30", "--now", "2026-11-25T00:00:00"), "ERASE_TIME"),
        (("--erase", "devicelog:30", "--now", "2026-11-25T00:00:00+01:00"), "ERASE_TIME"),
        (("--erase", "devicelog:30", "--now", "yesterday"), "ERASE_TIME"),
        (("--erase", "devicelog:3652059", "--now", "2026-11-25T00:00:00Z"), "ERASE_TIME"),
        (("--erase", "devicelog:-1", "--now", "2026-11-25T00:00:00Z"), "ERASE_DAYS"),
        (("--erase", "devicelog:", "--now", "2026-11-25T00:00:00Z"), "ERASE_DAYS"),
        (("--erase", "devicelog:99999999999999999999", "--now", "2026-11-25T00:00:00Z"), "ERASE_DAYS"),
        (("--erase", "devicelog:\u0663", "--now", "2026-11-25T00:00:00Z"), "ERASE_DAYS"),
        (
            ("--erase", "devicelog:365", "--erase", "devicelog", "--now", "2026-11-25T00:00:00Z"),
            "ERASE_TWICE",
        ),
        (("--erase", "devicelog", "--erase", "devicelog"), "ERASE_TWICE"),
        (("--erase", "sdmp"), "ERASE_UNKNOWN"),
        (("--erase", "nobody"), "DIALECT_UNKNOWN"),
    ],
)
def test_what_may_be_erased_is_named_whole_or_nothing_happens(words, code, tmp_path, capsys):
    assert main(["gc", *words, "--lake", str(tmp_path / "lake"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--vacuum", "100"), "VACUUM_HOURS"),
        (("--vacuum", "-1", "--force-vacuum"), "VACUUM_HOURS"),
        (("--vacuum", "876001"), "VACUUM_HOURS"),
        (("--force-vacuum",), "VACUUM_HOURS"),
        (("--archive", "pyproject.toml"), "ARCHIVE_NOT_A_FOLDER"),
    ],
)
def test_hours_that_are_few_need_force_and_an_archive_needs_a_folder(
    words, code, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(Path(__file__).parents[3])
    assert main(["gc", *words, "--lake", str(tmp_path / "lake"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == code
    assert list(tmp_path.iterdir()) == []


def test_a_week_needs_no_force():
    assert (
        Upkeep(vacuum_hours=168).vacuum_hours == Upkeep(vacuum_hours=168, is_forced=True).vacuum_hours == 168
    )


def test_days_count_back_from_now():
    found = erasures(["devicelog:2"], "1970-01-05T00:00:00.5Z")
    assert found == {"devicelog": Erasing(before=2 * 24 * 3600 * 1000 + 500)}
    assert erasures(["devicelog:0"], "1970-01-05T00:00:00Z") == {
        "devicelog": Erasing(before=4 * 24 * 3600 * 1000)
    }
    assert erasures(["devicelog"], None) == {"devicelog": Erasing(None)}
    assert erasures([], None) == {}


def test_fewer_than_one_record_is_no_number_of_records(tmp_path, capsys):
    assert main(["gc", "--min-prunable", "0", "--lake", str(tmp_path / "lake")]) == 2
    assert "min-prunable" in capsys.readouterr().err


def printed(function, report):
    console = Console(file=io.StringIO(), width=200)
    function(console, report)
    return console.file.getvalue()


def row(namespace, outcome, reason, pruned, **holds):
    return {
        "namespace": namespace, "outcome": outcome, "reason": reason, "pruned": pruned, "bytes": 10 * pruned,
        "holds": holds,
    }  # fmt: skip


def collection(what_if=False, rows=(), differences=(), behind=(), **more):
    return Report(
        "gc", "r", lake="/data/lake", counts={"prunable": 4, "pruned": 0 if what_if else 4, "bytes": 40, "refused": 0},
        members={
            "what_if": what_if, "skip_window": 0, "collections": list(rows),
            "differences": list(differences), "behind": list(behind), **more,
            "holds": {"ipfslog": {"HEAD": 1, "WINDOW": 20}, "sdmp": {"KIND_KEPT": 7}},
        },
    )  # fmt: skip


def test_gc_tells_what_went_and_what_keeps_the_rest():
    rows = [
        row("log:a", "DONE", None, 4, HEAD=1, WINDOW=20),
        row("log:\x1b[2J", "REFUSED", "PROOF_FAILED", 0),
    ]
    text = printed(show.gc, collection(rows=rows, differences=["log:\x1b[2J ipfs_log_document {}"]))
    assert "log:a" in text
    assert "PROOF_FAILED" in text
    assert "\x1b" not in text
    assert "differs without the pruned records: log:" in text
    lines = [line for line in text.splitlines() if ": kept " in line]
    assert [line.split(":")[0:2] for line in lines] == [
        ["ipfslog", " kept 20 records, WINDOW"], ["ipfslog", " kept 1 record, HEAD"],
        ["sdmp", " kept 7 records, KIND_KEPT"],
    ]  # fmt: skip
    assert "next: strandline check" in text


@pytest.mark.parametrize("total", [20, 1_234])
def test_gc_says_how_many_places_differ_if_it_does_not_name_all(total):
    places = [f"log:a place {number}" for number in range(20)]
    text = printed(show.gc, collection(differences=places, differences_total=total))
    assert text.count("differs without the pruned records: log:a place ") == 20
    assert ("more places (20 of 1,234 are named)" in text) == (total > 20)


def test_gc_says_for_which_reducer_it_removed_no_files():
    behind = {"dialect": "devicelog", "table": "device_log_entry", "reduced_version": 3, "version": 5}
    text = printed(show.gc, collection(behind=[behind]))
    assert "no files were removed: device_log_entry 5, reduced to 3; Run `strandline reduce`" in text


def test_gc_that_only_asks_says_that_nothing_was_deleted():
    text = printed(show.gc, collection(what_if=True, rows=[row("log:a", "WHAT_IF", None, 4)] * 21))
    assert "nothing was deleted" in text
    assert [line.split(":")[1].split()[:2] for line in text.splitlines() if "what would help" in line] == [
        ["Wait", "until"]
    ]  # fmt: skip
    assert text.count("WHAT_IF") == 20
    assert "more: strandline sql 'SELECT * FROM gc_report' --lake" in text


@pytest.mark.parametrize("damaged", [0, 1])
def test_snapshot_tells_what_it_took_and_whether_one_was_damaged(damaged):
    counts = {"snapshots": 2, "covered": 12, "prunable": 8, "damaged": damaged}
    text = printed(show.snapshot, Report("snapshot", "r", lake="/data/lake", counts=counts))
    assert "snapshots 2, covered 12, prunable 8" in text
    assert ("the new ones list all members" in text) == bool(damaged)
    assert "strandline gc --what-if" in text
