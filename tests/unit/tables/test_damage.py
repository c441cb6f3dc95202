"""A damaged table ends every command with one fault that names it, before Spark starts: nothing goes on silently."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from strandline.cli import main
from strandline.core.errors import FaultError
from strandline.tables.damage import check_versions, log_damage
from strandline.tables.location import Location
from strandline.tables.run_versions import RUN_VERSION, newest_runs
from support.damage import DATA, LOGS, data_file, newest
from support.delta_rs_lake import empty_lake, rename_column, set_properties, state, write
from support.forged_lakes import commit, declare

TABLE = "namespace_state"
COMMANDS = {
    "status": (),
    "quarantine": (),
    "sql": ("SELECT 1",),
    "init": (),
    "ingest": ("{in}", "--dialect", "sdmp"),
    "stream": ("{in}", "--dialect", "sdmp", "--available-now"),
    "reduce": (),
    "maintain": (),
    "export": ("node:1", "--out", "{out}"),
    "sync": ("--from", "{other}"),
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    """A lake whose table of states has four commits, and whose newest run names the last of them."""
    lake = empty_lake(tmp_path_factory.mktemp("whole") / "lake")
    for number in range(4):
        write(lake, TABLE, [state(f"node:{number}")])
    write(lake, "run", [run("first", {TABLE: 2}), run("last", {TABLE: 4}), run("other", {"quarantine": 0})])
    return lake


@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    """To start Spark would be too late."""

    def started(*_, **__):
        raise AssertionError("Spark was started")

    monkeypatch.setattr("strandline.session.open_session", started)


def run(run_id: str, versions: dict[str, int], **more: object) -> dict[str, object]:
    """A row of `run` that read the tables at these versions."""
    return {
        "run_id": run_id, "command": "reduce", "version": "1", "outcome": "ok", "lake": "lake",
        "read_versions": list(versions.items()), "tables": [],
    } | more  # fmt: skip


def told(capsys, *words: str) -> tuple[int, dict[str, str], str]:
    capsys.readouterr()
    code = main([*words, "--json", "--quiet"])
    printed = capsys.readouterr()
    return code, json.loads(printed.out).get("error") or {}, printed.err


def copied(lake: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lake, tmp_path / "lake"))


def words(command: str, tmp_path: Path, lake: Path, other: Path) -> list[str]:
    (tmp_path / "in").mkdir(exist_ok=True)
    (tmp_path / "in" / "a.journal").write_bytes(b"x\n")
    places = {"{in}": tmp_path / "in", "{out}": tmp_path / "out.journal", "{other}": other}
    return [command, *(str(places.get(each, each)) for each in COMMANDS[command]), "--lake", str(lake)]


@pytest.mark.large
@pytest.mark.parametrize("name", LOGS)
def test_a_damaged_log_is_named_with_its_file(lake, tmp_path, capsys, name):
    damage, said = LOGS[name]
    there = copied(lake, tmp_path)
    damage(there / TABLE)
    for command in ("status", "reduce"):
        code, error, err = told(capsys, *words(command, tmp_path, there, lake))
        assert (code, error["code"], err) == (3, "TABLE_DAMAGED", "")
        assert f"the table {TABLE} of {there} is damaged: " in error["message"]
        assert said in error["message"]
        assert str(there / TABLE) in error["message"]
        assert error["next"]


@pytest.mark.large
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "name", ["the last commit is empty", "half of the last commit", "the table is a file"]
)
def test_every_command_refuses_a_damaged_table(lake, tmp_path, capsys, command, name):
    there = copied(lake, tmp_path)
    LOGS[name][0](there / TABLE)
    code, error, err = told(capsys, *words(command, tmp_path, there, lake))
    assert (code, error["code"], err) == (3, "TABLE_DAMAGED", "")


def test_a_damaged_lake_is_no_source_either(lake, tmp_path, capsys):
    there = copied(lake, tmp_path)
    LOGS["the last commit is empty"][0](there / TABLE)
    code, error, _ = told(capsys, *words("sync", tmp_path, lake, there))
    assert (code, error["code"]) == (3, "TABLE_DAMAGED")
    assert str(there) in error["message"]


@pytest.mark.large
@pytest.mark.parametrize("is_checkpointed", [False, True])
@pytest.mark.parametrize("name", DATA)
def test_a_damaged_data_file_is_named(lake, tmp_path, capsys, name, is_checkpointed):
    there = copied(lake, tmp_path)
    if is_checkpointed:
        DeltaTable(str(there / TABLE)).create_checkpoint()
    file = data_file(there / TABLE)
    DATA[name](file)
    code, error, err = told(capsys, *words("status", tmp_path, there, lake))
    assert (code, error["code"], err) == (3, "TABLE_DAMAGED", "")
    assert TABLE in error["message"]
    assert file.name in error["message"] or name == "has bits flipped"
    assert "checkpoint" not in error["message"]


@pytest.mark.large
def test_a_hint_that_names_an_older_checkpoint_is_not_the_damage(lake, tmp_path, capsys):
    there = copied(lake, tmp_path)
    log = there / TABLE / "_delta_log"
    DeltaTable(str(there / TABLE)).create_checkpoint()
    hint = (log / "_last_checkpoint").read_bytes()
    write(there, TABLE, [state("node:9")])
    DeltaTable(str(there / TABLE)).create_checkpoint()
    (log / "_last_checkpoint").write_bytes(hint)
    assert told(capsys, *words("status", tmp_path, there, lake))[0] == 0
    file = data_file(there / TABLE)
    file.unlink()
    _, error, _ = told(capsys, *words("status", tmp_path, there, lake))
    assert file.name in error["message"]


@pytest.mark.parametrize("named", range(7))
def test_only_a_hint_that_names_no_checkpoint_of_the_log_is_a_damage(lake, tmp_path, named):
    """Delta may write a checkpoint and be killed before the hint: that of an older one still helps."""
    there = copied(lake, tmp_path)
    log, location = there / TABLE / "_delta_log", Location.lake(str(there))
    DeltaTable(str(there / TABLE), version=2).create_checkpoint()
    DeltaTable(str(there / TABLE)).create_checkpoint()
    newest = DeltaTable(str(there / TABLE)).version()
    (log / "_last_checkpoint").write_text(json.dumps({"version": named, "size": 1}))
    damage = log_damage(location, TABLE)
    if named in (2, newest):
        assert damage is None
    else:
        assert f"_last_checkpoint names checkpoint {named}, which does not exist" in damage.message
        assert f"all commits before {named} are there" in damage.next


@pytest.mark.parametrize("reader", [{"minReaderVersion": 99}, {"readerFeatures": ["someFeature"]}])
def test_a_feature_of_a_newer_delta_is_no_damage(lake, tmp_path, capsys, reader):
    there = copied(lake, tmp_path)
    features = {"minReaderVersion": 3, "minWriterVersion": 7, "writerFeatures": ["someFeature"]} | reader
    commit(there / TABLE, [{"protocol": features}])
    for command in ("status", "reduce", "init"):
        code, error, err = told(capsys, *words(command, tmp_path, there, lake))
        assert (code, error["code"], err) == (3, "TABLE_UNSUPPORTED", "")
        assert f"the table {TABLE} of {there} has a feature" in error["message"]
        assert "DROP FEATURE" in error["next"]


def test_a_hint_of_noise_is_no_damage(lake, tmp_path, capsys):
    there = copied(lake, tmp_path)
    (there / TABLE / "_delta_log" / "_last_checkpoint").write_bytes(b"\xff noise")
    assert told(capsys, *words("status", tmp_path, there, lake))[0] == 0


@pytest.mark.parametrize("hint", [b"[" * 99_999, b'{"version":1e999}'], ids=["brackets", "infinite"])
def test_a_hint_of_strange_json_is_no_damage(lake, tmp_path, capsys, hint):
    there = copied(lake, tmp_path)
    for path in ("_last_checkpoint", f"{4:020}.crc"):
        (there / TABLE / "_delta_log" / path).write_bytes(hint)
    assert told(capsys, *words("status", tmp_path, there, lake))[0] == 0


@pytest.mark.large
def test_a_table_that_init_made_anew_begins_anew(lake, tmp_path, capsys):
    there = copied(lake, tmp_path)
    shutil.rmtree(there / TABLE)
    write(there, TABLE, [])
    assert told(capsys, *words("status", tmp_path, there, lake))[0] == 3
    runs = DeltaTable(str(there / "run"))
    made = run(
        "init", {}, command="init", detail=json.dumps({"created": [TABLE], RUN_VERSION: runs.version()})
    )
    write(there, "run", [made])
    assert told(capsys, *words("status", tmp_path, there, lake))[0] == 0
    # Somebody restores the table of runs after a compaction: the newest commit has rows of before.
    DeltaTable(str(there / "run")).optimize.compact()
    DeltaTable(str(there / "run")).restore(runs.version())
    assert told(capsys, *words("status", tmp_path, there, lake))[0] == 0
    write(there, "run", [run("newer", {TABLE: 5}, detail=json.dumps({RUN_VERSION: runs.version()}))])
    assert told(capsys, *words("status", tmp_path, there, lake))[1]["code"] == "TABLE_DAMAGED"


def test_a_run_that_was_killed_at_its_first_table_left_no_damage(lake, tmp_path, capsys):
    there = tmp_path / "lake"
    (there / TABLE / "_delta_log").mkdir(parents=True)
    (there / TABLE / "_delta_log" / ".0.json.tmp").write_bytes(b"half")
    code, error, _ = told(capsys, *words("status", tmp_path, there, lake))
    assert (code, error["code"]) == (2, "LAKE_FOREIGN")


WRONG_PROPERTIES = [
    *(("strandline.contract", value) for value in ("x", "", "-1", "1", "²", "1.0.0\n")),
    *(
        ("strandline.buckets", value)
        for value in ("abc", "", "0", "-1", "65537", "9" * 30, "16.0", "²", "32")
    ),
]


@pytest.mark.large
@pytest.mark.parametrize(
    ("command", "name", "value"),
    [
        *(("status", *wrong) for wrong in WRONG_PROPERTIES),
        *(("reduce", *wrong) for wrong in WRONG_PROPERTIES),
        *((command, *wrong) for command in COMMANDS for wrong in (WRONG_PROPERTIES[0], WRONG_PROPERTIES[6])),
    ],
)
def test_every_command_refuses_properties_that_this_product_does_not_write(
    lake, tmp_path, capsys, command, name, value
):
    there = copied(lake, tmp_path)
    set_properties(there, "quarantine", {name: value})
    code, error, err = told(capsys, *words(command, tmp_path, there, lake))
    assert (code, error["code"], err) == (2, "PROPERTY_INVALID", "")
    assert "quarantine" in error["message"]
    # Most often somebody made the table anew by CREATE OR REPLACE TABLE.
    assert "RESTORE TABLE" in error["next"] or value == "32"


@pytest.mark.large
@pytest.mark.parametrize(
    ("command", "column", "other"),
    [
        *((command, "state_hash", None) for command in COMMANDS),
        *((command, "reduced_version", "version") for command in ("status", "reduce")),
        ("status", "dialect", "Dialect"),
    ],
)
def test_every_command_names_a_column_that_somebody_renamed_or_dropped(
    lake, tmp_path, capsys, command, column, other
):
    there = copied(lake, tmp_path)
    rename_column(there, TABLE, column, other)
    code, error, err = told(capsys, *words(command, tmp_path, there, lake))
    assert (code, error["code"], err) == (2, "TABLE_DIFFERS", "")
    assert f"the table {TABLE} of {there} has no column {column}" in error["message"]
    assert "RENAME COLUMN" in error["next"]
    assert "RESTORE TABLE" in error["next"]


@pytest.mark.large
@pytest.mark.parametrize(
    ("command", "table", "column", "declared", "found"),
    [
        *((command, TABLE, "record_count", "decimal(20,0)", "decimal(20,0)") for command in COMMANDS),
        ("status", "namespace_state", "bucket", "long", "bigint"),
        ("status", "namespace_state", "reduced_at", "date", "date"),
        (
            "status", "run", "counts",
            {"type": "map", "keyType": "string", "valueType": "double", "valueContainsNull": True},
            "map<string,double>",
        ),
        (
            "reduce", "namespace_state", "order_blocks",
            {"type": "array", "containsNull": True, "elementType": {"type": "struct", "fields": [
                {"name": "x", "type": "integer", "nullable": True, "metadata": {}},
            ]}},
            "array<struct<x:int>>",
        ),
    ],
)  # fmt: skip
def test_every_command_names_a_column_whose_type_somebody_changed(
    lake, tmp_path, capsys, command, table, column, declared, found
):
    there = copied(lake, tmp_path)
    declare(there, table, {column: {"type": declared}})
    code, error, err = told(capsys, *words(command, tmp_path, there, lake))
    assert (code, error["code"], err) == (2, "TABLE_DIFFERS", "")
    assert f"the column {column} of the table {table} of {there} has the type {found}, " in error["message"]
    assert "RESTORE TABLE" in error["next"]


@pytest.mark.large
def test_a_column_that_an_older_contract_may_lack_is_no_damage(lake, tmp_path, capsys):
    there = copied(lake, tmp_path)
    rename_column(there, "quarantine", "evidence", None)
    assert told(capsys, *words("status", tmp_path, there, lake))[1]["code"] == "TABLE_DIFFERS"
    set_properties(there, "quarantine", {"strandline.contract": "0.1.0"})
    assert told(capsys, *words("status", tmp_path, there, lake))[0] == 0
    rename_column(there, "quarantine", "raw", None)
    assert told(capsys, *words("status", tmp_path, there, lake))[1]["code"] == "TABLE_DIFFERS"


def test_a_table_of_runs_whose_files_have_other_names_of_columns_names_no_version(tmp_path):
    write(tmp_path, "run", [run("last", {TABLE: 4})])
    assert [each.versions for each in newest_runs(tmp_path / "run", 1)] == [{TABLE: 4}]
    [file] = (tmp_path / "run").glob("*.parquet")
    rows = pq.read_table(file)
    pq.write_table(rows.rename_columns([f"col-{name}" for name in rows.column_names]), file)
    assert list(newest_runs(tmp_path / "run", 1)) == []


def test_a_run_that_ends_after_the_tables_were_opened_names_no_lost_version(tmp_path):
    write(tmp_path, "run", [run("before", {TABLE: 3})])
    opened = DeltaTable(tmp_path / "run").version()
    write(tmp_path, "run", [run("meanwhile", {TABLE: 4})])
    there = Location.lake(str(tmp_path))
    check_versions(there, {TABLE: 3, "run": opened})
    with pytest.raises(FaultError):
        check_versions(there, {TABLE: 3, "run": opened + 1})


def test_the_version_that_runs_name_is_that_of_the_newest_commits(lake, tmp_path, capsys):
    there = copied(lake, tmp_path)
    newest(there / TABLE).unlink()
    _, error, _ = told(capsys, *words("status", tmp_path, there, lake))
    assert "it is at version 3, but the run last names version 4" in error["message"]
