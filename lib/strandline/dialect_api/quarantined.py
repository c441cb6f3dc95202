"""What `quarantine` has of a dialect, told without a query where the table is small."""

from __future__ import annotations

from typing import Final

import pyarrow.compute as pc

from strandline.contracts.shared_tables import QUARANTINE
from strandline.dialect_api.ports import Tables

WAITING: Final = "deferred"
_STATUSES: Final = frozenset({"rejected", WAITING})


def statuses(dialect: str, tables: Tables) -> frozenset[str]:
    """Return the statuses that rows of a dialect have; all that they may have where only a query tells."""
    few = tables.few_rows(QUARANTINE)
    if few is None:
        return _STATUSES
    return frozenset(few.filter(pc.equal(few["dialect"], dialect))["status"].to_pylist())
