"""--run-id: a run that the lake has is reported again and not done again."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.errors import AnalysisException

from strandline.cli import main, repeats
from strandline.cli.app import command_names, commands
from strandline.cli.invocation import Invocation, Options
from strandline.cli.repeats import earlier_report, hash_of_arguments
from strandline.contracts.load import tables
from strandline.core.errors import UsageError
from strandline.tables.delta_rs import DeltaRsLake, open_tables
from strandline.tables.location import Location
from support.delta_rs_lake import empty_lake, write

REDUCE = hash_of_arguments({"full": False})
ROW = {
    "run_id": "job-7", "command": "reduce", "version": "1", "outcome": "ok", "exit": 0, "seconds": 4.5,
    "lake": "/there", "namespaces": 2, "counts": [("new_records", 5), ("reduced", 2)],
    "reasons": [], "read_versions": [("node_journal_line", 0)],
    "tables": [("namespace_state", {"version": 0, "inserted": 2})],
    "detail": json.dumps(
        {"run_version": 7, "repaired_versions": {"node_journal": 3}, "refused": [], "arguments": REDUCE}
    ),
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
    assert not {"run_version", "repaired_versions"} & said.keys()
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


@pytest.mark.parametrize(
    ("condition", "is_absent"), [("TABLE_OR_VIEW_NOT_FOUND", True), ("DELTA_TABLE_NOT_FOUND", True),
                                 ("INSUFFICIENT_PERMISSIONS", False), (None, False)],
)  # fmt: skip
def test_only_what_spark_does_not_find_has_no_run_and_another_error_of_spark_is_told(
    monkeypatch, condition, is_absent
):
    error = AnalysisException(f"[{condition}] no" if condition else "no")

    def fail(_):
        raise error

    monkeypatch.setattr(repeats, "open_for_reading", fail)
    call = Invocation("reduce", Options(run_id="job-7"))
    if is_absent:
        assert repeats.earlier_report(call) is None
        return
    with pytest.raises(AnalysisException) as told:
        repeats.earlier_report(call)
    assert told.value is error


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
    assert taking == {"init", "ingest", "reduce", "maintain", "snapshot", "gc", "checkpoint"}


LINES, STATES = "node_journal_line", "namespace_state"
KNOWN = {"created": [LINES, "run"], "migrated": [], "unchanged": []}


def _row(run_id, command, order, **members):
    detail = {"run_version": order, "arguments": hash_of_arguments({}), **members}
    return {
        **ROW,
        "run_id": run_id,
        "command": command,
        "tables": [],
        "read_versions": [],
        "detail": json.dumps(detail),
    }


def _answered(capsys, lake, *words):
    assert main([*words, "--lake", lake, "--json"]) in (0, 2)
    said = _said(capsys)
    return said.get("repeated") or (said["error"]["code"], said["error"]["message"], said["error"]["next"])


@pytest.mark.large
@pytest.mark.parametrize(
    ("wrote", "read", "made_anew"),
    [
        ([(LINES, {"version": 0, "inserted": 2})], [], LINES),
        # It read the records, or all that it read were known or rejected.
        ([(STATES, {"version": 0, "inserted": 2})], [(LINES, 0)], LINES),
        ([], [], LINES),
        ([], [], "quarantine"),
        ([(STATES, {"version": 0, "inserted": 2})], [], STATES),
    ],
)
def test_a_run_whose_tables_were_made_anew_is_not_told_as_done(lake, capsys, wrote, read, made_anew):
    sdmp = {"dialect": "sdmp", "tables": wrote, "read_versions": read}
    write(Path(lake), "run", [_row("i-0", "init", 1, **KNOWN), {**_row("job-8", "ingest", 8), **sdmp}])
    again = ("ingest", "--from-quarantine", "--dialect", "sdmp", "--run-id", "job-8")
    given = hash_of_arguments({"from_quarantine": True, "dialect": "sdmp"})
    ours = {
        **_row("job-8", "ingest", 8),
        **sdmp,
        "detail": json.dumps({"run_version": 8, "arguments": given}),
    }
    shutil.rmtree(Path(lake, "run"))
    write(Path(lake), "run", [_row("i-0", "init", 1, **KNOWN), ours])
    assert _answered(capsys, lake, *again) is True
    # Tables of others, and an `init` that had nothing to make, change nothing.
    write(
        Path(lake), "run", [_row("i-1", "init", 9, created=["aura_fact"]), _row("i-2", "init", 9, created=[])]
    )
    assert _answered(capsys, lake, *again) is True
    write(Path(lake), "run", [_row("i-3", "init", 10, created=[made_anew])])
    code, message, step = _answered(capsys, lake, *again)
    assert (code, step) == (
        "RUN_ID_TAKEN",
        "give the new run an id of its own, for example --run-id job-8-2.",
    )
    assert ("run job-8 " in message, f"{made_anew} was" in message) == (True, True)


@pytest.mark.large
def test_an_init_whose_table_was_dropped_is_not_repeated_under_its_id(lake, capsys):
    known = {**KNOWN, "unchanged": sorted({"quarantine", STATES})}
    write(Path(lake), "run", [_row("i-1", "init", 9, **known)])
    assert _answered(capsys, lake, "init", "--run-id", "i-1") is True
    shutil.rmtree(Path(lake, STATES))
    code, message, step = _answered(capsys, lake, "init", "--run-id", "i-1")
    assert (code, step) == ("RUN_ID_TAKEN", "give the new run an id of its own, for example --run-id i-1-2.")
    assert ("run i-1 " in message, f"{STATES} was" in message) == (True, True)
    # Another id, and a table that a newer version of Strandline brings, are not refused.
    assert main(["init", "--run-id", "i-2", "--lake", lake]) == 3
    assert "Spark was started" in capsys.readouterr().err
    write(Path(lake), STATES, [])
    shutil.rmtree(Path(lake, "aura_fact"))
    assert main(["init", "--run-id", "i-1", "--lake", lake]) == 3
    assert "Spark was started" in capsys.readouterr().err


def test_an_init_in_a_schema_whose_table_was_dropped_is_not_repeated_under_its_id(lake, capsys, monkeypatch):
    """`run` is read by delta-rs here in place of Spark; the names are those that a catalog lists."""
    write(Path(lake), "run", [_row("i-1", "init", 9, **KNOWN)])
    names = set(tables()) - {LINES}

    class Catalog:
        def sql(self, statement):
            listed = sorted(names) if statement.startswith("SHOW TABLES IN `main`.`ours`") else []
            return SimpleNamespace(
                collect=lambda: [{"tableName": name, "isTemporary": False} for name in listed]
            )

    there = Location.lake(lake)
    store = SimpleNamespace(spark=Catalog(), location=Location.parse_schema("main.ours"))
    monkeypatch.setattr(Invocation, "store", lambda *_, **__: store)
    monkeypatch.setattr(repeats, "SparkLake", lambda _: DeltaRsLake(there, open_tables(there)))

    def repeated(run_id):
        try:
            return earlier_report(Invocation("init", Options(schema="main.ours", run_id=run_id)))
        except UsageError as refused:
            return refused.code, refused.message

    code, message = repeated("i-1")
    assert (code, f"{LINES} was dropped since" in message) == ("RUN_ID_TAKEN", True)
    assert repeated("i-2") is None
    # One that its version did not have, and the table of runs itself.
    names |= {LINES}
    names -= {"aura_fact"}
    assert repeated("i-1") is None
    names -= {"run", LINES}
    assert repeated("i-1") is None
