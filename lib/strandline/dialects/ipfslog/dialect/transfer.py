"""Blocks that another lake holds, as files for this one."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.ipfslog.frames.transfer import documents_of


def to_files(rows: Mapping[str, DataFrame], _there: LakeSnapshot, _jobs: Jobs) -> DataFrame:
    """Return the blocks as lines of JSON, a document each: what is wrong with one costs that one."""
    return documents_of(rows.values())
