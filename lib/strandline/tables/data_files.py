"""The form of a table's data files."""

from __future__ import annotations

from typing import Final

from strandline.contracts.model import Contract

DICTIONARY: Final = "parquet.enable.dictionary"
PARQUET: Final = {
    "parquet.block.size": str(32 * 1024 * 1024),
    "parquet.compression.codec.zstd.level": "1",
}
"""A reader loads a whole row group of the requested columns into memory, so row groups must be small.

Most bytes are hashes and signatures: level 1 of zstd makes them as small as level 3, in less than half of the time.
"""
ROWS_PER_FILE: Final = {"spark.sql.files.maxRecordsPerFile": "100000"}
"""Of a table with a layout column, a replacement changes a range: the fewer rows a file has, the fewer are copied."""


def layout_settings(described: Contract) -> dict[str, str]:
    """Return the session settings for files of a table: row groups, compression, columns without a dictionary."""
    return PARQUET | {
        f"{DICTIONARY}#{column.name}": "false" for column in described.columns if column.distinct
    }
