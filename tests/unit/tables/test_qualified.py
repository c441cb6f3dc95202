"""Queries over Spark Connect: each bare name becomes the place of its table, and nothing else of the text changes."""

import sys

import pytest

from strandline.contracts.load import tables
from strandline.core.errors import FaultError, UsageError
from strandline.tables.location import Location
from strandline.tables.qualified import Place, places, qualified
from strandline.tables.views import names
from support.typed_pages import DASHBOARDS, QUERIES

KNOWN = {"run": Place("delta.`/l/run`", True), "health": Place("(SELECT 1)", True)}
RUN, HEALTH = "delta.`/l/run` AS `run`", "(SELECT 1) AS `health`"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM run", f"SELECT * FROM {RUN}"),
        ("SELECT run.exit FROM run", f"SELECT run.exit FROM {RUN}"),
        ("select * from `run` r", "select * from delta.`/l/run` r"),
        (
            "SELECT 'FROM run', 'é' FROM RUN -- run",
            "SELECT 'FROM run', 'é' FROM delta.`/l/run` AS `RUN` -- run",
        ),
        ("SELECT * FROM run VERSION AS OF 3", "SELECT * FROM delta.`/l/run` VERSION AS OF 3"),
        ("SELECT * FROM run JOIN health AS h", f"SELECT * FROM {RUN} JOIN (SELECT 1) AS h"),
        ("SELECT (SELECT max(n) FROM run) FROM health", f"SELECT (SELECT max(n) FROM {RUN}) FROM {HEALTH}"),
        ("WITH a AS (SELECT * FROM run) SELECT * FROM a", f"WITH a AS (SELECT * FROM {RUN}) SELECT * FROM a"),
        (
            "SELECT 1 FROM run UNION ALL SELECT 2 FROM run",
            f"SELECT 1 FROM {RUN} UNION ALL SELECT 2 FROM {RUN}",
        ),
        ("SELECT * FROM main.s.run, range(3), other", "SELECT * FROM main.s.run, range(3), other"),
        ("SELECT run FROM other", "SELECT run FROM other"),
        ("SHOW TABLES", "SHOW TABLES"),
        ("DESCRIBE run", "DESCRIBE run"),
    ],
)
def test_each_bare_name_becomes_the_place_of_its_table(query, expected):
    assert qualified(query, KNOWN) == expected


@pytest.mark.parametrize(
    ("query", "code"),
    [("SELECT FROM WHERE (", "QUERY_NOT_READ"), ("WITH Run AS (SELECT 1) SELECT * FROM run", "NAME_TWICE")],
)
def test_what_cannot_be_read_or_has_two_meanings_is_refused(query, code):
    with pytest.raises(UsageError) as raised:
        qualified(query, KNOWN)
    assert raised.value.code == code
    assert raised.value.next


def test_without_the_parser_the_line_that_installs_it_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(FaultError, match="sqlglot") as raised:
        qualified("SELECT 1", KNOWN)
    assert raised.value.code == "CONNECT_EXTRA_MISSING"
    assert "[connect]" in raised.value.next


@pytest.mark.large
@pytest.mark.parametrize("location", [Location.lake("/l`a k'e"), Location.parse_schema("main.ours")])
def test_every_query_of_the_pages_reads_its_tables_in_full(location):
    known = places(location)
    assert set(known) == set(names())
    for text in [*QUERIES, *DASHBOARDS.values()]:
        if "TABLE(" in text:
            # The parser does not know tables as arguments of functions.
            with pytest.raises(UsageError, match="cannot be read"):
                qualified(text, known)
            continue
        again = qualified(text, known)
        assert again != text
        # What names its tables in full is not changed a second time.
        assert qualified(again, known) == again
    assert all("delta." in place.text or "main" in place.text for place in known.values())
    assert len(known) > len(tables())
