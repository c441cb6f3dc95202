"""Reduction of logs: of all entries, or of the news on top of the stored state, with equal rows."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from strandline.dialects.base import ReducerOption, ReduceScope, Reduction, Stage, Tables
from strandline.dialects.ipfslog.dialect import folding
from strandline.dialects.ipfslog.frames import forks, logs
from strandline.dialects.ipfslog.reduce import parse_log_config

MANIFESTS = "ipfs_log_manifest"
LOG_CONFIG: Final = ReducerOption("log-config", parse_log_config, {})
"""Stores and write lists of logs, from a file."""


def reduce_all(tables: Tables, stage: Stage, scope: ReduceScope) -> Reduction:
    """Reduce every log from all of its entries, as of one version of their table."""
    entries = tables.read_version(folding.ENTRIES, scope.last)
    configured = stage.settle(
        logs.configured(logs.counted(entries), tables.read(MANIFESTS), scope.told), "logs"
    )
    folded = folding.from_all(entries, configured, tables, stage, scope)
    found = folding.equivocations(entries, forks.suspects(entries), stage)
    return folding.reduction([folded], found, scope)


def reduce_new(news: DataFrame, tables: Tables, stage: Stage, scope: ReduceScope) -> Reduction:
    """Reduce the logs that `news` (rows of the change feed) touch."""
    return reduce_all(tables, stage, scope)
