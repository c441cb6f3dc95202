"""Manifests beside the input: what somebody outside says that the files hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from strandline.dialects.base import Admission, Stage
from strandline.kernels.reading import ReadOptions
from strandline.tables.sources import Selection
from strandline.tables.store import TableStore


@dataclass(frozen=True, slots=True)
class ManifestFindings:
    """Rows of scope `manifest`, the files by completeness, and how many manifests or files disagree."""

    findings: DataFrame | None
    counts: Mapping[str, int]
    disagreements: int

    @staticmethod
    def none() -> ManifestFindings:
        """Return what there is to say where nothing was read."""
        return ManifestFindings(None, {}, 0)


def require_manifests(selection: Selection) -> None:
    return None


def check_manifests(
    selection: Selection, admission: Admission | None, store: TableStore, stage: Stage, options: ReadOptions, dialect: str
) -> ManifestFindings:
    return ManifestFindings.none()
