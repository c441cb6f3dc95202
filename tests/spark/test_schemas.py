"""Each table, read back from Delta, is what its contract file says: columns, comments, partitions, constraints."""

import json
import re
from pathlib import Path

import pytest
import yaml
from deltalake import DeltaTable

from strandline.contracts.load import tables
from support.lakes import Lake
from support.places import BUCKETS

SCHEMAS = Path(__file__).parents[2] / "schemas"


def contract_file(table: str) -> dict:
    """The contract as it stands in its file, by no code of the product."""
    [described] = yaml.safe_load((SCHEMAS / f"{table}.odcs.yaml").read_text("utf-8"))["schema"]
    custom = {each["property"]: each["value"] for each in described["customProperties"]}
    return described | {"custom": custom}


def spelled(kind: str) -> str:
    """A type as Spark spells it."""
    return re.sub(r"\s", "", kind).lower()


@pytest.mark.parametrize("table", tables())
def test_a_table_read_back_is_what_its_contract_says(spark, settings, empty_lakes, table):
    lake = Lake(spark, settings, empty_lakes[False])
    described, store = contract_file(table), lake.store()
    stored = store.read(table).schema
    assert [
        (field.name, field.dataType.simpleString(), field.nullable, field.metadata.get("comment"))
        for field in stored
    ] == [
        (each["name"], spelled(each["physicalType"]), not each.get("required", False), each["description"])
        for each in described["properties"]
    ]
    assert all(field.metadata["comment"].strip() for field in stored)
    assert store.schema(table) == stored

    [detail] = spark.sql(f"DESCRIBE DETAIL delta.`{lake.path / table}`").collect()
    partitions = [each["name"] for each in described["properties"] if each.get("partitioned", False)]
    assert list(detail["partitionColumns"]) == partitions
    assert detail["description"] == described["description"]
    properties = dict(detail["properties"])
    constraints = {
        name.removeprefix("delta.constraints."): properties.pop(name)
        for name in list(properties)
        if name.startswith("delta.constraints.")
    }
    checks = {
        name: check.replace("{buckets}", str(BUCKETS))
        for name, check in described["custom"].get("checks", {}).items()
    }
    assert constraints == checks
    bucketed = {"strandline.buckets": str(BUCKETS)} if partitions else {}
    version = {"strandline.contract": yaml.safe_load((SCHEMAS / f"{table}.odcs.yaml").read_text())["version"]}
    choices = {
        "node_journal_line": {"strandline.sdmp.reading": "weak"},
        "ipfs_log_entry": {"strandline.ipfslog.profile": "strict"},
        "aura_fact": {"strandline.aura.amp_transitions": "off"},
        "device_log_entry": {
            "strandline.devicelog.fork_policy": "keep-both",
            "strandline.devicelog.ssb_hmac_key": "",
            "strandline.devicelog.ssb_profile": "strict",
        },
    }
    chosen = choices.get(table, {})
    assert properties == described["custom"]["tableProperties"] | bucketed | version | chosen

    theirs = json.loads(DeltaTable(str(lake.path / table)).schema().to_json())["fields"]
    assert [(each["name"], each["metadata"]["comment"]) for each in theirs] == [
        (each["name"], each["description"]) for each in described["properties"]
    ]


def test_a_lake_read_strictly_says_so(spark, settings, empty_lakes):
    properties = Lake(spark, settings, empty_lakes[True]).store().properties("node_journal_line")
    assert properties["strandline.sdmp.reading"] == "strict"
