"""Findings about whole files, as rows for the quarantine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from strandline.core.verdict import encode_evidence, shown
from strandline.frames.quarantine import FINDING_COLUMNS
from strandline.kernels.lines import CappedBytes
from strandline.tables.paths import path_text
from strandline.tables.sources import Selection

_ROW_DDL = (
    "scope STRING, reasons ARRAY<STRING>, raw BINARY, raw_bytes BIGINT, raw_sha256 BINARY, evidence STRING, "
    "source STRING"
)


@dataclass(frozen=True, slots=True)
class FileFinding:
    """One rejected row about a file. `reasons` ascending; `raw` are the stored bytes; `evidence` is JSON text."""

    scope: Literal["record", "manifest"]
    reasons: tuple[str, ...]
    raw: CappedBytes
    evidence: str
    source: str


def refused_links(selection: Selection) -> list[FileFinding]:
    """Return a finding per link that was not followed; its bytes are its path."""
    return [
        FileFinding(
            scope="record",
            reasons=("PATH_REFUSED",),
            raw=CappedBytes(path, len(path)),
            evidence=encode_evidence({"PATH_REFUSED": {"cause": "link", "actual": shown(target)}}),
            source=path_text(path),
        )
        for path, target in selection.refused
    ]


def as_findings(
    spark: SparkSession, found: Sequence[FileFinding], like: DataFrame | None
) -> DataFrame | None:
    """Return findings of files as rows for a union with those of a dialect, or None without findings.

    Gives:  FINDING_COLUMNS; order_key is null, with its type in `like`.
    Rows:   one per distinct (scope, reasons, bytes): the one with the least source.
    """
    if not found:
        return None
    distinct = {
        (each.scope, each.reasons, each.raw): each for each in sorted(found, key=_source, reverse=True)
    }
    values = [
        (
            each.scope,
            list(each.reasons),
            each.raw.raw,
            each.raw.length,
            each.raw.sha256,
            each.evidence,
            each.source,
        )
        for each in sorted(distinct.values(), key=_source)
    ]
    order_type = "bigint" if like is None else like.schema["order_key"].dataType
    constants = {
        "namespace": F.lit(None).cast("string"),
        "status": F.lit("rejected"),
        "record_id": F.lit(None).cast("binary"),
        "waits_for": F.array().cast("array<string>"),
        "source_offset": F.lit(None).cast("bigint"),
        "order_key": F.lit(None).cast(order_type),
    }
    return spark.createDataFrame(values, _ROW_DDL).withColumns(constants).select(*FINDING_COLUMNS)


def _source(finding: FileFinding) -> str:
    return finding.source
