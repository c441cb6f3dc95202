"""The result of a dialect's export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class ExportFile:
    """Accepted records of some namespaces as one file that the dialect can read.

    `form` describes the file: `head`, then `content` of `rows` (content BINARY, records BIGINT: the part of `read` of
    each row) in their order with `separator` between them, then `tail`; a row has some MiB, a partition some tens of
    MiB. `ids` (namespace, record_id) are the distinct records of the namespaces in the file, `heads` those that no
    other one follows. `counts` are counts of the dialect.
    """

    form: str
    head: bytes
    rows: DataFrame
    ids: DataFrame
    heads: DataFrame
    counts: Mapping[str, int] = field(default_factory=dict)
    separator: bytes = b""
    tail: bytes = b""
