"""Checks: what each contract says of its table as SQL, none forgotten; files of checks; one query for several."""

import re
from dataclasses import replace

import pytest

from strandline.contracts.checks import (
    GENERATED,
    ROW_CHARACTERS,
    Check,
    broken_rows_sql,
    bucket_sql,
    checks,
    constraints_hold_sql,
    generated_checks,
    keys_are_unique_sql,
    tables_read,
    written_checks,
)
from strandline.contracts.ddl import check_sql
from strandline.contracts.load import contract, contracts, tables
from support.planted_cases import CASES

EVERY = checks(buckets=16)
BUCKETED = [each.table for each in contracts() if each.is_bucketed]


def select_of(name: str, table: str) -> str:
    [found] = [check for check in EVERY if (check.name, check.tables) == (name, (table,))]
    return found.select


def of_kind(name: str) -> list[str]:
    return [check.tables[0] for check in EVERY if check.name == name]


def test_every_table_has_its_key_its_bucket_and_its_constraints_checked():
    assert of_kind("keys_are_unique") == list(tables())
    assert of_kind("buckets_are_derived") == BUCKETED
    assert of_kind("constraints_hold") == [
        each.table for each in contracts() if set(each.checks) - {"bucket_is_derived"}
    ]
    assert set(tables()) - {*BUCKETED} == {"run"}


def test_a_new_table_is_checked_as_soon_as_it_has_a_contract():
    found = generated_checks([replace(contract("node_journal"), table="fresh")])
    assert [(check.name, check.tables) for check in found] == [(name, ("fresh",)) for name in GENERATED]
    assert all("\nFROM fresh\n" in check.select or "  FROM fresh\n" in check.select for check in found)


def test_a_key_is_named_with_its_bytes_as_hex():
    assert select_of("keys_are_unique", "node_resource") == (
        "SELECT namespace, author_fp, resource_id, count(*) AS row_count\n"
        "FROM node_resource\n"
        "GROUP BY namespace, author_fp, resource_id\n"
        "HAVING count(*) > 1"
    )
    assert keys_are_unique_sql(contract("quarantine")).startswith(
        "SELECT lower(hex(quarantine_id)) AS quarantine_id, count(*) AS row_count\n"
    )


def test_a_bucket_is_that_of_the_namespace():
    assert select_of("buckets_are_derived", "node_journal") == (
        "SELECT namespace, bucket, count(*) AS row_count\n"
        "FROM node_journal\n"
        "WHERE bucket <> CAST(conv(substring(sha2(CAST(namespace AS BINARY), 256), 1, 4), 16, 10) AS INT) % 16\n"
        "GROUP BY namespace, bucket"
    )


def test_a_row_without_namespace_is_in_the_bucket_of_its_key_and_named_by_it():
    assert select_of("buckets_are_derived", "quarantine") == (
        "SELECT lower(hex(quarantine_id)) AS quarantine_id, namespace, bucket\n"
        "FROM quarantine\n"
        "WHERE bucket <> CAST(conv(substring(CASE WHEN namespace IS NULL THEN hex(quarantine_id)"
        " ELSE sha2(CAST(namespace AS BINARY), 256) END, 1, 4), 16, 10) AS INT) % 16"
    )


@pytest.mark.parametrize("table", BUCKETED)
def test_the_check_constraint_of_a_bucket_says_what_the_check_says(table):
    described = contract(table)
    assert described.checks["bucket_is_derived"] == f"bucket = {bucket_sql(described)}"


def test_every_constraint_of_a_contract_is_asked_but_that_of_the_bucket():
    for table in of_kind("constraints_hold"):
        select = select_of("constraints_hold", table)
        for name, text in check_sql(contract(table), buckets=16).items():
            asked = f"CASE WHEN ({text}) IS NOT TRUE THEN '{name}' END"
            assert (asked in select) == (name != "bucket_is_derived"), (table, name)


def test_a_constraint_of_the_bucket_that_says_something_else_is_asked_too():
    other = replace(contract("node_journal"), checks={"bucket_is_derived": "bucket = 7"})
    assert "CASE WHEN (bucket = 7) IS NOT TRUE" in (constraints_hold_sql(other) or "")
    assert constraints_hold_sql(replace(other, checks={})) is None


def test_constraints_are_asked_of_each_row_which_is_named_by_its_key():
    made = replace(contract("run"), checks={"a": "x > 0", "b": "y = 'it''s'"})
    assert constraints_hold_sql(made) == (
        "SELECT *\n"
        "FROM (\n"
        "  SELECT run_id, array_compact(array(\n"
        "    CASE WHEN (x > 0) IS NOT TRUE THEN 'a' END,\n"
        "    CASE WHEN (y = 'it''s') IS NOT TRUE THEN 'b' END\n"
        "  )) AS constraints\n"
        "  FROM run\n"
        ")\n"
        "WHERE size(constraints) > 0"
    )


def test_the_number_of_buckets_is_filled_in_wherever_it_is_needed():
    other = checks(buckets=4)
    assert {check.name for check, with_four in zip(EVERY, other, strict=True) if check != with_four} == {
        "buckets_are_derived"
    }
    assert not any("{buckets}" in check.select for check in EVERY)


def test_a_name_of_a_check_is_either_generated_or_a_file():
    files = [check.name for check in written_checks()]
    assert len(set(files)) == len(files)
    assert not set(files) & set(GENERATED)
    assert {check.name for check in EVERY} == {*files, *GENERATED}


@pytest.mark.parametrize("check", EVERY, ids=lambda check: f"{check.name} {check.tables[0]}")
def test_a_check_is_described_and_names_the_tables_that_it_reads(check):
    assert re.fullmatch(r"[A-Z].{40,}\.", check.description)
    assert check.tables
    assert set(check.tables) == set(tables()) & set(re.findall(r"\w+", re.sub(r"'[^']*'", "", check.select)))


COLLECTED = {
    "equivocations_agree_with_lines": "the first 65,536 members, as the table has them",
    "journals_start_once": "profiles, of which there are two",
    "node_journals_agree_with_lines": "the leaves of a journal, as the table has them",
}
"""Checks that put values of several rows into one, and which values."""


def test_a_check_collects_no_values_of_which_a_sender_can_make_more_than_a_row_has():
    collecting = {
        check.name for check in written_checks() if re.search(r"\bcollect_(?:list|set)\(", check.select)
    }
    assert collecting == COLLECTED.keys()


def test_tables_are_named_once_and_parts_of_the_query_are_not_named():
    text = "WITH held AS (SELECT 1 FROM quarantine) SELECT * FROM held JOIN run ON 1 = 1 JOIN quarantine"
    assert tables_read(text) == ("quarantine", "run")


def test_several_checks_are_one_query_each_with_its_least_rows():
    asked = [Check("a", "A.", ("run",), "SELECT 1 AS one"), Check("b", "B.", ("run",), "SELECT 2 AS two")]
    part = (
        "(SELECT {} AS number, left(to_json(struct(*)), {}) AS broken FROM (\n{}\n) ORDER BY broken LIMIT 11)"
    )
    assert broken_rows_sql(asked, most=11) == (
        part.format(0, ROW_CHARACTERS, "SELECT 1 AS one")
        + "\nUNION ALL\n"
        + part.format(1, ROW_CHARACTERS, "SELECT 2 AS two")
    )


@pytest.mark.large
def test_rows_are_planted_for_every_check_and_in_every_table_of_those_that_read_several():
    assert {check.name for check in EVERY} == {name for case in CASES for name in case.breaks}
    filled = {table for case in CASES for table, rows in case.rows.items() if rows}
    assert {table for check in written_checks() for table in check.tables} <= filled <= set(tables())


def test_cases_are_told_apart_by_what_is_wrong():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
