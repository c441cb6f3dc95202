"""--metrics: the report as Prometheus text, whole or not at all; a file that cannot be written changes no outcome."""

import json
import os
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from strandline.cli import main
from strandline.cli.metrics import registry_of, write_metrics
from strandline.pipelines.report import Report, TableChange
from support.delta_rs_lake import empty_lake, state, write

REPORT = Report(
    command="ingest", run_id="r", outcome="found", exit=1, seconds=12.5, session_seconds=3.25, lake="/l",
    counts={"read": 9, "new": 7, "rejected": 2}, reasons={"JSON_INVALID": 2}, namespaces=3,
    tables={"node_journal_line": TableChange(4, 7)},
)  # fmt: skip


def samples(path: Path) -> dict[tuple[str, str | None], float]:
    """Every value of a file by its name and its own label, without the labels that all have."""
    found = {}
    for family in text_string_to_metric_families(path.read_text(encoding="utf-8")):
        for sample in family.samples:
            own = [value for name, value in sample.labels.items() if name not in ("command", "lake")]
            found[sample.name, own[0] if own else None] = sample.value
    return found


@pytest.fixture
def lake(tmp_path):
    lake = empty_lake(tmp_path / "lake")
    write(lake, "namespace_state", [state("node:1"), state("node:2")])
    return lake


def test_every_number_of_a_report_is_a_metric(tmp_path):
    path = tmp_path / "run.prom"
    assert write_metrics(path, REPORT) is None
    found = samples(path)
    ended = found.pop(("strandline_run_ended_timestamp_seconds", None))
    assert ended > 1_700_000_000
    assert found == {
        ("strandline_run_exit_code", None): 1,
        ("strandline_run_duration_seconds", None): 12.5,
        ("strandline_run_session_seconds", None): 3.25,
        ("strandline_run_namespaces", None): 3,
        ("strandline_run_count", "read"): 9,
        ("strandline_run_count", "new"): 7,
        ("strandline_run_count", "rejected"): 2,
        ("strandline_run_reason_records", "JSON_INVALID"): 2,
        ("strandline_table_version", "node_journal_line"): 4,
        ("strandline_table_inserted_rows", "node_journal_line"): 7,
    }


def test_a_lake_with_markup_in_its_name_stays_one_label():
    from prometheus_client import generate_latest

    name = '/l"} evil{x="\\\n'
    text = generate_latest(registry_of(Report("ingest", "r", lake=name), 1.0)).decode()
    labels = {
        sample.labels["lake"] for family in text_string_to_metric_families(text) for sample in family.samples
    }
    assert labels == {name}


def test_a_lake_whose_name_is_not_utf8_has_no_metrics_and_the_old_ones_stay(tmp_path):
    path = tmp_path / "m.prom"
    path.write_text("old")
    assert "surrogates not allowed" in (
        write_metrics(path, Report("ingest", "r", lake="s3://b/\udcff")) or ""
    )
    assert path.read_text() == "old"
    assert write_metrics(tmp_path / "a\0b", REPORT) == "embedded null byte"
    assert os.listdir(tmp_path) == ["m.prom"]


def test_a_command_writes_its_counts_and_leaves_nothing_else(lake, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    assert main(["status", "--lake", str(lake), "--metrics", str(out / "status.prom")]) == 0
    assert samples(out / "status.prom")["strandline_run_exit_code", None] == 0
    assert (
        sum(
            samples(out / "status.prom").get(("strandline_run_count", health), 0)
            for health in ("ok", "behind")
        )
        == 2
    )
    assert os.listdir(out) == ["status.prom"]


def test_a_command_that_fails_is_a_metric_too(tmp_path):
    path = tmp_path / "m.prom"
    assert main(["status", "--lake", str(tmp_path / "absent"), "--metrics", str(path)]) == 2
    assert samples(path)["strandline_run_exit_code", None] == 2


@pytest.mark.parametrize(
    "given",
    [("--metrics", "m.prom"), ("--metrics=m.prom",), ("--metrics", "first.prom", "--metrics", "m.prom")],
    ids=" ".join,
)
def test_a_call_that_the_parser_refuses_is_a_metric_too(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    assert main(["status", "--chek", *given]) == 2
    assert samples(tmp_path / "m.prom")["strandline_run_exit_code", None] == 2
    assert 'command="status"' in (tmp_path / "m.prom").read_text()
    assert os.listdir() == ["m.prom"]


@pytest.mark.parametrize(
    "given", [("--metrics",), ("--metrics=",), ("--metrics", ""), ("--", "--metrics", "m")]
)
def test_a_call_that_the_parser_refuses_without_a_file_for_metrics_writes_none(
    tmp_path, monkeypatch, capsys, given
):
    monkeypatch.chdir(tmp_path)
    assert main(["status", "--chek", *given]) == 2
    assert "warning" not in capsys.readouterr().err
    assert os.listdir() == []


def test_a_link_is_replaced_and_its_target_stays(lake, tmp_path):
    (tmp_path / "target").write_text("mine")
    (tmp_path / "m.prom").symlink_to(tmp_path / "target")
    assert main(["status", "--lake", str(lake), "--metrics", str(tmp_path / "m.prom")]) == 0
    assert (tmp_path / "target").read_text() == "mine"
    assert samples(tmp_path / "m.prom")


@pytest.mark.large
@pytest.mark.parametrize("place", ["absent/m.prom", "file/m.prom", "folder", "pipe", "\x1b[2J/m"])
def test_a_file_that_cannot_be_written_is_a_warning_and_the_outcome_stays(lake, tmp_path, capsys, place):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    words = ["status", "--lake", str(lake), "--json"]
    assert main([*words, "--metrics", str(tmp_path / place)]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["exit"] == 0
    assert "warning: the metrics file" in told.err
    assert "\x1b" not in told.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "lake", "pipe"]
    assert (tmp_path / "pipe").is_fifo()
