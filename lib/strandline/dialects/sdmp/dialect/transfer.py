"""Lines that one lake holds, as files for another."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.sdmp.dialect.positions import LINES
from strandline.dialects.sdmp.frames import transfer


def to_files(rows: Mapping[str, DataFrame], there: LakeSnapshot, jobs: Jobs) -> DataFrame:
    """Return the lines as frames, each a chain: a frame that is no chain would be a false statement of order."""
    chained = jobs.checkpoint(transfer.chains(rows[LINES]), "frames")
    before = jobs.checkpoint(transfer.lines_before(chained, there.read(LINES)), "lines before")
    return transfer.frames_of(chained, before)
