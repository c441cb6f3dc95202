"""What commands hand to their pipelines: the options as typed, also those of nothing and of zero."""

from dataclasses import fields
from pathlib import Path

import pytest

import strandline
from strandline.cli import calls, given, main
from strandline.cli.command import current
from strandline.cli.invocation import Invocation, Options
from strandline.cli.numbers import Bounds
from strandline.cli.text import hex_dump
from strandline.core.errors import UsageError
from strandline.core.pruning import DEFAULT_SKIP_WINDOW
from strandline.pipelines import export, gc, ingest, snapshot, stream


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Returns what a command gives its pipeline, which then ends with an error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Invocation, "store", lambda _, **how: how)

    def of(pipeline, *words):
        handed = []

        def run(*given_):
            handed.extend(given_)
            raise UsageError("ASKED", "asked", "stop")

        monkeypatch.setattr(pipeline, "run", run)
        assert main([*words, "--quiet"]) == 2
        return handed

    return of


@pytest.mark.parametrize(("words", "window"), [((), DEFAULT_SKIP_WINDOW), (("--skip-window", "0"), 0)])
def test_a_window_of_zero_is_no_window_left_out(asked, words, window):
    for pipeline, name in ((gc, "gc"), (snapshot, "snapshot")):
        [request] = [each for each in asked(pipeline, name, *words) if hasattr(each, "skip_window")]
        assert request.skip_window == window


def test_a_collection_takes_each_namespace_that_has_one_record_to_go(asked):
    [request] = [each for each in asked(gc, "gc") if isinstance(each, gc.GcRequest)]
    assert request.min_prunable == 1
    [request] = [each for each in asked(gc, "gc", "--min-prunable", "7") if isinstance(each, gc.GcRequest)]
    assert request.min_prunable == 7


def test_the_most_files_of_a_batch_are_no_messages(asked, tmp_path):
    (tmp_path / "landing").mkdir()
    words = ("stream", "landing", "--dialect", "sdmp", "--available-now", "--max-files", "3")
    [request] = [each for each in asked(stream, *words) if isinstance(each, stream.StreamRequest)]
    assert (request.max_files, request.max_records) == (3, None)
    assert current[0].sources == ("landing",)


def test_a_replay_can_fail_on_what_is_rejected_again(asked):
    words = (
        "ingest",
        "--dialect",
        "sdmp",
        "--from-quarantine",
        "--fail-on-reject",
        "--reason",
        "INTERNAL_ERROR",
    )
    [request] = [each for each in asked(ingest, *words) if hasattr(each, "from_quarantine")]
    assert (request.from_quarantine, request.fail_on_reject, request.reason) == (True, True, "INTERNAL_ERROR")


def test_an_export_makes_no_lake_and_writes_a_namespace_once(asked, tmp_path):
    how, _, request, _ = asked(export, "export", "b", "a", "b", "--out", "x.car")
    assert how == {"makes": False, "writes": False}
    assert (request.namespaces, request.out) == (("b", "a"), tmp_path / "x.car")


def test_a_method_takes_paths_and_tells_others_of_wrong_usage(asked, monkeypatch, tmp_path):
    told = []
    monkeypatch.setattr(calls, "tell_others", told.append)
    asked(export, "export", "a", "--out", "x.car")
    with pytest.raises(UsageError, match="asked"):
        strandline.open(tmp_path / "lake").export("a", out=Path("y.car"))
    assert [(report.command, report.outcome, report.exit) for report in told] == [("export", "usage", 2)]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("gc", "--what-if", "--vacuum", "0"), "OPTION_ALONE"),
        (("ingest", "x", "--dialect", "sdmp", "--namespace", ""), "OPTION_ALONE"),
        (("quarantine", "show", "ab", "cd"), "USAGE"),
        (("quarantine", "list", "ab"), "USAGE"),
        (("sync", "--answer", "a", "--out", "b", "--requests", "c"), "SYNC_OPTIONS"),
        (("sync", "--from", "a", "--to", "b", "--schema", "c.d"), "LAKE_AND_SCHEMA"),
        (("sync", "--from", "a", "--to", "b", "--lake", "c"), "LAKE_AND_SCHEMA"),
    ],
)
def test_options_that_say_nothing_together_are_refused(words, code, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--json"]) == 2
    assert f'"code":"{code}"' in capsys.readouterr().out.replace(" ", "")


def test_limits_themselves_are_within_them(tmp_path, monkeypatch):
    assert [Bounds(0, 5).has(value) for value in (-1, 0, 5, 6)] == [False, True, True, False]
    monkeypatch.setattr(given, "MAX_OPTION_FILE_BYTES", 10)
    (tmp_path / "file").write_bytes(b"x" * 10)
    assert given.file_of_option("nodes", str(tmp_path / "file")) == b"x" * 10
    (tmp_path / "file").write_bytes(b"x" * 11)
    with pytest.raises(UsageError, match="larger"):
        given.file_of_option("nodes", str(tmp_path / "file"))


def test_only_what_prints_is_shown_beside_its_bytes():
    assert hex_dump(b"\x1f ~\x7f", 1)[0].endswith("  . ~.")


def test_a_further_run_of_a_call_has_an_id_a_time_and_a_beginning_of_its_own():
    call = Invocation("sync", Options(), session_seconds=7.5)
    first = call.context()
    assert (first.session_seconds, first.command) == (7.5, "sync")
    later = call.context_of("reduce", first)
    assert (later.session_seconds, later.command) == (0.0, "reduce")
    assert later.run_id != first.run_id
    assert later.started_at >= first.started_at
    call.began -= 1_000
    assert first.elapsed() > 1_000 > later.elapsed() >= 0
    same = {field.name for field in fields(first)} - {
        "run_id", "command", "started_at", "elapsed", "session_seconds",
    }  # fmt: skip
    assert all(getattr(later, name) == getattr(first, name) for name in same)
