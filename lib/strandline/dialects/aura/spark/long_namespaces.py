"""Whether the lake may have a namespace with many facts, without a query."""

from __future__ import annotations

import pyarrow.compute as pc

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.ports import Tables


def may_have_long(tables: Tables, reducer: str, facts: int) -> bool:
    """Return False if no namespace of a reducer has so many facts; True also if only Spark should read the states."""
    few = tables.few_rows(STATES)
    if few is None:
        return True
    counts = few.filter(pc.equal(few.column("reducer_version"), reducer)).column("record_count")
    return (pc.max(counts).as_py() or 0) >= facts
