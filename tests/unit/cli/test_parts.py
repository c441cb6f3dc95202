"""Parts of reports for people."""

import io
import json

import pytest
from rich.console import Console

from strandline.cli import main
from strandline.cli.show import parts
from strandline.cli.show.quarantine import quarantine
from strandline.cli.show.sync import sync
from strandline.pipelines.quarantine import _SHOWN
from strandline.pipelines.report import Report
from support.delta_rs_lake import empty_lake


@pytest.mark.parametrize(
    ("rejected", "words"),
    [([2, 1], "2 files with rejected records"), ([2, 0], "2 files with rejected records or faults")],
)
def test_a_file_without_a_rejected_record_is_one_with_a_fault(rejected, words):
    files = [
        {
            "source": f"{count}",
            "reasons": "BAD_JSON" if count else "INTERNAL_ERROR",
            "rejected": count,
            "position": 1,
        }
        for count in rejected
    ]
    members = {"damaged_files": files, "damaged_files_total": len(files)}
    report = Report("ingest", "r", "ok", 0, 0.0, 0.0, "lake", members=members)
    console = Console(file=io.StringIO(), width=200)
    parts.damaged_files(console, report)
    assert console.file.getvalue().splitlines()[0] == words


@pytest.mark.large
def test_commands_of_a_next_step_name_the_lake_that_the_call_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("lake", "other lake"):
        empty_lake(tmp_path / name)
        assert main(["quarantine", "show", "00", "--lake", name]) == 2
    named = f"--lake '{tmp_path}/other lake'"
    plain, of_other = [line for line in capsys.readouterr().err.splitlines() if line.startswith("next: ")]
    assert plain == "next: `strandline quarantine` lists ids."
    assert of_other == f"next: `strandline quarantine {named}` lists ids."
    assert main(["quarantine", "show", "00", "--lake", "other lake", "--json"]) == 2
    assert f"`strandline quarantine {named}`" in json.loads(capsys.readouterr().out)["error"]["next"]


def test_only_commands_on_a_lake_that_is_there_get_its_name():
    for text in (
        "`strandline ingest a --dialect sdmp`, `strandline sync --from PEER --to NEW`, `strandline explain X`",
        "`strandline init --lake /b` and `strandline status --help`, strandline status, `status`",
        "`strandline reduce --lake /b --full` or `strandline gc --schema a.b`",
    ):
        assert parts.commands_here(text, "/a") == text
    found = parts.commands_here("`strandline sql 'SELECT 1'`, else `strandline reduce --full`.", "main.lake")
    assert (
        found
        == "`strandline sql 'SELECT 1' --schema main.lake`, else `strandline reduce --full --schema main.lake`."
    )


def _said(show, *given) -> list[str]:
    console = Console(file=io.StringIO(), width=200)
    show(console, *given)
    return console.file.getvalue().splitlines()


def test_lists_that_are_cut_say_how_many_more_there_are():
    codes = [f"CODE_{number:02}" for number in range(12)]
    for shown, last in (
        (12, "  … and 2 more reasons: strandline quarantine --schema lake"),
        (11, "1 more reason:"),
    ):
        report = Report("ingest", "r", "ok", 0, 0.0, 0.0, "lake", reasons=dict.fromkeys(codes[:shown], 1))
        assert last in _said(parts.frequent_reasons, report)[-1]
    ten = Report("ingest", "r", "ok", 0, 0.0, 0.0, "lake", reasons=dict.fromkeys(codes[:10], 1))
    assert len(_said(parts.frequent_reasons, ten)) == 10
    stopped = {f"node{number:03}": ["OWN_JOURNAL_FORKED"] for number in range(25)}
    lines = _said(parts.stopped_writers, stopped)
    assert sum(line.startswith("writer stopped") for line in lines) == 20
    assert lines[-1] == "… and 5 more writers: --json has all"
    assert "more" not in _said(parts.stopped_writers, dict(list(stopped.items())[:20]))[-1]


def test_a_record_that_waits_for_very_many_others_names_the_first_ones():
    record = dict.fromkeys(_SHOWN) | {
        "reasons": [], "waits_for": [f"record:{number}" for number in range(50_000)], "raw": "", "raw_whole": True,
        "raw_bytes": 0,
    }  # fmt: skip
    shown = " ".join(_said(quarantine, Report("quarantine", "r", members={"record": record})))
    assert "waits for record:0, record:1, record:2, " in shown
    assert "record:19 … and 49,980 more" in shown
    assert "record:20" not in shown


def test_requests_to_more_nodes_than_are_named_are_counted():
    members = {"refused_nodes": {"a": 2, "b": 1}, "refused_past_limit": 4, "stopped": {}}
    for refused, said in ((7, []), (10, ["refused: … and 3 more requests to other nodes"])):
        report = Report("sync", "r", "ok", 0, 0.0, 0.0, "lake", counts={"refused": refused}, members=members)
        assert [line for line in _said(sync, report) if "other nodes" in line] == said
