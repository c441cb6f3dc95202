"""Which lines of forked journals are on no trunk."""

from __future__ import annotations

from typing import Final

import pandas as pd
import pyarrow as pa

OFF_TRUNK_SCHEMA: Final = pa.schema({"namespace": pa.string(), "line_hash": pa.string()})


def off_trunk(group: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of one journal that the way down from its tip does not meet.

    Reads:  namespace, tip_hash (the same in all rows), line_hash, line_number (null: line 1).
    Gives:  OFF_TRUNK_SCHEMA.
    The rows are all lines above some position, so the way down ends where no row has the number.
    """
    numbers = dict(zip(group["line_hash"], group["line_number"], strict=True))
    at = group["tip_hash"].iloc[0]
    while at in numbers:
        at = numbers.pop(at)
    return pd.DataFrame({"namespace": group["namespace"].iloc[0], "line_hash": list(numbers)})
