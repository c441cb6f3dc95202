"""`sync` from lake to lake on the command line, without a JVM: what cannot be meant is refused before Spark starts."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from strandline.cli import main, show
from strandline.pipelines.report import Report, TableChange
from support.report_schema import check_report


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "link").symlink_to("lake")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--from", "lake"], "SYNC_SAME_LAKE"),
        (["--from", "./x/../lake/"], "SYNC_SAME_LAKE"),
        (["--from", "link"], "SYNC_SAME_LAKE"),
        (["--from", "a", "--to", "a"], "SYNC_SAME_LAKE"),
        (["--from", "main.ours", "--to", "Main.Ours"], "SYNC_SAME_LAKE"),
        (["--from", "main.ours", "--schema", "main.ours"], "SYNC_SAME_LAKE"),
        (["--from", "a", "--to", "b", "--lake", "c"], "LAKE_AND_SCHEMA"),
        (["--from", "a", "--to", "b", "--schema", "main.ours"], "LAKE_AND_SCHEMA"),
        (["--from", ""], "LAKE_PATH_INVALID"),
        (["--from", "a", "--requests", "ask"], "SYNC_OPTIONS"),
        (["--from", "a", "--answer", "ask", "--out", "told"], "SYNC_OPTIONS"),
        (["--from", "a", "--force-write", "x"], "NODE_NOT_OWN"),
        (["--to", "b"], "OPTION_ALONE"),
        (["--dry-run"], "OPTION_ALONE"),
        (["--log-config", "none"], "OPTION_ALONE"),
        (["--from", "a", "--log-config", "absent.json"], "OPTION_FILE"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)  # fmt: skip
def test_options_that_cannot_be_meant_are_refused_and_nothing_is_written(capsys, words, code):
    assert main(["sync", *words, "--json", "--quiet"]) == 2
    report = json.loads(capsys.readouterr().out)
    check_report(report)
    assert report["error"]["code"] == code
    if code == "OPTION_ALONE":
        assert report["error"]["message"] == f"{words[0]} needs --from."
    assert {path.name for path in Path.cwd().iterdir()} == {"link"}


def reported(*, dry_run: bool, pruned: int = 0) -> Report:
    plan = [
        {
            "dialect": "sdmp",
            "namespace": "node:\x1b[31m",
            "there": 9,
            "here": 7,
            "missing": 2,
            "pruned_there": pruned,
        }
    ]
    counts = {"equal": 1, "behind": 51, "missing": 102, "pruned_there": pruned, "incomplete": min(pruned, 1)}
    more = {} if dry_run else {"read": 2, "new": 1, "known": 0, "rejected": 1, "deferred": 0}
    return Report(
        "sync", "20260131T093000Z-0123456789ab", lake="/lake", counts=more | counts, namespaces=52,
        reasons={} if dry_run else {"NON_CANONICAL_ID": 1}, tables={"run": TableChange(1, 1)},
        members={"from": "/other", "plan": plan, "stopped": {}, "examples": {}, "dry_run": dry_run},
    )  # fmt: skip


def test_a_person_sees_what_was_pruned_there_and_what_to_do():
    console = Console(record=True, width=200)
    show.sync_lakes(console, reported(dry_run=True, pruned=3))
    text = console.export_text()
    assert "pruned there and never here: 3 records in 1 namespace. They cannot be copied" in text
    assert "Files from before the collection have them." in text
    assert "pruned_there" in text


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_person_sees_what_is_missing_and_what_became_of_it(dry_run):
    report = reported(dry_run=dry_run)
    check_report(json.loads(report.to_json()))
    console = Console(record=True, width=200)
    show.sync_lakes(console, report)
    text = console.export_text()
    assert "equal 1, behind 51, missing 102" in text
    assert "records are missing in 51 namespaces, 1 shown" in text
    assert "\x1b" not in text
    assert "pruned there" not in text
    assert ("nothing was written" in text) == dry_run
    assert ("read 2 = new 1 + known 0 + rejected 1 + deferred 0" in text) != dry_run
    assert ("NON_CANONICAL_ID" in text) != dry_run


def test_requests_past_the_limit_of_lines_are_told():
    def text(past: int) -> str:
        members = {"refused_nodes": {}, "refused_past_limit": past, "answers_file": "/out"}
        console = Console(record=True, width=120)
        show.sync(console, Report("sync", "r", lake="/lake", counts={"refused": past}, members=members))
        return console.export_text()

    assert "refused: past limits.answer_lines, 1,234 requests; ask again" in text(1234)
    assert "limits.answer_lines" not in text(0)
