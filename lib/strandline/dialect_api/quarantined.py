"""The statuses of a dialect's rows in `quarantine`: read in the driver if the table is small."""

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
