"""What `export` gets from a dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class ExportFile:
    """Accepted records of some namespaces as one file that the dialect reads.

    `form` says what the file is: `head`, then `content` of `rows` (content BINARY, records BIGINT: what each adds to
    `read`) in their order; a row is some MiB, a partition some tens of them. `ids` (namespace, record_id) are the
    records of the namespaces in it, each once, `heads` those of them that none of them follows. `counts` are the
    dialect's own.
    """

    form: str
    head: bytes
    rows: DataFrame
    ids: DataFrame
    heads: DataFrame
    counts: Mapping[str, int] = field(default_factory=dict)
