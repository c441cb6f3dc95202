"""Rows of few journals, asked by their names, in memory."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc


def of_few(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """Keep the rows of these namespaces, of a table in memory."""
    return rows.filter(pc.is_in(rows["namespace"], pa.array(names, pa.string())))
