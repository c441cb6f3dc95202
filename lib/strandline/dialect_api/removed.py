"""The records of a dialect that were removed by `gc`, and namespaces that lost what stood for theirs."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.compute as pc
from pyspark.sql import DataFrame

from strandline.contracts.shared_tables import PRUNED
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.refusals import Refusal
from strandline.frames.known import pruned_records


def removed_records(kinds: Sequence[str], tables: Tables, jobs: Jobs) -> DataFrame | None:
    """Return the removed records of namespaces of these kinds, or None without any.

    A small or empty table costs no job. Call it after the version of the record table is known: else a deletion could
    be seen without its pruning.
    Gives:  rows of `pruned_record`.
    """
    few = tables.few_rows(PRUNED)
    if few is not None:
        names = few.column("namespace")
        if not any(pc.any(pc.starts_with(names, f"{kind}:")).as_py() for kind in kinds):
            return None
    elif not tables.stored_bytes(PRUNED):
        return None
    rows = pruned_records(tables.read(PRUNED), kinds)
    return rows if few is not None or jobs.has_rows(rows) else None


def snapshot_lost(namespace: str) -> Refusal:
    """Return the refusal of a namespace that cannot be reduced without the carry of its applied snapshot."""
    return Refusal(
        namespace,
        f"The snapshot by which records of {namespace} were pruned is not in the table snapshot as it was taken.",
        "SNAPSHOT_LOST",
        "Restore the version of the table that has it, and run the command again.",
    )
