"""--run-id: a run that the lake has is reported again and not done again."""

import json
import shutil
from pathlib import Path

import pytest

from strandline.cli import main
from strandline.cli.app import command_names, commands
from strandline.cli.repeats import hash_of_arguments
from support.delta_rs_lake import empty_lake, write

REDUCE = hash_of_arguments({"full": False})
ROW = {
    "run_id": "job-7", "command": "reduce", "version": "1", "outcome": "ok", "exit": 0, "seconds": 4.5,
    "lake": "/there", "namespaces": 2, "counts": [("new_records", 5), ("reduced", 2)],
    "reasons": [], "read_versions": [("node_journal_line", 0)],
    "tables": [("namespace_state", {"version": 0, "inserted": 2})],
    "detail": json.dumps({"run_version": 7, "refused": [], "arguments": REDUCE}),
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    def started(*_, **__):
        raise AssertionError("Spark was started")

    monkeypatch.setattr("strandline.session.open_session", started)


@pytest.fixture
def lake(tmp_path):
    lake = empty_lake(tmp_path / "lake")
    write(lake, "run", [{**ROW, "run_id": "job-6"}, ROW])
    return str(lake)


def _said(capsys):
    return json.loads(capsys.readouterr().out)


def test_a_run_that_is_done_is_told_again_without_spark(lake, capsys):
    assert main(["reduce", "--run-id", "job-7", "--lake", lake, "--json"]) == 0
    said = _said(capsys)
    assert (said["run_id"], said["seconds"], said["namespaces"], said["repeated"]) == ("job-7", 4.5, 2, True)
    assert said["counts"] == {"new_records": 5, "reduced": 2}
    assert said["tables"] == {"namespace_state": {"version": 0, "inserted": 2}}
    assert "run_version" not in said
    assert main(["reduce", "--run-id", "job-7", "--lake", lake]) == 0
    assert "nothing was done\n" in capsys.readouterr().out


def test_a_run_of_a_version_that_wrote_no_arguments_is_repeated_by_its_command_alone(lake, capsys):
    write(Path(lake), "run", [{**ROW, "run_id": "old-1", "detail": json.dumps({"run_version": 7})}])
    assert main(["reduce", "--full", "--run-id", "old-1", "--lake", lake, "--json"]) == 0
    assert _said(capsys)["repeated"] is True
    assert main(["maintain", "--run-id", "old-1", "--lake", lake, "--json"]) == 2


def test_the_exit_code_of_the_earlier_run_is_that_of_the_repeated_one():
    error = {"code": "REDUCE_LIMIT", "message": "Too large.", "next": "Raise the limit."}
    from strandline.pipelines import runs
    from strandline.pipelines.report import Report, ReportError

    class OneRow:
        def query(self, text, tables):
            assert text.endswith("run_id = 'job-8'")
            return [{**ROW, "run_id": "job-8", "outcome": "fault", "exit": 3, "error": error}]

    found = runs.recorded_run(OneRow(), "job-8")
    assert isinstance(found, Report)
    assert (found.exit, found.error) == (3, ReportError("REDUCE_LIMIT", "Too large.", "Raise the limit."))


@pytest.mark.parametrize(
    "words", [("reduce", "--full"), ("reduce", "--log-config", "x"), ("maintain",), ("init",)], ids=" ".join
)
def test_an_id_of_another_command_or_other_options_is_refused(lake, capsys, words):
    assert main([*words, "--run-id", "job-7", "--lake", lake, "--json"]) == 2
    assert _said(capsys)["error"]["code"] == "RUN_ID_TAKEN"


def test_an_option_of_zero_is_another_call_than_one_without_it():
    calls = [
        {"vacuum": vacuum, "force_vacuum": True, "skip_window": window, "what_if": False, "namespace": []}
        for vacuum in (None, 0, 168)
        for window in (None, 0, 1)
    ]
    assert len({hash_of_arguments(each) for each in calls}) == len(calls)


def test_hashes_that_lakes_have_stay_as_they_are():
    nothing = {"full": False, "dialect": None, "namespace": [], "excluded": ()}
    assert hash_of_arguments(nothing) == hash_of_arguments({}) == "44136fa355b3678a"
    some = {"dialect": "sdmp", "sources": ["a", "b"], "out": Path("x"), "retry": True, "n": 3, "f": 1.5}
    assert hash_of_arguments({**nothing, **some}) == "104cad0daf07ab5c"


@pytest.mark.parametrize("words", [("--skip-window", "0"), ("--vacuum", "0", "--force-vacuum")], ids=" ".join)
def test_a_call_with_zero_is_not_that_of_a_run_without_it(lake, capsys, words):
    forced = "--force-vacuum" in words
    done = {"run_version": 7, "arguments": hash_of_arguments({"force_vacuum": forced})}
    write(Path(lake), "run", [{**ROW, "run_id": "gc-1", "command": "gc", "detail": json.dumps(done)}])
    assert main(["gc", *words, "--run-id", "gc-1", "--lake", lake, "--json"]) == 2
    assert _said(capsys)["error"]["code"] == "RUN_ID_TAKEN"


@pytest.mark.parametrize("run_id", ["", "-x", "a b", "a'b", "a/b", "x" * 201, "é", "a\nb", "{{job.run_id}}"])
def test_an_id_that_is_not_a_name_is_refused(lake, capsys, run_id):
    assert main(["reduce", f"--run-id={run_id}", "--lake", lake, "--json"]) == 2
    assert _said(capsys)["error"]["code"] == "RUN_ID_INVALID"


def test_a_lake_that_is_not_there_has_no_run(tmp_path, capsys):
    assert main(["init", "--run-id", "first", "--lake", str(tmp_path / "new")]) == 3
    assert "AssertionError: Spark was started" in capsys.readouterr().err


def test_a_lake_without_its_table_of_runs_has_no_run(lake, capsys):
    shutil.rmtree(Path(lake) / "run")
    assert main(["init", "--run-id", "first", "--lake", lake]) == 3
    assert "AssertionError: Spark was started" in capsys.readouterr().err


def test_the_commands_that_take_an_id_are_those_that_write_one_row():
    taking = {
        name
        for name in command_names()
        if any("--run-id" in parameter.opts for parameter in commands().commands[name].params)
    }
    assert taking == {"init", "ingest", "reduce", "maintain", "snapshot", "gc"}
