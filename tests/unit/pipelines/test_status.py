"""`status` asks delta-rs with the text of the view `namespace_health`."""

import re
from types import SimpleNamespace

import pytest

from strandline.contracts.views import views
from strandline.dialect_api.health import HealthPart, HealthSql
from strandline.dialects import health_queries
from strandline.pipelines import quarantine
from strandline.pipelines.health_rows import (
    COLUMNS,
    HEALTHS,
    SUMS,
    TABLES,
    every_row,
    of_local_nodes,
    open_selects,
    rows_sql,
    stopped_writers,
    tally_sql,
)  # fmt: skip
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spooled import SpooledRows
from strandline.tables.location import Location
from support.delta_rs_lake import WHEN

ALL_READ_AT_ONCE = 100_000
BEHIND = ["SELECT 'a' AS namespace, CAST(3 AS BIGINT) AS behind"]
VIEW = views(behind=BEHIND)["namespace_health"].select


def test_status_asks_with_the_text_of_the_view_and_takes_the_hash_as_bytes():
    assert VIEW.count("lower(hex(") == 1
    text = VIEW.replace("lower(hex(s.state_hash))", "s.state_hash")
    assert text in rows_sql(None, BEHIND)
    assert text in tally_sql(BEHIND)
    assert "hex" not in rows_sql(None, BEHIND) + tally_sql(BEHIND)


def test_the_worst_health_comes_first():
    assert re.findall(r"WHEN '(\w+)' THEN (\d)", rows_sql(None)) == [
        (health, str(place)) for place, health in enumerate(HEALTHS)
    ]
    healths = re.findall(r"THEN '(\w+)'|ELSE '(\w+)'", VIEW)
    assert [first or last for first, last in healths] == list(HEALTHS)
    assert rows_sql(7).endswith(" LIMIT 7")
    assert rows_sql(None).startswith(f"SELECT {', '.join(COLUMNS)} FROM (")


def test_a_part_that_reads_records_has_a_gate():
    parts = [part for health in health_queries() for part in (*health.behind, *health.stopped)]
    assert parts
    assert all(part.gate for part in parts if "node_journal_line" in part.select)
    assert all("node_journal_line" not in (part.gate or "") for part in parts)
    tables = {table for health in health_queries() for table in health.tables}
    read = {
        name
        for part in parts
        for name in re.findall(r"\b(?:FROM|JOIN) (\w+)", f"{part.select} {part.gate or ''}")
    }
    assert read == tables


def test_a_part_with_a_gate_is_asked_if_the_gate_finds_anything_and_codes_are_told_once_in_order():
    answers = {
        "no": [], "empty": [{"found": False}], "one": [{"found": False}, {"found": True}],
        "first": [{"namespace": "node:b", "code": "Z"}, {"namespace": "node:a", "code": "Y"}],
        "second": [{"namespace": "node:b", "code": code} for code in ("X", "Z")],
    }  # fmt: skip
    lake = SimpleNamespace(query=lambda text, tables: answers[text] if tables == ("t",) else [])
    parts = [
        HealthPart(select, gate) for select, gate in (("first", None), ("second", "one"), ("first", "no"))
    ]
    assert open_selects(lake, [*parts, HealthPart("first", "empty")], ("t",)) == ["first", "second"]
    health = HealthSql(tables=("t",), behind=tuple(parts), stopped=tuple(parts))
    assert list(stopped_writers(lake, [health]).items()) == [("a", ["Y"]), ("b", ["X", "Z"])]
    assert of_local_nodes(lake, [health, HealthSql(tables=("t", "u"))]) == (
        ["first", "second"], (*TABLES, "t", "u"),
    )  # fmt: skip


class _ReadAtOnce:
    """A lake as Spark reads it: all in one slice, whatever its size."""

    def __init__(self, namespaces: int) -> None:
        self.namespaces = namespaces
        self.held = 0

    def slices(self, _):
        return [None]

    def query(self, text, _):
        if text == tally_sql(BEHIND):
            return [{"health": "ok", "namespaces": self.namespaces}]
        rows = [row for batch in self.batches(text, ()) for row in batch]
        self.held = len(rows)
        return rows

    def batches(self, text, _):
        assert text == rows_sql(None, BEHIND)
        for number in range(self.namespaces):
            yield [_row(number)]


def _row(number):
    nothing = dict.fromkeys(COLUMNS) | dict.fromkeys(SUMS, 0)
    return {**nothing, "namespace": f"node:{number:07}", "health": "ok", "state_hash": b"\x01"}


@pytest.mark.large
@pytest.mark.parametrize("namespaces", [ALL_READ_AT_ONCE, ALL_READ_AT_ONCE + 1])
def test_all_rows_of_many_namespaces_go_through_files_also_where_spark_reads_them(namespaces):
    lake = _ReadAtOnce(namespaces)
    tally, rows = every_row(lake, BEHIND, (), is_all=True)
    assert (tally, len(rows)) == ({"ok": namespaces}, namespaces)
    is_held = namespaces == ALL_READ_AT_ONCE
    assert (lake.held, isinstance(rows, SpooledRows)) == (namespaces if is_held else 0, not is_held)
    assert next(iter(rows))["namespace"] == "node:0000000"


def group(codes, status, count, seen, number):
    return {
        "codes": codes, "status": status, "count": count, "last_seen": seen, "quarantine_id": bytes([number] * 32),
        "namespace": None, "source": f"s{number}", "source_offset": number,
    }  # fmt: skip


def test_quarantine_is_told_by_reason_and_status_most_first_with_the_newest_example():
    groups = [
        group("[BAD_NODE, NO_SUCH]", "rejected", 2, 5, 1), group("[BAD_NODE]", "rejected", 3, 6, 2),
        group("[BAD_NODE]", "deferred", 9, 1, 3), group("[NO_SUCH]", "rejected", 3, 4, 4),
    ]  # fmt: skip
    totals = {"rejected": 8, "deferred": None, "namespaces": 7}
    answers = {quarantine.BY_REASON_SQL: groups, quarantine.TOTALS_SQL: [totals]}
    lake = SimpleNamespace(
        query=lambda text, tables: answers[text] if list(tables) == ["quarantine"] else [],
        location=Location.lake("/l"),
    )
    report = quarantine.listing(lake, RunContext("r", "quarantine", "1", WHEN))
    assert (report.lake, report.namespaces) == ("/l", 7)
    assert report.counts == {"rejected": 8, "deferred": 0}
    assert list(report.reasons.items()) == [("BAD_NODE", 14), ("NO_SUCH", 5)]
    entries = report.members["by_reason"]
    assert [
        (each["code"], each["status"], each["count"], each["example"]["source_offset"]) for each in entries
    ] == [("BAD_NODE", "deferred", 9, 3), ("BAD_NODE", "rejected", 5, 2), ("NO_SUCH", "rejected", 5, 1)]
    assert entries[0]["example"] == {
        "quarantine_id": "03" * 32, "namespace": None, "source": "s3", "source_offset": 3,
    }  # fmt: skip
    assert (entries[2]["meaning"], entries[2]["advice"]) == (
        "this version does not know the code", "use a newer Strandline",
    )  # fmt: skip
    for typed in (" AB ", "ab", "Ab"):
        assert quarantine.id_range(typed) == (b"\xab" + bytes(31), b"\xab" + b"\xff" * 31)
    accepted = [quarantine.is_id(typed) for typed in ("", "g", "0" * 64, "0" * 65, "0x", "0a")]
    assert accepted == [False, False, True, False, False, True]
