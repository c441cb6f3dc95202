"""The lines of forked journals that are not on the trunk."""

from __future__ import annotations

from typing import Final

import pandas as pd
import pyarrow as pa

OFF_TRUNK_SCHEMA: Final = pa.schema({"namespace": pa.string(), "line_hash": pa.string()})


def off_trunk(group: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of one journal that are not on the path from line 1 to its tip.

    Reads:  namespace, tip_hash (the same in all rows), line_hash, line_number (null: line 1).
    Gives:  OFF_TRUNK_SCHEMA.
    The rows are all lines above some position, so the walk down from the tip ends where no row has the next number.
    """
    numbers = dict(zip(group["line_hash"], group["line_number"], strict=True))
    at = group["tip_hash"].iloc[0]
    while at in numbers:
        at = numbers.pop(at)
    return pd.DataFrame({"namespace": group["namespace"].iloc[0], "line_hash": list(numbers)})
