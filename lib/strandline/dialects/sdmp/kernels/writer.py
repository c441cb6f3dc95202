"""Pending pairs to journal lines: the hashes of local journals."""

from __future__ import annotations

from typing import Final

import pandas as pd
import pyarrow as pa

from strandline.dialects.sdmp.author import chained
from strandline.dialects.sdmp.codec import line_hash, profile_of, record_id

WRITTEN_SCHEMA: Final = pa.schema(
    {
        "namespace": pa.string(), "record_id": pa.binary(), "profile": pa.string(), "n": pa.int64(),
        "line_number": pa.string(), "line_hash": pa.string(), "author_fp": pa.string(), "resource_id": pa.string(),
    }
)  # fmt: skip


def write_lines(group: pd.DataFrame) -> pd.DataFrame:
    """Return the lines that continue one journal, one per row, in the order of `place`.

    Reads:  namespace, tip_n, tip_line (the same in all rows), place, author_fp, resource_id; no nulls.
    Gives:  WRITTEN_SCHEMA.
    The group is sorted here, so the order and the partitioning of its rows do not matter.

    Raises:
        ValueError: the namespace is not that of a node, or a pair does not consist of ids of its profile.
    """
    rows = group.sort_values("place")
    namespace = rows["namespace"].iloc[0]
    profile = profile_of(namespace.removeprefix("node:"))
    if profile is None:
        raise ValueError("the namespace must be that of a node of one of the profiles")
    tip_n, tip = int(rows["tip_n"].iloc[0]), rows["tip_line"].iloc[0].encode("ascii")
    pairs = zip(rows["author_fp"], rows["resource_id"], strict=True)
    lines, numbers, hashes = zip(*chained(line_hash(tip, profile), pairs, profile), strict=True)
    # In 0.9 the hash of a line is its record id in hex.
    ids = map(bytes.fromhex, hashes) if profile == "0.9" else map(record_id, lines)
    return pd.DataFrame(
        {
            "namespace": namespace,
            "record_id": list(ids),
            "profile": profile,
            "n": range(tip_n + 1, tip_n + 1 + len(lines)),
            "line_number": numbers,
            "line_hash": hashes,
            "author_fp": rows["author_fp"].to_numpy(),
            "resource_id": rows["resource_id"].to_numpy(),
        }
    )
