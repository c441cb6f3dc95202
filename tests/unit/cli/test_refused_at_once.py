"""Wrong usage that paths, names and sockets show is refused before Spark starts."""

import json
import os
import socket
from pathlib import Path

import pytest

from strandline.cli import main
from strandline.cli.invocation import Invocation
from strandline.core.errors import FaultError
from strandline.dialects.sdmp.author import synthetic_id
from strandline.tables.sources import select
from support.delta_rs_lake import empty_lake

NOW = "--available-now"
SDMP = ("--dialect", "sdmp")


@pytest.fixture(autouse=True)
def _no_spark(tmp_path, monkeypatch):
    """Run in a folder of its own, in which asking for Spark is an error of its own."""

    def refuse(call: Invocation, **_: object) -> None:
        raise FaultError("SPARK_ASKED", "Spark was asked for", "nothing")

    monkeypatch.setattr(Invocation, "session", refuse)
    monkeypatch.chdir(tmp_path)
    Path("landing").mkdir()
    Path("file").touch()
    Path("holiday").mkdir()
    Path("holiday/photo.jpg").touch()
    Path("empty").mkdir()
    empty_lake(Path("there"))


def code_of(words, capsys) -> tuple[int, str]:
    exit_code = main([*words, "--json", "--quiet"])
    return exit_code, json.loads(capsys.readouterr().out)["error"]["code"]


@pytest.mark.large
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("ingest", "absent", *SDMP), "SOURCE_MISSING"),
        (("ingest", "landing/*.journal", *SDMP), "SOURCE_MISSING"),
        (("ingest", "kafka://localhost:9092/t", *SDMP), "SOURCE_NOT_LOCAL"),
        (("ingest", "viewfs://host/key", *SDMP), "SOURCE_NOT_LOCAL"),
        (("ingest", "s3://name:secret@bucket/key", *SDMP), "SOURCE_URI"),
        (("ingest", "file", "--dialect", "ipfslog"), "FORMAT_MISSING"),
        (("ingest", "file", *SDMP, "--require-manifest"), "MANIFEST_REQUIRED"),
        (("ingest", "landing", *SDMP, "--lake", "file"), "LAKE_NO_FOLDER"),
        (("ingest", "landing", *SDMP, "--lake", "file/below/lake"), "LAKE_NO_FOLDER"),
        (("ingest", "landing", *SDMP, "--lake", "holiday"), "LAKE_FOREIGN"),
        (("stream", "absent", *SDMP, NOW), "SOURCE_MISSING"),
        (("stream", "file", *SDMP, NOW), "SOURCE_NOT_A_FOLDER"),
        (("stream", "ftp://host/in", *SDMP, NOW), "SOURCE_NOT_LOCAL"),
        (("stream", "s3://name:secret@bucket/key", *SDMP, NOW), "SOURCE_URI"),
        (("stream", "kafka://x/y", *SDMP, NOW), "TOPIC_INVALID"),
        (("stream", "landing", "--dialect", "aura", "--format", "cbro", NOW), "FORMAT_UNKNOWN"),
        (("stream", "landing", *SDMP, "--format", "lines", NOW), "FORMAT_UNKNOWN"),
        (("stream", "landing", *SDMP, NOW, "--schema", "a.b"), "CHECKPOINT_MISSING"),
        (("stream", "landing", *SDMP, NOW, "--lake", "file/lake"), "LAKE_NO_FOLDER"),
        (("reduce", "--lake", "file/lake"), "LAKE_NO_FOLDER"),
        (("init", "--lake", "holiday"), "LAKE_FOREIGN"),
        (("sync", "--from", "absent"), "LAKE_NOT_FOUND"),
        (("sync", "--from", "empty"), "LAKE_NOT_FOUND"),
        (("sync", "--from", "holiday", "--dry-run"), "LAKE_FOREIGN"),
        (("sync", "--from", "there", "--to", "file/lake"), "LAKE_NO_FOLDER"),
        (("sql", "SELECT 1", "--lake", "absent"), "LAKE_NOT_FOUND"),
        (("export", "a-log", "--out", "a.car", "--lake", "absent"), "LAKE_NOT_FOUND"),
        (("export", "a-log", "--out", "a.car", "--lake", "there", "--format", "cra"), "FORMAT_UNKNOWN"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)  # fmt: skip
def test_what_a_path_or_a_name_shows_is_wrong_usage_before_spark_starts(words, code, capsys):
    assert code_of(words, capsys) == (2, code)


@pytest.mark.parametrize(
    "words",
    [("init", "--lake"), ("status", "--lake"), ("sql", "SELECT 1", "--lake", "there", "--out")],
    ids=" ".join,
)
def test_a_name_that_the_system_does_not_take_is_wrong_usage(words, capsys):
    assert code_of((*words, "x" * 300), capsys) == (2, "PATH_TOO_LONG")


@pytest.mark.parametrize("words", [("ingest", "landing", *SDMP), ("init",), ("reduce",)], ids=" ".join)
def test_a_lake_that_is_a_link_to_nothing_or_to_itself_is_no_folder(words, capsys):
    Path("link").symlink_to("absent")
    Path("circle").symlink_to("circle")
    for lake in ("link", "circle"):
        assert code_of((*words, "--lake", lake), capsys) == (2, "LAKE_NO_FOLDER")


def test_an_export_into_a_folder_that_is_not_there_is_refused_before_spark_starts(capsys):
    words = ("export", "a-log", "--lake", "there", "--out")
    assert code_of((*words, "absent/a.car"), capsys) == (3, "OUT_NOT_WRITABLE")
    assert code_of((*words, "a.car"), capsys) == (3, "SPARK_ASKED")
    assert not [name for name in os.listdir() if "a.car" in name]


ROWS = ("sql", "SELECT 1", "--lake", "there", "--format")
SYNC = ("sync", "--nodes", "nodes.json", "--lake", "there")


@pytest.mark.parametrize(
    "words",
    [
        (*ROWS, "csv", "--out"),
        (*ROWS, "parquet", "--out"),
        (*SYNC, "--requests"),
        (*SYNC, "--answer", "file", "--out"),
    ],
    ids=("csv", "parquet", "requests", "answers"),
)
@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("empty", (2, "OUT_IS_FOLDER")),
        ("absent/rows", (3, "OUT_NOT_WRITABLE")),
        ("pipe", (3, "OUT_NOT_WRITABLE")),
        ("file", (3, "SPARK_ASKED")),
    ],
)
def test_a_file_for_rows_that_cannot_be_written_is_named_before_spark_starts(out, told, words, capsys):
    os.mkfifo("pipe")
    user, node = synthetic_id("user", 1), synthetic_id("node", 1)
    Path("nodes.json").write_text(json.dumps({"nodes": [{"node": node, "user": user}]}))
    if "--answer" in words and out == "file":
        told = (2, "OUT_EXISTS")  # answers are a new file
    assert code_of((*words, out), capsys) == told
    assert sorted(os.listdir()) == ["empty", "file", "holiday", "landing", "nodes.json", "pipe", "there"]
    assert Path("pipe").is_fifo()


ANSWER = ("sync", "--nodes", "nodes.json", "--answer", "file", "--out", "answers")


@pytest.mark.parametrize("lake", ["absent", "empty"])
def test_requests_are_answered_from_a_lake_that_exists_and_none_is_made(lake, capsys):
    user, node = synthetic_id("user", 1), synthetic_id("node", 1)
    Path("nodes.json").write_text(json.dumps({"nodes": [{"node": node, "user": user}]}))
    assert code_of((*ANSWER, "--lake", lake), capsys) == (2, "LAKE_NOT_FOUND")
    assert code_of((*ANSWER, "--lake", "there"), capsys) == (3, "SPARK_ASKED")
    assert not Path("absent").exists()
    assert list(Path("empty").iterdir()) == []


def test_an_option_of_a_dialect_that_exchanges_no_files_needs_another_lake(capsys):
    user, node = synthetic_id("user", 1), synthetic_id("node", 1)
    Path("nodes.json").write_text(json.dumps({"nodes": [{"node": node, "user": user}]}))
    Path("pins.json").write_text("{}")
    words = ("sync", "--nodes", "nodes.json", "--aura-pins", "pins.json", "--lake", "there")
    assert code_of(words, capsys) == (2, "OPTION_ALONE")


@pytest.mark.parametrize(
    "words",
    [
        ("ingest", "landing", *SDMP),
        ("ingest", "landing", *SDMP, "--lake", "a/new/lake"),
        ("ingest", "landing", *SDMP, "--lake", "empty"),
        ("stream", "landing", *SDMP, NOW),
        ("sync", "--from", "there", "--to", "new"),
        ("sql", "SELECT 1", "--lake", "there"),
    ],
    ids=" ".join,
)
def test_what_may_be_meant_goes_on_to_spark(words, capsys):
    assert code_of(words, capsys) == (3, "SPARK_ASKED")


def test_brokers_of_which_none_answers_are_named_before_spark_starts(capsys):
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.create_server(("127.0.0.1", 0)) as free:
        port, closed = listening.getsockname()[1], free.getsockname()[1]
        free.close()
        words = ("stream", f"kafka://127.0.0.1:{closed},[::1]:99999/t", *SDMP, NOW)
        assert code_of(words, capsys) == (3, "SOURCE_UNREACHABLE")
        words = ("stream", f"kafka://127.0.0.1:{closed},127.0.0.1:{port}/t", *SDMP, NOW)
        assert code_of(words, capsys) == (3, "SPARK_ASKED")


def test_a_lake_that_cannot_be_made_since_its_parent_may_not_be_written_is_named(capsys, monkeypatch):
    # Root may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("empty"))
    assert code_of(("init", "--lake", "empty/a/lake"), capsys) == (3, "NOT_WRITABLE")
    assert code_of(("init", "--lake", "landing/lake"), capsys) == (3, "SPARK_ASKED")


def test_a_folder_that_may_not_be_listed_is_named(monkeypatch):
    def refuse(folder):
        raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(FaultError) as refused:
        select(["landing"], most=5)
    assert refused.value.code == "SOURCE_UNREADABLE"
    assert refused.value.message.endswith("landing cannot be read")
