"""How a command ends: the exit code of its report, and 3 for a bug of ours, with the line to report."""

import errno
import io
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from strandline.cli import main
from strandline.cli.app import command_names
from strandline.core.errors import FaultError
from strandline.pipelines import explain
from strandline.pipelines.report import Report, ReportError
from strandline.pipelines.run_context import RunContext

JOBS = sorted((Path(__file__).parents[3] / "jobs").glob("*.py"))
EXITS = {"ok": 0, "found": 1, "usage": 2, "fault": 3}


class OursError(Exception):
    """A bug: nothing that the command line knows."""


@pytest.mark.parametrize("outcome", EXITS)
def test_a_report_ends_with_the_exit_code_of_its_outcome(outcome: str) -> None:
    made = RunContext("run", "reduce", "1", datetime(2026, 1, 31, tzinfo=UTC)).report(outcome=outcome)
    assert (made.outcome, made.exit) == (outcome, EXITS[outcome])


@pytest.mark.parametrize("how", [[], ["--json"]], ids=["shown", "json"])
@pytest.mark.parametrize("outcome", EXITS)
def test_a_command_ends_with_the_exit_code_of_its_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, outcome: str, how: list[str]
) -> None:
    run = explain.run

    def told(*given: object) -> Report:
        before = run(*given)
        error = None if outcome == "ok" else ReportError("CODE", "message", "next")
        return Report("explain", "run", outcome, EXITS[outcome], members=before.members, error=error)

    monkeypatch.setattr(explain, "run", told)
    assert main(["explain", "BOMB", *how]) == EXITS[outcome]


@pytest.mark.parametrize("how", [[], ["--json"]], ids=["shown", "json"])
@pytest.mark.parametrize(
    "error",
    [
        OursError("no way"), KeyError("no way"), ValueError("no way"), OSError("no way"),
        BrokenPipeError(errno.EPIPE, "no way"), EOFError("no way"),
    ],
)  # fmt: skip
def test_a_bug_of_ours_ends_with_3_and_the_line_to_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: Exception, how: list[str]
) -> None:
    def fail(*_: object) -> Report:
        raise error

    monkeypatch.setattr(explain, "run", fail)
    assert main(["explain", "BOMB", *how]) == 3
    printed = capsys.readouterr()
    assert "Traceback" in printed.err
    last = printed.err.splitlines()[-1]
    assert last.startswith("This is a bug in Strandline. Please report this line: strandline ")
    assert (type(error).__name__ in last, "no way" in last) == (True, True)
    if how:
        report = json.loads(printed.out)
        assert (report["outcome"], report["exit"], report["error"]["code"]) == ("fault", 3, "BUG")
    else:
        assert printed.out == ""


def test_a_fault_behind_half_of_a_report_is_told_on_standard_error_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cut(_: Report) -> Iterator[str]:
        yield '{"command":'
        raise FaultError("DISK_FULL", "the disk is full", "free space")

    monkeypatch.setattr(Report, "json_parts", cut)
    assert main(["explain", "BOMB", "--json"]) == 3
    told = capsys.readouterr()
    assert (told.out, told.err) == ('{"command":', "error: the disk is full.\nnext: free space.\n")


def test_a_bug_is_named_by_the_place_in_our_code_where_it_was_raised(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explain, "reasons", None)
    assert main(["explain", "BOMB"]) == 3
    assert ", explain.py:" in capsys.readouterr().err.splitlines()[-1]


def test_a_setting_of_the_command_line_holds_over_one_of_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("tables:\n  buckets: 2\nmerge:\n  attempts: 2\n")
    monkeypatch.setenv("STRANDLINE_TABLES__BUCKETS", "3")
    monkeypatch.setenv("STRANDLINE_MERGE__ATTEMPTS", "3")
    assert main(["config", "--set", "tables.buckets=4", "--conf", str(file), "--json"]) == 0
    settings = json.loads(capsys.readouterr().out)["settings"]
    assert settings["tables.buckets"] == {"value": 4, "from": "command line"}
    assert settings["merge.attempts"] == {"value": 3, "from": "environment STRANDLINE_MERGE__ATTEMPTS"}


@pytest.mark.parametrize("code", EXITS.values())
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.stem)
def test_a_job_runs_the_command_of_its_name_and_ends_with_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, job: Path, code: int
) -> None:
    called = []

    def run(argv: list[str]) -> int:
        called.append(argv)
        return code

    monkeypatch.setattr("strandline.cli.main", run)
    monkeypatch.setattr(sys, "argv", [str(job), "--lake", "there", "--json"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(job), run_name="__main__")
    assert ended.value.code == code
    assert called == [[job.stem, "--lake", "there", "--json"]]
    assert job.stem in command_names()


def test_a_job_that_is_imported_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strandline.cli.main", None)
    assert [job.stem for job in JOBS] == [
        "check", "checkpoint", "export", "gc", "ingest", "init", "maintain", "reduce", "snapshot", "stream", "sync",
    ]  # fmt: skip
    for job in JOBS:
        runpy.run_path(str(job), run_name="imported")


@pytest.mark.large
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["explain", "LINE_NUMBER_MISMATCH"], 0),
        (["explain", "LINE_NUMBER_MISMATCH", "--json"], 0),
        (["status", "--lake", "nowhere", "--json"], 2),
        (["--help"], 0),
        (["status", "--help"], 0),
        (["--version"], 0),
    ],
    ids=["shown", "json", "error", "help", "help of a command", "versions"],
)
def test_a_reader_that_ends_before_the_output_changes_no_exit_code(
    words: list[str], code: int, tmp_path: Path
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = [str(tmp_path / word) if word == "nowhere" else word for word in words]
    run = [sys.executable, "-c", "from strandline.cli import run; run()", *words]
    ended = subprocess.run(run, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (code, b"")


@pytest.mark.parametrize("how", [[], ["--json"]], ids=["shown", "json"])
@pytest.mark.parametrize(("words", "code"), [(["explain", "BOMB"], 0), (["explain", "NO_SUCH_CODE"], 2)])
def test_closed_standard_streams_change_no_exit_code(
    words: list[str], code: int, how: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert main([*words, *how]) == code


@pytest.mark.large
@pytest.mark.parametrize("how", [[], ["--json"]], ids=["shown", "json"])
@pytest.mark.parametrize("code", ["BOMB", "NO_SUCH_CODE"])
def test_an_output_that_cannot_be_written_is_a_fault_that_is_told(code: str, how: list[str]) -> None:
    run = [sys.executable, "-c", "from strandline.cli import run; run()", "explain", code, *how]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(run, stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    if code == "BOMB" or how:
        assert ended.returncode == 3
        assert ended.stderr.startswith("error: standard output cannot be written: No space left on device.")
    else:
        assert ended.returncode == 2


@pytest.mark.large
@pytest.mark.parametrize("words", [["--help"], ["status", "--help"], ["--version"]], ids=" ".join)
def test_a_help_that_cannot_be_written_is_no_full_disk(words: list[str]) -> None:
    run = [sys.executable, "-c", "from strandline.cli import run; run()", *words]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(run, stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert ended.returncode == 3
    assert ended.stderr.startswith("error: standard output cannot be written: No space left on device.")


@pytest.mark.large
@pytest.mark.parametrize("lost", ["full", "ended", "for reading"])
@pytest.mark.parametrize(("words", "code"), [(["explain", "BOMB"], 0), (["explain", "NO_SUCH_CODE"], 2)])
def test_a_standard_error_that_cannot_be_written_changes_no_exit_code(
    words: list[str], code: int, lost: str
) -> None:
    run = [sys.executable, "-c", "from strandline.cli import run; run()", *words]
    reader, writer = os.pipe()
    os.close(reader)
    stderr = {
        "full": lambda: os.open("/dev/full", os.O_WRONLY),
        "for reading": lambda: os.open("/dev/null", 0),
    }
    taken = stderr.get(lost, lambda: os.dup(writer))()
    ended = subprocess.run(run, stdout=subprocess.PIPE, stderr=taken, check=False)
    os.close(taken)
    os.close(writer)
    assert ended.returncode == code


def test_what_the_encoding_of_standard_output_lacks_is_printed_as_escapes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="iso-8859-1"))
    assert main(["config", "--set", "spark.state=/\u00e9\u2026"]) == 0
    assert b"/\xe9\\u2026" in printed.getvalue()


def test_a_screen_without_columns_hides_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As the environment says it where a terminal has no size.
    monkeypatch.setenv("COLUMNS", "0")
    assert main(["explain", "BOMB"]) == 0
    assert "BOMB" in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "0")
    assert main(["explain", "NO_SUCH_CODE"]) == 2
    assert "NO_SUCH_CODE" in capsys.readouterr().err
