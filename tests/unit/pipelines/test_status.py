"""`status` asks delta-rs with the text of the view `namespace_health`."""

import re

from strandline.contracts.views import views
from strandline.dialects import health_queries
from strandline.pipelines.health_rows import COLUMNS, HEALTHS, rows_sql, tally_sql

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
