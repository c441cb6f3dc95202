"""What must hold of each row that stands in a table of another lake, as SQL conditions rendered from its contract."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strandline.contracts.model import Contract
from strandline.contracts.quoting import with_buckets

MAX_NAMESPACE_BYTES: Final = 4096
"""The longest namespace of a dialect takes 3,076."""

KEY_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bucket_is_given": "bucket IS NOT NULL",
        "namespace_is_text": f"is_valid_utf8(namespace) AND octet_length(namespace) <= {MAX_NAMESPACE_BYTES}",
        "record_id_is_a_digest": "length(record_id) = 32",
    }
)
"""What lets records be compared: of every table that files bring rows of."""


def row_rules(contract: Contract, *, buckets: int) -> Mapping[str, str]:
    """Return each rule of a row by name, for a lake of so many buckets; null is no yes.

    These are among them: KEY_RULES, a value in each required column, UTF-8 in each text, the CHECK constraints, and
    the contract's `syncChecks`. Types are not: a table has them or is refused as a whole.
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
