"""Blocks that one lake holds, as files for another."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from strandline.dialects.base import Stage, Tables
from strandline.dialects.ipfslog.frames.transfer import cars_of


def as_files(rows: Mapping[str, DataFrame], _tables: Tables, _stage: Stage) -> DataFrame:
    """Return the blocks as CARs: a CAR carries any block, with the address that it has."""
    return cars_of(rows.values())
