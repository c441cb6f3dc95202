"""OpenLineage: a server on loopback gets the events of a run; one that is not there is a warning."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from openlineage.client.transport.http import HttpTransport

from strandline.cli import main
from strandline.cli.app import command_names
from strandline.cli.invocation import Invocation, Options
from strandline.cli.lineage import COMMANDS, dataset_of
from strandline.pipelines import maintain
from strandline.pipelines.report import Report, TableChange
from support.delta_rs_lake import empty_lake

NOTHING = {"maintenance": [], "dry_run": False}


@pytest.fixture
def received(monkeypatch) -> Iterator[list[dict]]:
    """The events that a server on loopback was sent."""
    events: list[dict] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            events.append(event | {"path": self.path, "login": self.headers["Authorization"]})
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    # It looks every so many seconds whether it shall end.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("OPENLINEAGE_URL", f"http://127.0.0.1:{server.server_port}")
    yield events
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def lake(tmp_path, monkeypatch) -> Path:
    """A lake whose maintenance needs no Spark."""
    monkeypatch.setattr("strandline.cli.invocation.Invocation.store", lambda *_, **__: None)

    def run(store, dialects, request, context):
        if request.keep_days == 7:
            raise OSError(28, "No space left on device", "/l")
        report = context.report(str(tmp_path / "lake"), tables={"run": TableChange(5, 1)}, members=NOTHING)
        return type(report)(**{**_fields(report), "read_versions": {"namespace_state": 3}})

    monkeypatch.setattr(maintain, "run", run)
    return empty_lake(tmp_path / "lake")


def _fields(report):
    return {name: getattr(report, name) for name in report.__slots__}


def test_a_run_is_told_at_its_start_and_at_its_end(received, lake):
    assert main(["maintain", "--lake", str(lake), "--quiet"]) == 0
    start, end = received
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert start["run"]["runId"] == end["run"]["runId"]
    assert start["job"]["namespace"] == "strandline"
    assert start["job"]["name"] == f"{lake}.maintain"
    assert [(each["namespace"], each["name"]) for each in end["inputs"]] == [
        ("file", f"{lake}/namespace_state")
    ]
    assert end["inputs"][0]["facets"]["version"]["datasetVersion"] == "3"
    assert start["inputs"] == start["outputs"] == []
    assert start["eventTime"] < end["eventTime"]
    [out] = end["outputs"]
    assert (out["namespace"], out["name"]) == ("file", f"{lake}/run")
    assert out["facets"]["version"]["datasetVersion"] == "5"
    assert out["outputFacets"]["outputStatistics"]["rowCount"] == 1


@pytest.mark.parametrize(
    ("named", "namespace"), [({}, "strandline"), ({"OPENLINEAGE_NAMESPACE": "prod"}, "prod")]
)
def test_tables_of_a_schema_and_all_jobs_are_in_the_namespace_of_the_variable(
    received, lake, monkeypatch, named, namespace
):
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    assert main(["maintain", "--schema", "main.ours", "--quiet"]) == 0
    assert {(event["job"]["namespace"], event["job"]["name"]) for event in received} == {
        (namespace, "main.ours.maintain")
    }
    datasets = [
        (each["namespace"], each["name"]) for key in ("inputs", "outputs") for each in received[1][key]
    ]
    assert datasets == [(namespace, "main.ours.namespace_state"), (namespace, "main.ours.run")]


@pytest.mark.parametrize(
    ("ended", "kind"),
    [
        (0, "COMPLETE"),
        (1, "COMPLETE"),
        (2, "FAIL"),
        (3, "FAIL"),
        (129, "ABORT"),
        (130, "ABORT"),
        (143, "ABORT"),
    ],
)
def test_the_exit_code_says_how_a_run_ended_and_its_sources_are_inputs(received, tmp_path, ended, kind):
    call = Invocation("ingest", Options(lake=str(tmp_path)), ("s3://bucket/a", str(tmp_path / "b")))
    call.context()
    call.lineage.started(call)
    call.lineage.ended(call, Report("ingest", call.run_id, exit=ended))
    assert [event["eventType"] for event in received] == ["START", kind]
    named = [("s3://bucket", "a"), ("file", f"{tmp_path}/b")]
    for event in received:
        assert [(each["namespace"], each["name"]) for each in event["inputs"]] == named
        assert "version" not in event["inputs"][0]["facets"]


def test_runs_of_two_commands_with_one_id_are_two(received, tmp_path):
    for command in ("ingest", "reduce"):
        Invocation(command, Options(lake=str(tmp_path), run_id="job-1")).context()
    assert len({event["run"]["runId"] for event in received}) == 2


def test_a_repeated_id_is_the_same_run(received, lake):
    for _ in range(2):
        assert main(["maintain", "--run-id", "job-1", "--lake", str(lake), "--quiet"]) == 0
    assert len({event["run"]["runId"] for event in received}) == 1


@pytest.mark.parametrize(
    "config",
    [
        "transport: {type: kafka, topic: t, config: {bootstrap.servers: 'localhost:9092'}}",
        "transport: {type: console}",
        "filters: [{type: regex, regex: .}]",
        "tags: x",
    ],
)
@pytest.mark.parametrize("is_named", [False, True])
def test_a_file_of_the_client_does_not_send_events_elsewhere(
    received, lake, tmp_path, monkeypatch, capsys, config, is_named
):
    (tmp_path / "openlineage.yml").write_text(config)
    monkeypatch.chdir(tmp_path)
    if is_named:
        monkeypatch.setenv("OPENLINEAGE_CONFIG", "openlineage.yml")
    assert main(["maintain", "--lake", str(lake), "--quiet"]) == 0
    assert [event["eventType"] for event in received] == ["START", "COMPLETE"]
    told = capsys.readouterr()
    assert "eventType" not in told.out + told.err


def test_variables_name_the_endpoint_and_the_key_and_turn_it_off(received, lake, monkeypatch):
    words = ["maintain", "--lake", str(lake), "--quiet"]
    assert main(words) == 0
    assert {(event["path"], event["login"]) for event in received} == {("/api/v1/lineage", None)}
    monkeypatch.setenv("OPENLINEAGE_ENDPOINT", "events")
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "secret")
    assert main(words) == 0
    assert {(event["path"], event["login"]) for event in received[2:]} == {("/events", "Bearer secret")}
    monkeypatch.setenv("OPENLINEAGE_DISABLED", " True")
    assert main(words) == 0
    assert len(received) == 4


def test_a_run_that_fails_is_told_with_its_error(received, lake):
    assert main(["maintain", "--keep-days", "7", "--lake", str(lake), "--quiet"]) == 3
    assert received[-1]["eventType"] == "FAIL"
    assert "disk is full" in received[-1]["run"]["facets"]["errorMessage"]["message"]


@pytest.mark.parametrize("words", [("status",), ("check", "--help"), ("reduce", "--nonsense")], ids=" ".join)
def test_commands_that_move_nothing_send_nothing(received, lake, words):
    main([*words, "--lake", str(lake)])
    assert received == []


@pytest.mark.parametrize("url", ["http://user:secret@127.0.0.1:9", "nonsense", "ftp://127.0.0.1/x"])
def test_a_server_that_is_not_there_is_a_warning_and_the_outcome_stays(lake, monkeypatch, capsys, url):
    monkeypatch.setenv("OPENLINEAGE_URL", url)
    monkeypatch.setattr("time.sleep", lambda _: None)
    assert main(["maintain", "--lake", str(lake), "--quiet", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["exit"] == 0
    assert told.err.count("warning: no lineage was sent") == 1
    assert "secret" not in told.err + told.out


@pytest.mark.parametrize("failing", [1, 2])
def test_after_an_event_that_failed_none_is_sent(received, lake, monkeypatch, capsys, failing):
    sent = []
    emit = HttpTransport.emit

    def fail(transport, event):
        sent.append(event)
        if len(sent) == failing:
            raise OSError("no answer")
        return emit(transport, event)

    monkeypatch.setattr(HttpTransport, "emit", fail)
    assert main(["maintain", "--lake", str(lake), "--quiet"]) == 0
    assert capsys.readouterr().err.count("warning: no lineage was sent") == 1
    assert (len(sent), len(received)) == (failing, failing - 1)


def test_without_its_client_the_warning_names_the_package(lake, monkeypatch, capsys):
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:9")
    monkeypatch.setitem(__import__("sys").modules, "openlineage.client.transport.http", None)
    assert main(["maintain", "--lake", str(lake), "--quiet"]) == 0
    assert "pip install 'WHEEL[lineage]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "namespace", "name"),
    [
        ("/in/a.journal", "file", "/in/a.journal"),
        ("s3://bucket/a/b.jsonl", "s3://bucket", "a/b.jsonl"),
        ("s3://bucket/day#1.jsonl", "s3://bucket", "day#1.jsonl"),
        ("gs://bucket/a/day?part=1#2", "gs://bucket", "a/day?part=1#2"),
        ("s3://bucket", "s3://bucket", "/"),
        ("https://account.example/box/x?sig=secret", "https://account.example", "box/x"),
        ("kafka://user:secret@host:9092/topic", "kafka://host:9092", "topic"),
        ("s3a://bucket/a", "s3://bucket", "a"),
        ("s3://key:secret@bucket/a", "s3://bucket", "a"),
        ("abfss://box@account.dfs.core.windows.net/x", "abfss://box@account.dfs.core.windows.net", "x"),
        ("abfs://other@account.dfs.core.windows.net/x", "abfss://other@account.dfs.core.windows.net", "x"),
        (
            "abfss://box:secret@account.dfs.core.windows.net/x",
            "abfss://box@account.dfs.core.windows.net",
            "x",
        ),
        ("abfss://account.dfs.core.windows.net/x", "abfss://account.dfs.core.windows.net", "x"),
        (
            "wasbs://box@account.blob.core.windows.net/x?sig=a",
            "wasbs://box@account.blob.core.windows.net",
            "x",
        ),
    ],
)
def test_datasets_are_named_by_the_rules_of_openlineage_and_without_credentials(source, namespace, name):
    assert dataset_of(source) == {"namespace": namespace, "name": name}


def test_a_path_with_brackets_where_a_host_would_be_is_a_file():
    assert dataset_of("//data[1]/x") == {"namespace": "file", "name": "//data[1]/x"}


def test_the_commands_that_are_told_exist():
    assert set(COMMANDS) <= set(command_names())
