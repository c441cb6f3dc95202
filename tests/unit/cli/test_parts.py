"""Parts of reports for people."""

import io
import json

import pytest
from rich.console import Console

from strandline.cli import main
from strandline.cli.show import parts
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
