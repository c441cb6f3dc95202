"""`strandline.open`: the commands as methods, their errors as exceptions, no Spark where a command needs none."""

import inspect
import subprocess
import sys
from types import SimpleNamespace

import pytest

import strandline
from strandline.cli.app import command_names, commands
from strandline.cli.command import functions
from strandline.lake import Lake
from strandline.pipelines.report import Report, ReportError
from support.delta_rs_lake import empty_lake, held, set_properties, state, write


@pytest.fixture
def lake(tmp_path, monkeypatch):
    def started(*_, **__):
        raise AssertionError("Spark was started")

    monkeypatch.setattr("strandline.session.open_session", started)
    path = empty_lake(tmp_path / "lake")
    write(path, "namespace_state", [state("node:1"), state("node:2")])
    write(path, "quarantine", [held(b"x", namespace="node:1", status="rejected", reasons=["JSON_INVALID"])])
    return strandline.open(path)


@pytest.mark.large
def test_status_and_quarantine_are_reports_without_spark(lake):
    report = lake.status()
    assert isinstance(report, Report)
    assert (report.exit, report.namespaces, len(report.members["rows"])) == (0, 2, 2)
    assert lake.status("node:2").namespaces == 1
    found = lake.quarantine()
    assert found.reasons == {"JSON_INVALID": 1}


def test_a_reason_is_explained_without_a_lake():
    report = strandline.open("absent-lake").explain("line_number_mismatch")
    assert report.members["code"] == "LINE_NUMBER_MISMATCH"
    assert report.members["meaning"]
    assert report.members["advice"]


@pytest.mark.large
def test_nothing_is_printed_and_a_finding_is_no_exception(lake, capsys):
    assert lake.status(check=True).exit in (0, 1)
    assert tuple(capsys.readouterr()) == ("", "")


@pytest.mark.large
@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda lake: strandline.open("absent-lake").status(), "LAKE_NOT_FOUND"),
        (lambda lake: strandline.open("a", schema="b.c"), "LAKE_AND_SCHEMA"),
        (lambda lake: strandline.open(schema="no-schema"), "SCHEMA_NAME_INVALID"),
        (lambda lake: strandline.open(""), "LAKE_PATH_INVALID"),
        (lambda lake: strandline.open("x", settings={"merge.nothing": 1}).status(), "SETTING_UNKNOWN"),
        (lambda lake: lake.ingest("absent", dialect="sdmp"), "SOURCE_MISSING"),
        (lambda lake: lake.ingest("absent", dialect="sdpm"), "DIALECT_UNKNOWN"),
        (lambda lake: lake.ingest(dialect="sdmp"), "SOURCE_MISSING"),
        (lambda lake: lake.ingest(dialect="sdmp", from_quarantine=True, require_manifest=True), "OPTION_ALONE"),
        (lambda lake: lake.ingest(dialect="sdmp", from_quarantine=True, reason="NO_BASE"), "REASON_NOT_REPLAYED"),
        (lambda lake: lake.gc(what_if=True, compact=True), "OPTION_ALONE"),
        (lambda lake: lake.gc(dialect="aura", erase="devicelog"), "DIALECTS_DIFFER"),
        (lambda lake: lake.reduce(run_id="a/b"), "RUN_ID_INVALID"),
        (lambda lake: lake.reduce(log_confg="x"), "OPTION_UNKNOWN"),
        (lambda lake: lake.sync("absent", log_config="x"), "OPTION_FILE"),
        (lambda lake: lake.stream(".", dialect="aura", format="cbro"), "FORMAT_UNKNOWN"),
        (lambda lake: lake.status("node:9"), "NAMESPACE_UNKNOWN"),
        (lambda lake: lake.quarantine("zz"), "ID_INVALID"),
        (lambda lake: lake.table("node_jornal"), "TABLE_UNKNOWN"),
    ],
)  # fmt: skip
def test_errors_are_those_of_the_commands_as_exceptions(lake, call, code):
    with pytest.raises(strandline.UsageError) as raised:
        call(lake)
    assert raised.value.code == code
    assert raised.value.next
    assert isinstance(raised.value, strandline.StrandlineError)


def test_a_wrong_keyword_is_answered_with_one_that_the_method_takes(lake):
    for name, wrong in (
        ("ingest", "formt"),
        ("stream", "foramt"),
        ("reduce", "log_confg"),
        ("init", "strct"),
    ):
        with pytest.raises(strandline.UsageError) as raised:
            lake._run(name, **{wrong: "x"})
        method = inspect.signature(getattr(lake, name)).parameters
        meant = raised.value.next.removeprefix("did you mean ").removesuffix("?")
        assert meant in {"format", "log_config", "strict"}, raised.value.next
        assert meant in method or "options" in method


@pytest.mark.parametrize(
    "call",
    [
        # Files younger than a week may be those of a command that runs.
        lambda lake: lake.maintain(keep_days=6),
        lambda lake: lake.maintain(keep_days=36_501),
        lambda lake: lake.maintain(keep_days="30"),
        lambda lake: lake.snapshot(skip_window=-1),
        lambda lake: lake.gc(skip_window=-1),
        lambda lake: lake.gc(min_prunable=0),
        lambda lake: lake.gc(min_prunable=2**63),
        lambda lake: lake.gc(vacuum="168"),
        lambda lake: lake.init(buckets=0),
        lambda lake: lake.init(buckets=65_537),
        lambda lake: lake.init(buckets=True),
        lambda lake: lake.stream("landing", dialect="sdmp", max_files=0),
    ],
)
def test_a_number_that_the_command_line_refuses_is_refused(lake, call):
    with pytest.raises(strandline.UsageError, match="must be a whole number") as raised:
        call(lake)
    assert raised.value.code == "NUMBER_INVALID"
    assert raised.value.next


def test_one_name_may_stand_for_a_list(lake):
    with pytest.raises(strandline.UsageError, match="no dialect sdpm"):
        lake.gc(dialect="sdpm")
    with pytest.raises(strandline.UsageError, match="no dialect sdpm"):
        lake.snapshot(dialect="sdpm")
    with pytest.raises(strandline.UsageError, match="no dialect sdpm"):
        lake.gc(erase="sdpm")


@pytest.mark.large
def test_a_lake_of_a_newer_version_is_refused_by_what_reads_it_with_and_without_spark(tmp_path):
    path = empty_lake(tmp_path / "lake")
    set_properties(path, "quarantine", {"strandline.contract": "99.0.0"})
    lake = strandline.open(path)
    for call in (lake.status, lake.reduce, lambda: lake.table("run"), lambda: lake.sql("SELECT 1")):
        with pytest.raises(strandline.UsageError, match="quarantine") as raised:
            call()
        assert raised.value.code == "CONTRACT_NEWER"


@pytest.mark.large
def test_a_lake_of_an_older_version_is_shown_by_status_and_refused_by_all_that_needs_its_columns(
    tmp_path, monkeypatch
):
    session = SimpleNamespace(conf=SimpleNamespace(get=lambda _, default=None: default))
    monkeypatch.setattr("strandline.cli.invocation.Invocation.session", lambda *_, **__: session)
    path = empty_lake(tmp_path / "lake")
    set_properties(path, "quarantine", {"strandline.contract": "0.1.0"})
    lake = strandline.open(path)
    assert lake.status().exit == 0
    calls = (lake.reduce, lake.check, lambda: lake.table("run"), lambda: lake.sql("SELECT * FROM run"))
    for call in calls:
        with pytest.raises(strandline.UsageError, match="quarantine") as raised:
            call()
        assert raised.value.code == "CONTRACT_OLDER"
        assert "strandline init" in raised.value.next


def test_a_fault_of_the_environment_is_an_exception_with_its_code(lake, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "/l")

    monkeypatch.setattr("strandline.pipelines.status.run", full)
    with pytest.raises(strandline.FaultError) as raised:
        lake.status()
    assert raised.value.code == "DISK_FULL"
    assert isinstance(raised.value.__cause__, OSError)


def test_a_bug_is_not_dressed_as_a_fault(lake, monkeypatch):
    def wrong(*_, **__):
        raise KeyError("x")

    monkeypatch.setattr("strandline.pipelines.status.run", wrong)
    with pytest.raises(KeyError):
        lake.status()


def test_every_option_of_a_method_is_one_of_its_command():
    methods = {name for name in command_names() if hasattr(Lake, name)}
    assert methods == {
        "init", "ingest", "stream", "reduce", "sync", "maintain", "export", "status", "quarantine", "check", "sql",
        "report", "explain", "snapshot", "gc", "checkpoint", "prove",
    }  # fmt: skip
    renamed = {"format": "form", "all": "every", "quarantine_id": "words"}
    for name in methods - {"sql"}:
        taken = inspect.signature(functions[name]).parameters
        method = inspect.signature(getattr(Lake, name))
        options = [
            each
            for each in method.parameters.values()
            if each.name != "self" and each.kind is not each.VAR_KEYWORD
        ]
        assert [each.name for each in options if renamed.get(each.name, each.name) not in taken] == [], name


def test_a_method_takes_each_option_of_its_command_by_its_name():
    shared = {"lake", "schema", "json", "quiet", "conf", "env", "set", "metrics", "help"}
    other_names = {("gc", "except"), ("sync", "from"), ("sync", "to"), ("stream", "available_now")}
    for name in {name for name in command_names() if hasattr(Lake, name)} - {"sql"}:
        method = inspect.signature(getattr(Lake, name)).parameters
        takes_more = any(each.kind is each.VAR_KEYWORD for each in method.values())
        taken = {*method, *(inspect.signature(functions[name]).parameters if takes_more else ())}
        options = {option for each in commands().commands[name].params for option in each.opts}
        named = {option[2:].replace("-", "_") for option in options if option.startswith("--")} - shared
        assert {each for each in named - taken if (name, each) not in other_names} == set(), name


def test_a_notebook_shows_a_report_as_a_table_and_escapes_data():
    report = Report(
        "ingest", "r", "found", 1, lake="<script>alert(1)</script>", counts={"new": 1234, "known": 0},
        reasons={"JSON_INVALID": 2}, error=ReportError("A", "<b>", "next"),
    )  # fmt: skip
    shown = report._repr_html_()
    assert "<td>1,234</td>" in shown
    assert "<th>JSON_INVALID</th><td>2</td>" in shown
    assert "known" not in shown
    assert "<script>" not in shown
    assert "<b>" not in shown


def test_a_lake_shows_the_call_that_opens_it(lake):
    assert repr(lake) == f"strandline.open({lake.location.describe()!r})"
    assert repr(strandline.open(schema="main.ours")) == "strandline.open(schema='main.ours')"


@pytest.mark.large
def test_to_import_and_open_starts_nothing_and_leaves_signals_alone():
    asked = (
        "import signal, sys; before = signal.getsignal(signal.SIGINT); import strandline; "
        "assert 'strandline.lake' not in sys.modules; strandline.open('x'); "
        "assert 'pyspark' not in sys.modules and 'pandas' not in sys.modules; "
        "assert signal.getsignal(signal.SIGINT) is before"
    )
    subprocess.run([sys.executable, "-c", asked], check=True, timeout=60)
