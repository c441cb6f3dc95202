"""The contracts as files: whole, described, and in the form that the loader promises."""

import re

import pytest

from strandline.contracts import load, resources
from strandline.contracts.model import Contract
from strandline.contracts.quoting import is_legal_name
from strandline.core.errors import FaultError
from strandline.tables.maintain import RUN_DAYS

EVERY = load.contracts()
TYPE = re.compile(r"STRING|BINARY|BOOLEAN|INT|BIGINT|DECIMAL\(20,0\)|DOUBLE|TIMESTAMP|(ARRAY|MAP|STRUCT)<.+>")
NAMES = [contract.table for contract in EVERY]


def source(table: str) -> str:
    return resources.text("schemas", table + load.SUFFIX)


def test_the_tables_are_exactly_the_contract_files():
    assert set(load.tables()) == set(resources.stems("schemas", suffix=load.SUFFIX))


WITH_IDS = ("aura_fact", "gc_run", "node_journal_line", "quarantine", "run")
"""Tables of which commits carry an application id of their own (decision 59)."""


@pytest.mark.parametrize("contract", EVERY, ids=NAMES)
def test_every_column_is_described_in_a_sentence_and_typed(contract: Contract):
    for column in contract.columns:
        assert column.description.endswith("."), column.name
        assert len(column.description) >= 20, column.name
        assert TYPE.fullmatch(column.physical_type), column.physical_type


@pytest.mark.parametrize("contract", EVERY, ids=NAMES)
def test_nested_fields_are_described_as_well(contract: Contract):
    def walk(described):
        assert described["description"].endswith("."), described
        for child in (*described.get("properties", ()), *filter(None, [described.get("items")])):
            walk(child)

    walk(resources.parsed(source(contract.table))["schema"][0])


@pytest.mark.parametrize("contract", EVERY, ids=NAMES)
def test_names_are_legal_and_the_key_is_required(contract: Contract):
    assert all(map(is_legal_name, (contract.table, *contract.names, *contract.checks)))
    required = {column.name for column in contract.columns if column.required}
    # A log without entries has a row, too.
    nullable = {"record_id"} if contract.table == "device_log_tip" else set()
    assert set(contract.key) - required == nullable
    assert set(contract.partition) <= required


@pytest.mark.parametrize("contract", EVERY, ids=NAMES)
def test_a_table_is_partitioned_by_its_bucket_and_pins_it(contract: Contract):
    assert contract.partition == (() if contract.table == "run" else ("bucket",))
    assert contract.is_bucketed == ("{buckets}" in contract.checks.get("bucket_is_derived", ""))
    assert not set(contract.partition) & set(contract.key)


@pytest.mark.parametrize("contract", EVERY, ids=NAMES)
def test_a_table_has_the_properties_that_delta_rs_and_databricks_need(contract: Contract):
    properties = contract.properties
    assert properties["delta.checkpointPolicy"] == "classic"
    assert properties["delta.enableDeletionVectors"] == "false"
    assert properties["delta.isolationLevel"] == "Serializable"
    assert ("delta.appendOnly" in properties) == (contract.table == "node_journal_line")
    # A checkpoint has each application id that Delta still keeps.
    kept = "interval 7 days" if contract.table in WITH_IDS else None
    assert properties.get("delta.setTransactionRetentionDuration") == kept
    kept = f"interval {RUN_DAYS} days" if contract.table == "run" else None
    assert properties.get("delta.logRetentionDuration") == kept
    followed = contract.table not in ("quarantine", "run")
    assert (properties.get("delta.enableChangeDataFeed") == "true") == followed


@pytest.mark.parametrize("contract", EVERY, ids=NAMES)
def test_statistics_stand_on_columns_that_delta_can_count(contract: Contract):
    types = {column.name: column.physical_type for column in contract.columns}
    for name in contract.properties["delta.dataSkippingStatsColumns"].split(","):
        assert types[name] in ("STRING", "BIGINT", "TIMESTAMP"), name


def test_provenance_is_what_tells_deliveries_apart():
    provenance = {each.table: [c.name for c in each.columns if c.provenance] for each in EVERY}
    assert provenance == {
        "node_journal_line": ["origin", "run_id", "source", "landed_at"],
        "node_resource": ["run_id", "source", "landed_at"],
        "ipfs_log_identity": ["run_id", "source", "landed_at"],
        "ipfs_log_manifest": ["run_id", "source", "landed_at"],
        "ipfs_log_entry": ["run_id", "source", "landed_at"],
        "aura_fact": ["run_id", "source", "landed_at"],
        "device_log_entry": ["erased_at", "sig", "run_id", "source", "landed_at"],
        "node_journal": [],
        "ipfs_log_head": [],
        "ipfs_log_tail": [],
        "ipfs_log_view": [],
        "ipfs_log_document": [],
        "attested_op": [],
        "authority_state": [],
        "authority_leaf": [],
        "device_log_view": [],
        "device_log_screw": [],
        "device_log_tip": [],
        "device_log_member": [],
        "relational_binding": [],
        "flow_budget": [],
        "channel_epoch": [],
        "capability": [],
        "equivocation": [],
        "peer_status": [],
        "wanted_resource": [],
        "quarantine": [
            "source", "source_offset", "first_seen", "last_seen", "times_seen", "first_run", "last_run",
        ],
        "namespace_state": ["reduced_version", "reduced_at", "run_id"],
        "snapshot_member": [],
        "snapshot": ["record_version", "pruned_version", "run_id"],
        "pruned_record": ["snapshot_id", "run_id", "gc_number"],
        "gc_run": ["delete_version", "vacuumed_at"],
        "checkpoint_leaf": [],
        "checkpoint": ["attempt", "record_version", "run_id", "landed_at"],
        "run": [],
    }  # fmt: skip


def test_merge_policies_and_keys():
    assert {each.table: (each.merge, each.key) for each in EVERY} == {
        "node_journal_line": ("insert_only", ("namespace", "record_id")),
        "node_resource": ("insert_only", ("namespace", "author_fp", "resource_id")),
        "ipfs_log_identity": ("insert_only", ("record_id",)),
        "ipfs_log_manifest": ("insert_only", ("record_id",)),
        "ipfs_log_entry": ("insert_only", ("namespace", "record_id")),
        "aura_fact": ("insert_only", ("namespace", "record_id")),
        "device_log_entry": ("insert_only", ("namespace", "record_id")),
        "node_journal": ("replace", ("namespace",)),
        "peer_status": ("replace", ("namespace", "peer")),
        "wanted_resource": ("replace", ("namespace", "author_fp", "resource_id")),
        "ipfs_log_head": ("replace", ("namespace", "record_id")),
        "ipfs_log_tail": ("replace", ("namespace", "record_id")),
        "ipfs_log_view": ("replace", ("namespace", "record_id")),
        "ipfs_log_document": ("replace", ("namespace", "document_key")),
        "attested_op": ("replace", ("namespace", "op_id")),
        "authority_state": ("replace", ("namespace",)),
        "authority_leaf": ("replace", ("namespace", "leaf_id")),
        "device_log_view": ("replace", ("namespace", "record_id")),
        "device_log_screw": ("replace", ("namespace", "record_id")),
        "device_log_tip": ("replace", ("namespace", "log", "record_id")),
        "device_log_member": ("replace", ("namespace", "record_id", "log")),
        "relational_binding": ("replace", ("namespace", "row_hash")),
        "flow_budget": ("replace", ("namespace", "src", "dst", "epoch")),
        "channel_epoch": ("replace", ("namespace", "channel")),
        "capability": ("replace", ("namespace", "subject")),
        "equivocation": ("replace", ("namespace", "kind", "key", "position")),
        "quarantine": ("upsert", ("quarantine_id",)),
        "namespace_state": ("replace", ("namespace",)),
        "snapshot_member": ("insert_only", ("namespace", "snapshot_id", "record_id")),
        "snapshot": ("replace", ("namespace", "snapshot_id")),
        "pruned_record": ("insert_only", ("namespace", "record_id")),
        "gc_run": ("upsert", ("run_id", "namespace")),
        "checkpoint_leaf": ("insert_only", ("namespace", "attempt", "position")),
        "checkpoint": ("insert_only", ("namespace", "seq")),
        "run": ("append", ("run_id",)),
    }


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("name: node_journal\n", "name: node_journals\n", "its table has the name of its file"),
        ("{name: tip_n,", "{name: 'tip_n, x',", "plain identifiers"),
        ("{name: tip_n,", "{name: ' tip_n',", "plain identifiers"),
        ("fork_count_is_not_negative:", "'fork_count`':", "plain identifiers"),
        ("{name: tip_n,", "{name: profile,", "repeated"),
        ('"Format of the journal: 0.9 or 0.12."', '" "', "described"),
        ("primaryKeyPosition: 1", "primaryKeyPosition: 2", "count from 1"),
        ("value: replace", "value: overwrite", "merge policy"),
        ("value: [namespace]", "value: [namespaces]", "its own columns"),
        ("value: replace", "value: upsert", "onMatch"),
    ],
)
def test_a_contract_that_breaks_a_rule_is_refused_by_its_name(old: str, new: str, rule: str):
    text = source("node_journal")
    assert old in text
    with pytest.raises(FaultError, match=rule) as refused:
        load.parse_contract(text.replace(old, new, 1), "node_journal")
    assert refused.value.code == "CONTRACT_MALFORMED"


@pytest.mark.parametrize(
    ("table", "old", "new", "rule"),
    [
        ("quarantine", "onMatch", "onMatched", "onMatch is set only"),
        ("gc_run", "value: upsert", "value: replace", "onMatch is set only"),
        ("node_journal", "primaryKey: true", "primaryKey: false", "count from 1"),
    ],
)
def test_a_contract_whose_policy_lacks_what_it_needs_is_refused(table: str, old: str, new: str, rule: str):
    text = source(table)
    assert old in text
    with pytest.raises(FaultError, match=rule):
        load.parse_contract(text.replace(old, new), table)


def test_what_a_merge_sets_is_a_column_of_the_table():
    text = source("gc_run")
    [first, *_] = load.contract("gc_run").on_match
    value = text[text.index("onMatch") :]
    assert first in value
    with pytest.raises(FaultError, match="its own columns"):
        load.parse_contract(text.replace(value, value.replace(first, "nothing", 1), 1), "gc_run")


def test_a_table_without_contract_is_named():
    with pytest.raises(FaultError, match=r"schemas/no_such_table\.odcs\.yaml"):
        load.contract("no_such_table")
