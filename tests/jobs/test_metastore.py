"""A lake in a schema of a Hive metastore: all commands in one process, and queries of another without Strandline."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from strandline.contracts.load import tables
from strandline.contracts.views import view_names
from support import metastore
from support.reference import outcome_of

OURS = "spark_catalog.ours"
STATES = "SELECT namespace, state_hash FROM namespace_health WHERE state_hash IS NOT NULL"
REFUSED = {
    "foreign table": ("LAKE_FOREIGN", 2, "run", ["init", "--schema", "spark_catalog.theirs"]),
    "foreign view": ("LAKE_FOREIGN", 2, "namespace_health", ["init", "--schema", "spark_catalog.viewed"]),
    "no schema": ("LAKE_NOT_FOUND", 2, "spark_catalog.nothing", ["status", "--schema", "spark_catalog.nothing"]),
    "no lake": ("LAKE_NOT_FOUND", 2, "spark_catalog.default", ["check", "--schema", "spark_catalog.default"]),
    "no catalog": ("CATALOG_UNKNOWN", 2, "nosuch", ["status", "--schema", "nosuch.ours"]),
    "no right": ("CATALOG_REFUSED", 3, "the schema", ["init", "--schema", "spark_catalog.refused"]),
}  # fmt: skip
"""Commands that are refused in a metastore, with the code, the exit code, and what the message names."""

SILENT = {
    "silent reader": ["status", "--schema", OURS],
    "silent writer": ["init", "--schema", OURS],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("metastore")


@pytest.fixture(scope="module")
def conf(folder, settings, jars) -> dict[str, str]:
    return metastore.conf_of(folder, settings, jars)


@pytest.fixture(scope="module")
def told(folder, conf, undisturbed, empty_lakes, states) -> dict[str, Any]:
    """What the commands of one process told, by name."""
    shutil.copytree(empty_lakes[False], folder / "copy")
    (folder / "warehouse").mkdir()
    # The folder of a schema cannot be made where a file is.
    (folder / "warehouse" / "refused.db").write_text("x")
    source, schema = undisturbed.root, ("--schema", OURS)
    namespace = min(states)
    steps = {
        "init": ["init", "--buckets", "2", *schema],
        "ingest": ["ingest", str(source / "first"), str(source / "second"), "--dialect", "sdmp", *schema],
        "reduce": ["reduce", *schema],
        "status": ["status", "--all", *schema],
        "sql": ["sql", STATES, *schema],
        "quarantine": ["quarantine", "list", *schema],
        "check": ["check", *schema],
        "maintain": ["maintain", *schema],
        "export": ["export", namespace, "--out", str(folder / "exported.jsonl"), *schema],
        "away": ["sync", "--from", OURS, "--to", str(folder / "copy")],
        **{name: words for name, (*_, words) in REFUSED.items()},
    }
    before = [
        "CREATE SCHEMA theirs",
        "CREATE TABLE theirs.run (x INT) STORED AS PARQUET",
        "CREATE SCHEMA viewed",
        "CREATE VIEW viewed.namespace_health AS SELECT 1 AS x",
    ]
    plan = {"conf": conf, "silent": SILENT, "before": before, "steps": steps}
    (folder / "asked.json").write_text(json.dumps(plan))
    words = ("-m", "support.metastore", str(folder / "asked.json"), str(folder / "told.json"))
    metastore.run(folder, *words, knows_strandline=True)
    return json.loads((folder / "told.json").read_text())


@pytest.fixture(scope="module")
def states(undisturbed) -> dict[str, str]:
    """The state hashes of the reference, by namespace."""
    files = {
        f"{run}/{path.name}": path.read_bytes()
        for run in ("first", "second")
        for path in (undisturbed.root / run).iterdir()
    }
    return outcome_of(files)[1]


def test_a_lake_in_a_metastore_has_the_states_of_the_reference(told, states):
    assert sorted(told["init"]["created"]) == sorted(tables())
    assert sorted(told["init"]["views"]) == sorted(view_names())
    steps = ("init", "ingest", "reduce", "quarantine", "maintain", "export")
    assert [told[name]["exit"] for name in steps] == [0] * len(steps), told
    assert told["ingest"]["counts"]["new"] > 0
    assert dict(told["sql"]["rows"]) == states
    assert {
        row["namespace"]: row["state_hash"] for row in told["status"]["rows"] if row["state_hash"]
    } == states
    assert told["check"]["counts"]["broken"] == 0


def test_its_records_are_copied_to_a_lake_at_a_path(told, states, folder):
    assert told["away"]["exit"] == 0
    copied = DeltaTable(folder / "copy" / "namespace_state")
    rows = copied.to_pyarrow_table(columns=["namespace", "state_hash"]).to_pylist()
    assert {row["namespace"]: row["state_hash"].hex() for row in rows} == states


def test_no_command_asks_for_the_path_of_a_managed_table(told):
    assert told["watched"] == []
    # It would have been seen: each way to do so is noted.
    assert set(told["noted"]) == set(metastore.NOTED)


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_metastore_refuses_is_told_in_one_sentence(told, name):
    code, exit_code, named, _ = REFUSED[name]
    assert (told[name]["error"]["code"], told[name]["exit"]) == (code, exit_code)
    assert named in told[name]["error"]["message"]
    assert told[name]["error"]["next"]


@pytest.mark.parametrize("name", SILENT)
def test_a_metastore_that_does_not_answer_is_told_without_its_address(told, name):
    error = told[name]["error"]
    assert (error["code"], told[name]["exit"]) == ("CATALOG_UNREADABLE", 3)
    assert "spark_catalog.ours" in error["message"]
    assert "thrift" not in error["message"] + error["next"]


def test_another_process_queries_the_views_without_strandline(told, states, folder, conf):
    schema = OURS.partition(".")[2]
    asked = {
        "states": (schema, STATES),
        "from elsewhere": ("default", f"SELECT namespace, state_hash FROM {OURS}.namespace_health"),
        "runs": (schema, "SELECT command FROM run ORDER BY started_at"),
        "views": (schema, "SHOW VIEWS"),
    }
    told_to = folder / "read.json"
    others = {name: value for name, value in conf.items() if name != "spark.python.daemon.module"}
    words = (metastore.READER, json.dumps(others), json.dumps(asked), json.dumps(str(told_to)))
    metastore.run(folder, "-c", *words, knows_strandline=False)
    read = json.loads(told_to.read_text())
    assert read["modules"] == []
    assert dict(read["states"]) == states
    assert dict(read["from elsewhere"]).items() >= states.items()
    assert [name for [name] in read["runs"]] == ["init", "ingest", "reduce", "maintain"]
    assert {row[1] for row in read["views"]} == set(view_names())
