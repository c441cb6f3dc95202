"""The rules of a row of another lake: all that its contract says, as conditions that Spark evaluates."""

import re

import pytest

from strandline.contracts import load
from strandline.contracts.rules import KEY_RULES, row_rules

LANDED = ("node_journal_line", "ipfs_log_entry", "ipfs_log_identity", "ipfs_log_manifest")


@pytest.mark.parametrize("table", load.tables())
def test_every_rule_of_a_contract_is_a_rule_of_its_rows(table):
    described = load.contract(table)
    rules = row_rules(described, buckets=7)
    assert {*described.checks, *described.sync_checks, *KEY_RULES} <= set(rules)
    for column in described.columns:
        assert (f"{column.name}_is_given" in rules) == column.required
        assert (f"{column.name}_is_text" in rules) == (column.physical_type == "STRING")
    assert list(rules) == sorted(rules)
    assert not any("{buckets}" in rule for rule in rules.values())


@pytest.mark.parametrize("table", LANDED)
def test_the_id_of_a_record_that_another_lake_claims_is_computed_from_its_bytes(table):
    rules = row_rules(load.contract(table), buckets=16)
    assert re.fullmatch(r"record_id = unhex\(sha2\(.*, 256\)\)", rules["record_id_recomputes"])


def test_what_sync_asks_is_no_constraint_of_our_own_tables():
    from strandline.contracts.ddl import table_properties

    for described in load.contracts():
        properties = table_properties(described, buckets=16)
        assert not any(f"delta.constraints.{name}" in properties for name in described.sync_checks)
