"""Reads contracts from `schemas/<table>.odcs.yaml` (Open Data Contract Standard 3.1)."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, get_args

from strandline.contracts import resources
from strandline.contracts.model import Column, Contract, Merge
from strandline.contracts.quoting import is_legal_name
from strandline.core.errors import FaultError

SUFFIX: Final = ".odcs.yaml"
TABLES: Final = (
    "node_journal_line",
    "node_resource",
    "ipfs_log_identity", "ipfs_log_manifest", "ipfs_log_entry",
    "aura_fact",
    "device_log_entry",
    "node_journal",
    "ipfs_log_head", "ipfs_log_tail", "ipfs_log_view", "ipfs_log_document",
    "attested_op", "authority_state", "authority_leaf",
    "device_log_view", "device_log_screw", "device_log_tip", "device_log_member",
    "relational_binding", "flow_budget", "channel_epoch", "capability",
    "equivocation",
    "peer_status", "wanted_resource",
    "quarantine",
    "namespace_state",
    "snapshot_member", "snapshot", "pruned_record", "gc_run",
    "checkpoint_leaf", "checkpoint",
    "run",
)  # fmt: skip
"""All tables in the order in which runs write them: `namespace_state` after other reduced tables, `run` last."""


def tables() -> tuple[str, ...]:
    """Return the names of all tables in the order in which runs write them, those of registered dialects first."""
    more = tuple(name for name in resources.registered_stems(SUFFIX) if name not in TABLES)
    return (*more, *TABLES)


@cache
def contract(table: str) -> Contract:
    """Return the contract of `table`.

    Raises:
        FaultError: There is no such contract, or it is malformed.
    """
    return parse_contract(resources.text("schemas", table + SUFFIX), table)


def contracts() -> tuple[Contract, ...]:
    """Return all contracts, in the order of `tables`."""
    return tuple(contract(table) for table in tables())


def parse_contract(source: str, table: str) -> Contract:
    """Return the contract of the text of an ODCS file.

    These hold in a contract:
    - it describes one table, whose name is `table`;
    - the names of table, columns and constraints match `[A-Za-z_][A-Za-z0-9_]{0,127}`, no column is repeated;
    - every column has a description; the key's positions count from 1;
    - merge policy, write order, layout column and the columns of `onMatch` are known.

    Raises:
        FaultError: One of these does not hold.
    """
    document = resources.parsed(source)
    [described] = document["schema"]
    custom = _custom(described)
    found = Contract(
        table=described["name"],
        version=document["version"],
        description=described["description"],
        columns=tuple(_column(each) for each in described["properties"]),
        merge=custom["merge"],
        checks=_frozen(custom.get("checks", {})),
        sync_checks=_frozen(custom.get("syncChecks", {})),
        properties=_frozen(custom.get("tableProperties", {})),
        write_order=tuple(custom.get("writeOrder", ())),
        layout_column=custom.get("layoutColumn"),
        written_by=tuple(custom.get("writtenBy", ())),
        on_match=_frozen(custom.get("onMatch", {}), ordered=False),
    )
    for holds, what in _conditions(found, table):
        if not holds:
            raise FaultError(
                code="CONTRACT_MALFORMED",
                message=f"The contract of the table {table} breaks a rule: {what}.",
                next=f"Correct schemas/{table}{SUFFIX}, or install the package again.",
            )
    return found


def _conditions(found: Contract, table: str) -> tuple[tuple[bool, str], ...]:
    names = found.names
    keyed = sorted(column.key_position for column in found.columns if column.key_position is not None)
    layout = () if found.layout_column is None else (found.layout_column,)
    return (
        (found.table == table, "its table has the name of its file"),
        (
            all(map(is_legal_name, (found.table, *names, *found.checks, *found.sync_checks))),
            "names are plain identifiers",
        ),
        (len(set(names)) == len(names), "no column is repeated"),
        (all(column.description.strip() for column in found.columns), "every column is described"),
        (keyed == list(range(1, len(keyed) + 1)) and bool(keyed), "the key's positions count from 1"),
        (found.merge in get_args(Merge), "the merge policy is known"),
        (
            {*found.write_order, *layout, *found.on_match} <= set(names),
            "it orders and merges by its own columns",
        ),
        (
            bool(found.on_match) == (found.merge == "upsert"),
            "onMatch is set only for the policy upsert",
        ),
    )


def _column(described: Mapping[str, Any]) -> Column:
    return Column(
        name=described["name"],
        physical_type=described["physicalType"],
        required=described.get("required", False),
        description=described.get("description", ""),
        key_position=described.get("primaryKeyPosition") if described.get("primaryKey") else None,
        partitioned=described.get("partitioned", False),
        provenance=_custom(described).get("provenance", False),
        distinct=_custom(described).get("distinct", False),
    )


def _custom(described: Mapping[str, Any]) -> dict[str, Any]:
    return {each["property"]: each["value"] for each in described.get("customProperties", ())}


def _frozen(values: Mapping[str, str], *, ordered: bool = True) -> Mapping[str, str]:
    return MappingProxyType(dict(sorted(values.items())) if ordered else dict(values))
