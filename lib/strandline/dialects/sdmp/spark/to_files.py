"""Lines that one lake holds, as files for another."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.sdmp.spark import chains
from strandline.dialects.sdmp.spark.positions import LINES


def to_files(rows: Mapping[str, DataFrame], there: LakeSnapshot, jobs: Jobs) -> DataFrame:
    """Return the lines as frames, each a chain: a frame that is no chain would be a false statement of order."""
    chained = jobs.checkpoint(chains.chains(rows[LINES]), "frames")
    before = jobs.checkpoint(chains.lines_before(chained, there.read(LINES)), "lines before")
    return chains.frames_of(chained, before)
