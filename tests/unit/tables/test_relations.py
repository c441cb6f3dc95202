"""Which tables and views are registered for a statement."""

from __future__ import annotations

import pytest

from strandline.contracts.load import tables
from strandline.contracts.views import view_names
from strandline.tables.views import lake_views, relations


def test_a_statement_gets_the_tables_it_names_and_the_views_with_their_tables() -> None:
    found = relations("SELECT n FROM `Node_Journal_Line` JOIN/**/run USING (run_id) -- quarantine_age")
    assert found.tables == ("node_journal_line", "quarantine", "run")
    assert tuple(found.views) == ("quarantine_age",)


def test_a_name_within_another_word_is_no_name() -> None:
    assert relations("SELECT 1 FROM runs, run2, a_run").tables == ()


@pytest.mark.parametrize(
    "statement", [None, "SHOW TABLES", "show views", "SELECT * FROM IDENTIFIER('r' || 'un')"]
)
def test_a_statement_that_can_mean_any_table_gets_all(statement: str | None) -> None:
    found = relations(statement)
    assert (found.tables, tuple(found.views)) == (tuple(tables()), view_names())


@pytest.mark.parametrize("name", view_names())
def test_a_view_gets_every_table_that_it_reads(name: str) -> None:
    import sqlglot
    from sqlglot import exp

    select = lake_views()[name].select
    tree = sqlglot.parse_one(select, read="databricks")
    read = {each.name for each in tree.find_all(exp.Table)} & set(tables())
    assert read
    assert read <= set(relations(f"SELECT * FROM {name}").tables)
