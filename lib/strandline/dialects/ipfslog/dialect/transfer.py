"""Blocks that one lake holds, as files for another."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.ipfslog.frames.transfer import cars_of


def to_files(rows: Mapping[str, DataFrame], _tables: Tables, _jobs: Jobs) -> DataFrame:
    """Return the blocks as CARs: a CAR carries any block, with the address that it has."""
    return cars_of(rows.values())
