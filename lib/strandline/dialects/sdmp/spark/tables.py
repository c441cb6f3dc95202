"""The names of the tables of node journals, and a few of their rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from strandline.dialect_api.ports import Tables

LINES: Final = "node_journal_line"
JOURNALS: Final = "node_journal"
RESOURCES: Final = "node_resource"
PEER_STATUSES: Final = "peer_status"
WANTED: Final = "wanted_resource"


def as_rows(tables: Tables, values: pa.Table) -> DataFrame:
    """Return a small Arrow table as a DataFrame of the lake's session."""
    return tables.read(RESOURCES).sparkSession.createDataFrame(values)


def of_few(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """Keep the rows of these namespaces, of a table in memory."""
    return rows.filter(pc.is_in(rows["namespace"], pa.array(names, pa.string())))
