"""The conditions on rows of another lake, rendered from the contract of their table as SQL."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strandline.contracts.model import Contract
from strandline.contracts.quoting import with_buckets

MAX_NAMESPACE_BYTES: Final = 4096
"""The longest namespace of a dialect takes 3,076 bytes."""

KEY_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bucket_is_given": "bucket IS NOT NULL",
        "namespace_is_text": f"is_valid_utf8(namespace) AND octet_length(namespace) <= {MAX_NAMESPACE_BYTES}",
        "record_id_is_a_digest": "length(record_id) = 32",
    }
)
"""Required for the comparison of records, in every table that `sync --from` copies."""


def row_rules(contract: Contract, *, buckets: int) -> Mapping[str, str]:
    """Return the rules of a row by name, for a lake with this number of buckets; null breaks a rule.

    These are: KEY_RULES, a value in each required column, UTF-8 in each text, the CHECK constraints, and the contract's
    `syncChecks`. Types are not checked here: a table with other types is refused as a whole.
    """
    given = {
        f"{column.name}_is_given": f"{column.name} IS NOT NULL"
        for column in contract.columns
        if column.required
    }
    texts = {
        f"{column.name}_is_text": f"{column.name} IS NULL OR is_valid_utf8({column.name})"
        for column in contract.columns
        if column.physical_type == "STRING"
    }
    checks = {name: with_buckets(check, buckets) for name, check in contract.checks.items()}
    return MappingProxyType(
        dict(sorted({**given, **texts, **checks, **contract.sync_checks, **KEY_RULES}.items()))
    )
