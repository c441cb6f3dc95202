"""Other lakes are input: whatever stands in their tables, what is genuine comes over and the rest is named."""

import json
import shutil

import pytest

from strandline.contracts.load import contract
from strandline.core.errors import UsageError
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import announce, render
from strandline.tables.commits import session_settings
from support.devicelog_cases import example, feed
from support.devicelog_cases import lines as device_lines
from support.forged_lakes import (
    declare,
    forged,
    forgeries,
    put,
    put_file,
    rows_of,
)
from support.lakes import Lake, write_files
from support.own_cases import node_of, own_node, pair_of
from support.own_runs import own_run
from support.random_deliveries import corpus as logs

RECORDS = (
    "node_journal_line",
    "ipfs_log_entry",
    "ipfs_log_identity",
    "ipfs_log_manifest",
    "device_log_entry",
)
NAMED = (*RECORDS, "node_resource")


@pytest.fixture(scope="module")
def landed(spark, settings, empty_lakes, tmp_path_factory):
    """The folder of a lake with records of every table."""
    root = tmp_path_factory.mktemp("landed")
    lake = Lake(spark, settings, shutil.copytree(empty_lakes[False], root / "lake"))
    journals = {"a": synthetic(1, 9), "b": synthetic(2, 4, "0.12")}
    lake.ingest(write_files(root / "lines", {name: render(lines) for name, lines in journals.items()}))
    Lake(lake.spark, lake.settings, lake.path, dialect="ipfslog").ingest(
        write_files(root / "blocks", logs(42, 12, 1)[0])
    )
    Lake(lake.spark, lake.settings, lake.path, dialect="devicelog").ingest(
        write_files(root / "devices", {"a.jsonl": device_lines(*example().values(), *feed())})
    )
    return lake.path


@pytest.fixture
def honest(new_lake, landed):
    """A copy of that lake."""
    lake = new_lake("honest", like=landed)
    assert all(rows_of(lake.path, table) for table in RECORDS)
    return lake


def copied(lake, to):
    """The same lake in another place, for nobody to check."""
    return Lake(lake.spark, lake.settings, shutil.copytree(lake.path, to))


def held(lake):
    return {table: lake.rows(table) for table in NAMED}


def test_every_column_forged_in_turn_costs_the_forged_rows_and_nothing_else(new_lake, honest, tmp_path):
    mine = node_of("X")
    announced = announce(mine, [pair_of((1, 2))]).decode()
    injected = f'"]}}}}\n{announced}\n{{"node":"{mine}","journal":{{"since":"{mine}","entries":["'
    hostile = copied(honest, tmp_path / "hostile")
    found = [
        each
        for table in RECORDS
        for each in forgeries(hostile.path, table, injected)
        if (table, each.column) != ("ipfs_log_manifest", "name")
    ]
    found += forgeries(hostile.path, "device_log_entry", injected, "ssb")
    for table in RECORDS:
        declare(hostile.path, table, {"bucket": {"nullable": True}})
        put(hostile.path, table, [forged(each) for each in found if each.table == table])
    # A column more, and one that an older lake does not have.
    declare(hostile.path, "node_journal_line", {"payload": {"type": "string"}})
    declare(hostile.path, "ipfs_log_manifest", {"name": None})
    # A genuine line at a place that it does not have, and twice.
    [third] = [
        row for row in rows_of(honest.path, "node_journal_line") if (row["profile"], row["n"]) == ("0.9", 3)
    ]
    put(hostile.path, "node_journal_line", [{**third, "n": 2**62}, third, third])

    ours, calm = new_lake("ours"), new_lake("calm")
    options = {"sdmp": own_run([own_node(mine)])}
    wanted = calm.bring(honest, options=options)
    assert (wanted.exit, wanted.counts["refused"]) == (0, 0)
    report = ours.bring(hostile, options=options)
    assert held(ours) == held(calm)
    assert ours.rows("node_resource") == []

    refused = [each for each in found if each.is_refused]
    counts = report.counts
    assert counts["missing"] == counts["read"] + counts["refused"] == wanted.counts["read"] + len(found) + 3
    assert (report.exit, counts["refused"], counts["rejected"]) == (1, len(refused), 0)
    assert report.reasons == {"ROW_BREAKS_CONTRACT": counts["refused"]}
    named = [
        (json.loads(raw), json.loads(evidence)["ROW_BREAKS_CONTRACT"])
        for raw, evidence in ours.rows("quarantine", "raw", "evidence")
    ]
    # Two forgeries that are cut to one text are one row.
    assert len(refused) - 8 <= len(named) <= len(refused)
    for row, evidence in named:
        assert evidence["lake"] == str(hostile.path)
        assert evidence["table"] == row["table"]
        assert evidence["rules"]
    told = {(row["table"], rule) for row, evidence in named for rule in evidence["rules"]}
    required = {
        (each.table, column.name)
        for each in refused
        for column in contract(each.table).columns
        if column.required
    }
    assert {(table, f"{column}_is_given") for table, column in required} <= told
    assert ours.rows("quarantine", "namespace", "source") == [(None, str(hostile.path))] * len(named)

    # What they are is no record: judged again they would be something else.
    again = ours.ingest(from_quarantine=True)
    assert (again.counts["read"], len(ours.rows("quarantine"))) == (0, len(named))
    # Rows whose namespace or id is forged are offered again and refused again; what came is there. They are the same
    # findings in a session with another time zone, whose texts of times differ.
    with session_settings(ours.spark, {"spark.sql.session.timeZone": "America/New_York"}):
        counts = ours.bring(hostile, options=options).counts
    assert len(ours.rows("quarantine")) == len(named)
    assert (counts["missing"], counts["new"]) == (counts["read"] + counts["refused"], 0)
    assert 0 < counts["refused"] < len(refused)
    assert held(ours) == held(calm)


def test_a_file_that_cannot_be_read_ends_its_dialect_alone(new_lake, honest, tmp_path):
    import pyarrow as pa

    hostile, ours = copied(honest, tmp_path / "hostile"), new_lake("ours")
    hostile.damage(
        "UPDATE device_log_entry SET body = NULL, erased_at = now() WHERE body = CAST('Message 4 (phone)' AS BINARY)"
    )
    put_file(
        hostile.path, "node_journal_line", pa.table({"namespace": ["x"], "record_id": [b"x"], "n": ["1"]})
    )
    report = ours.bring(hostile)
    assert (report.exit, report.error.code) == (3, "TABLE_DAMAGED")
    assert "node_journal_line" in report.error.message
    assert str(hostile.path) in report.error.message
    assert ours.rows("node_journal_line") == []
    assert ours.rows("ipfs_log_entry") == honest.rows("ipfs_log_entry")
    # No row of pruned_record tells of the erased body: it cannot be verified, and two entries that name its own wait.
    lacked = {(example()[name].record_id,) for name in ("phone 5", "phone 6", "pc 4")}
    ids = {*honest.rows("device_log_entry", "record_id")}
    assert {*ours.rows("device_log_entry", "record_id")} == ids - lacked
    held_back = ours.rows("quarantine", "dialect", "status", "raw")
    assert sorted(status for _, status, _ in held_back) == ["deferred", "deferred", "rejected"]
    assert ("devicelog", "rejected", b"{}") in held_back


@pytest.mark.parametrize(
    ("table", "column", "changed"),
    [
        ("node_journal_line", "n", {"type": "string"}),
        ("node_journal_line", "line_hash", None),
        ("ipfs_log_entry", "next", {"type": "binary"}),
        ("ipfs_log_identity", "valid", {"type": "string"}),
    ],
)
def test_a_table_of_other_columns_is_refused_before_anything_moves(
    new_lake, tmp_path, table, column, changed
):
    there, here = new_lake("there"), new_lake("here")
    there = copied(there, tmp_path / "other")
    declare(there.path, table, {column: changed})
    with pytest.raises(UsageError) as refused:
        here.bring(there)
    assert refused.value.code == "TABLE_DIFFERS"
    assert (table in refused.value.message, column in refused.value.message) == (True, True)
