"""What commands hand to their pipelines: the options as typed, also those of nothing and of zero."""

import shlex
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
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
from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.pruning import Erasing
from strandline.dialects import dialect
from strandline.lake import Lake
from strandline.pipelines import (
    export,
    gc,
    ingest,
    init,
    maintain,
    reduce,
    snapshot,
    sql,
    status,
    stream,
    sync_journals,
    sync_lakes,
    unpack,
)  # fmt: skip
from strandline.pipelines.gc_upkeep import Upkeep
from strandline.pipelines.ingest_input import IngestRequest
from strandline.pipelines.prune_plans import PruneRequest
from strandline.pipelines.reduce_request import ReduceRequest
from support.delta_rs_lake import empty_lake

NODES = '{"nodes": [{"node": "' + "1" * 64 + '", "user": "' + "2" * 64 + '"}]}'
LOGS = '{"logs": [{"id": "/shop", "store": "keyvalue", "write": ["*"]}]}'


class Store(dict):
    """The options by which a command opened the lake, in place of its tables."""

    def at(self, other):
        """Return the place of the other lake."""
        return other.describe()


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Returns what a command gives its pipeline, which then ends with an error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Invocation, "store", lambda _, **how: Store(how))

    def of(pipeline, *words):
        handed = []

        def run(*given_):
            handed.extend(given_)
            raise UsageError("ASKED", "asked", "stop")

        monkeypatch.setattr(pipeline, "run", run)
        if callable(words[0]):
            with pytest.raises(UsageError, match="asked"):
                words[0]()
        else:
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


LIMITS = "--set limits.walk_entries=9000000"
READS, CHANGES, MAKES = {"makes": False, "writes": False}, {"makes": False}, {}


def cases(folder: Path, nodes: object) -> list[tuple[object, str, object, dict[str, bool]]]:
    """Return what each command makes of its options: pipeline, words, request, and how the lake is opened."""
    logs = {"log-config": GivenOption("logs.json", LOGS.encode())}
    at = datetime(2026, 1, 31, tzinfo=UTC)
    erasing = {"devicelog": Erasing(86_400_000)}
    return [
        (ingest, "ingest a b --dialect ipfslog --format lines --fail-on-reject",
         IngestRequest(("a", "b"), "lines", fail_on_reject=True), MAKES),
        (ingest, "ingest --dialect sdmp --drop-rejected-before 2026-01-31 --nodes nodes.json",
         IngestRequest(drop_rejected_before=at, options=nodes), MAKES),
        (ingest, "ingest --dialect sdmp --from-quarantine --reason bad_node --namespace node:1",
         IngestRequest(from_quarantine=True, reason="BAD_NODE", namespace="node:1"), MAKES),
        (stream,
         ("stream here --dialect ipfslog --every 5m --format car --max-files 3 --checkpoint /c "
          "--log-config logs.json"),
         stream.StreamRequest("here", "car", 300.0, 3, None, "/c", None, logs),
         {"with_kafka": False, "source_scheme": None}),
        (stream, "stream s3://bucket/here --dialect sdmp --available-now --nodes nodes.json",
         stream.StreamRequest("s3://bucket/here", options=nodes), {"with_kafka": False, "source_scheme": "s3"}),
        (stream, "stream kafka://b:1/facts --dialect aura --every 20ms --max-records 5 --kafka-config a",
         stream.StreamRequest("kafka://b:1/facts", every=0.02, max_records=5, kafka_config=b""),
         {"with_kafka": True, "source_scheme": None}),
        (reduce, f"reduce --full --nodes nodes.json --log-config logs.json {LIMITS}",
         ReduceRequest(full=True, files=logs, walk_entries=9_000_000, options={"sdmp": nodes}), MAKES),
        (sync_lakes, f"sync --from there --dry-run --log-config logs.json {LIMITS}",
         sync_lakes.SyncLakesRequest(dry_run=True, files=logs, walk_entries=9_000_000), {"from_scheme": None}),
        (sync_journals, f"sync --nodes nodes.json --requests ask {LIMITS}",
         sync_journals.SyncRequest(nodes, folder / "ask", 9_000_000), {"makes": True, "writes": True}),
        (gc, f"gc --what-if --namespace a --namespace b --except c --dialect devicelog --skip-window 5 {LIMITS}",
         gc.GcRequest(5, ("devicelog",), ("a", "b"), ("c",), 9_000_000, what_if=True), CHANGES),
        (gc,
         ("gc --archive old --compact --vacuum 7 --force-vacuum --set maintain.target_bytes=1048576 "
          "--erase devicelog:1 --now 1970-01-03T00:00:00Z"),
         gc.GcRequest(DEFAULT_SKIP_WINDOW, erase=erasing, archive=Path("old"), upkeep=Upkeep(1 << 20, 7, True)),
         CHANGES),
        (snapshot, f"snapshot --namespace a --dialect aura --skip-window 5 {LIMITS}",
         PruneRequest(5, ("aura",), ("a",), walk_entries=9_000_000), CHANGES),
        (maintain,
         ("maintain --dry-run --keep-days 8 --set maintain.small_files=3 --set maintain.small_bytes=1048576 "
          "--set maintain.target_bytes=2097152"),
         maintain.MaintainRequest(8, 3, 1 << 20, 1 << 21, dry_run=True), CHANGES),
        (maintain,
         ("maintain --set maintain.keep_days=9 --set maintain.small_files=3 "
          "--set maintain.small_bytes=1048576 --set maintain.target_bytes=2097152"),
         maintain.MaintainRequest(9, 3, 1 << 20, 1 << 21), CHANGES),
        (init,
         ("init --buckets 4 --strict --ipfslog-profile compat --set tables.buckets=8 "
          "--set tables.deletion_vectors=true"),
         init.InitOptions(4, {"strict": "strict", "ipfslog-profile": "compat"}, 8, True), MAKES),
        (export, "export a --out x.car --as-of run-1 --format car",
         export.ExportRequest(("a",), folder / "x.car", "run-1", "car"), READS),
        (sql, "sql 'SELECT 1' --format csv --out rows.csv",
         sql.SqlRequest("SELECT 1", "csv", Path("rows.csv")), READS),
        (sql, "sql -f query.sql", sql.SqlRequest("SELECT 2"), READS),
        (status, "status 1 2 --all --check", status.StatusRequest(("1", "2"), True, True), {}),
        (unpack, "unpack here --out blocks.car", unpack.UnpackRequest(folder / "here", folder / "blocks.car"), {}),
    ]  # fmt: skip


def calls_of(folder: Path, nodes: object) -> list[tuple[object, Callable[[Lake], object], object]]:
    """Return what each method makes of its arguments: pipeline, call, request."""
    at = datetime(2026, 1, 31, tzinfo=UTC)
    erasing = {"devicelog": Erasing(86_400_000)}
    return [
        (ingest, lambda lake: lake.ingest(Path("a"), "b", dialect="ipfslog", format="lines", fail_on_reject=True),
         IngestRequest(("a", "b"), "lines", fail_on_reject=True)),
        (ingest, lambda lake: lake.ingest(dialect="sdmp", drop_rejected_before=at.date(), nodes=Path("nodes.json")),
         IngestRequest(drop_rejected_before=at, options=nodes)),
        (ingest, lambda lake: lake.ingest(dialect="sdmp", from_quarantine=True, reason="BAD_NODE", namespace="n"),
         IngestRequest(from_quarantine=True, reason="BAD_NODE", namespace="n")),
        (stream, lambda lake: lake.stream(Path("here"), dialect="ipfslog", format="car", max_files=3,
                                          checkpoint=Path("/c"), every="5m"),
         stream.StreamRequest("here", "car", 300.0, 3, None, "/c")),
        (stream, lambda lake: lake.stream("kafka://b:1/t", dialect="sdmp", max_records=3, kafka_config=Path("a")),
         stream.StreamRequest("kafka://b:1/t", max_records=3, kafka_config=b"")),
        (reduce, lambda lake: lake.reduce(full=True, nodes="nodes.json"),
         ReduceRequest(full=True, walk_entries=9_000_000, options={"sdmp": nodes})),
        (sync_lakes, lambda lake: lake.sync(Path("there"), dry_run=True),
         sync_lakes.SyncLakesRequest(dry_run=True, walk_entries=9_000_000)),
        (snapshot, lambda lake: lake.snapshot(namespace="a", dialect="aura", skip_window=5),
         PruneRequest(5, ("aura",), ("a",), walk_entries=9_000_000)),
        (gc, lambda lake: lake.gc(what_if=True, namespace="a", dialect="devicelog", excluded="c", skip_window=5,
                                  min_prunable=7),
         gc.GcRequest(5, ("devicelog",), ("a",), ("c",), 9_000_000, what_if=True, min_prunable=7)),
        (gc, lambda lake: lake.gc(erase="devicelog:1", now="1970-01-03T00:00:00Z", archive="old", compact=True,
                                  vacuum=7, force_vacuum=True),
         gc.GcRequest(DEFAULT_SKIP_WINDOW, walk_entries=9_000_000, erase=erasing, archive=Path("old"),
                      upkeep=Upkeep(1 << 20, 7, True))),
        (maintain, lambda lake: lake.maintain(dry_run=True, keep_days=8),
         maintain.MaintainRequest(8, 3, 1 << 20, 1 << 20, dry_run=True)),
        (export, lambda lake: lake.export("a", "b", out="x.car", as_of="run-1", format="car"),
         export.ExportRequest(("a", "b"), folder / "x.car", "run-1", "car")),
        (init, lambda lake: lake.init(buckets=4, strict=True), init.InitOptions(4, {"strict": "strict"}, 8)),
        (status, lambda lake: lake.status("1", "2", all=True, check=True),
         status.StatusRequest(("1", "2"), True, True)),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A lake without rows, which nobody changes."""
    return empty_lake(tmp_path_factory.mktemp("lakes") / "lake")


@pytest.fixture
def nodes(monkeypatch, tmp_path, empty):
    """The options of nodes.json, beside the files, folders and lakes that `cases` and `calls_of` name."""
    for far in ("stream_objects.check_prefix", "topic_brokers.check_reachable"):
        monkeypatch.setattr(f"strandline.tables.{far}", lambda _: None)
    texts = {"nodes.json": NODES, "logs.json": LOGS, "a": "", "b": "", "query.sql": "SELECT 2"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "here").mkdir()
    for name in ("lake", "there"):
        (tmp_path / name).mkdir()
        for table in empty.iterdir():
            (tmp_path / name / table.name).symlink_to(table)
    return dialect("sdmp").parse_options({"nodes": [GivenOption("nodes.json", NODES.encode())]})


@pytest.mark.parametrize("number", range(len(cases(Path(), None))))
def test_each_option_reaches_the_pipeline_as_it_was_given(asked, nodes, tmp_path, number):
    pipeline, words, request, how = cases(tmp_path, nodes)[number]
    handed = asked(pipeline, *shlex.split(words))
    assert [each for each in handed if type(each) is type(request)] == [request]
    assert [each for each in handed if isinstance(each, Store)] == (
        [how] if pipeline not in (status, unpack) else []
    )


@pytest.mark.parametrize("number", range(len(calls_of(Path(), None))))
def test_each_argument_of_a_method_reaches_the_pipeline(asked, nodes, tmp_path, number):
    pipeline, call, request = calls_of(tmp_path, nodes)[number]
    settings = {
        "limits.walk_entries": 9_000_000, "maintain.small_files": 3, "maintain.small_bytes": 1 << 20,
        "maintain.target_bytes": 1 << 20, "tables.buckets": 8,
    }  # fmt: skip
    handed = asked(pipeline, lambda: call(strandline.open("lake", settings=settings)))
    assert [each for each in handed if type(each) is type(request)] == [request]
    assert current[0].location.describe() == str(tmp_path / "lake")


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
    for name, why in (("absent", "No such file or directory"), ("a\0b", "it is no path")):
        with pytest.raises(UsageError, match=f"of --nodes cannot be read: {why}[.]"):
            given.file_of_option("nodes", name)


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


@pytest.mark.parametrize("words", [(), ("--quiet",)], ids=" ".join)
def test_notes_of_a_run_are_on_standard_error_unless_quiet(asked, monkeypatch, capsys, words):
    asked(maintain, "maintain")

    def run(store, dialects, request, context):
        context.progress.note("a note")
        return context.report("/l", members={"maintenance": [], "dry_run": False})

    monkeypatch.setattr(maintain, "run", run)
    capsys.readouterr()
    assert main(["maintain", *words]) == 0
    said = capsys.readouterr()
    assert said.err == ("" if words else "a note\n")
    assert "a note" not in said.out


def test_settings_of_a_call_come_from_its_options_before_its_environment(tmp_path):
    (tmp_path / "conf.yaml").write_text("tables:\n  buckets: 2\nmerge:\n  attempts: 2\nlimits:\n  ratio: 2\n")
    environ = {"HOME": "/h", "STRANDLINE_TABLES__BUCKETS": "3", "STRANDLINE_MERGE__ATTEMPTS": "3"}
    options = Options(conf=tmp_path / "conf.yaml", settings=("tables.buckets=4",))
    settings = Invocation("init", options, environ=environ).settings
    assert (settings.tables.buckets, settings.merge.attempts, settings.limits.ratio) == (4, 3, 2)
    assert (settings.spark.state[:3], settings.spark.cache[:3]) == ("/h/", "/h/")
    given = [Options(), Options(conf=Path("x")), Options(env="dev"), Options(settings=("a",))]
    assert [each.gives_settings for each in given] == [False, True, True, True]
    assert Invocation("init", Options(env="prod"), environ={}).effective.places.keys()
    for wrong in ("--env", "--conf"):
        assert main(["explain", "BAD_NODE", wrong, "nothing"]) == 2


@pytest.mark.parametrize(
    ("words", "how"),
    [
        (("reduce", "--lake", "hdfs://n/l"), {"scheme": "hdfs", "source_scheme": None, "with_kafka": False}),
        (("sql", "SELECT 1"), {"scheme": None, "source_scheme": None, "with_kafka": False}),
        (
            ("stream", "kafka://b:1/t", "--dialect", "sdmp", "--available-now", "--lake", "hdfs://n/l"),
            {"scheme": "hdfs", "source_scheme": None, "with_kafka": True},
        ),
        (
            ("stream", "s3://bucket/in", "--dialect", "sdmp", "--available-now"),
            {"scheme": None, "source_scheme": "s3", "with_kafka": False},
        ),
        (("sync", "--from", "foo://b/x", "--to", "hdfs://n/l"), {"scheme": "hdfs", "from_scheme": "foo"}),
    ],
    ids=" ".join,
)
def test_a_session_is_asked_for_with_what_the_lake_and_the_source_need(
    nodes, monkeypatch, tmp_path, words, how
):
    asked = []

    def open_session(settings, **given):
        asked.append(given)
        raise UsageError("ASKED", "asked", "stop")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("strandline.session.open_session", open_session)
    assert main([*words]) == 2
    assert {name: asked[-1][name] for name in how} == how
    assert asked[-1]["run_id"] == current[0].run_id
