"""Logs as the object that the pipelines call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pyspark.sql import DataFrame

from strandline.dialect_api.demo import Demo
from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.info import DialectInfo, GivenOption
from strandline.dialect_api.ports import Jobs, LakeSnapshot, OtherLakeSnapshot, Tables
from strandline.dialect_api.pruning import PrunePlan, Prunes, PruneScope, ReducedTables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.ipfslog import demo as demo_files
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.codec import DOCUMENT_FORMATS, read_documents
from strandline.dialects.ipfslog.info import INFO, LOG_CONFIG
from strandline.dialects.ipfslog.reduce import LogConfiguration, parse_log_config
from strandline.dialects.ipfslog.spark import export as export_files
from strandline.dialects.ipfslog.spark import pruning, reduction
from strandline.dialects.ipfslog.spark.admission import LogAdmission
from strandline.dialects.ipfslog.types import HeadClaim
from strandline.dialects.ipfslog.verify import Foreign, read_element


class Logs(LogAdmission, Prunes):
    """Logs of ipfs-log and OrbitDB."""

    info: ClassVar[DialectInfo] = INFO
    table_functions: ClassVar[Mapping[str, tuple[type, str]]] = {
        "ipfs_log_iterate": (kernels.Iterate, kernels.PART_DDL),
        "ipfs_log_traverse": (kernels.Traverse, kernels.PART_DDL),
    }

    def parse_reducer_options(self, files: Mapping[str, GivenOption]) -> Mapping[str, LogConfiguration]:
        """Return store and writers by log, from the file of `--log-config`.

        Raises: UsageError LOG_CONFIG_INVALID.
        """
        file = files.get(LOG_CONFIG)
        return {} if file is None else parse_log_config(file.content or b"", file.text)

    def count_records(self, content: bytes, format: str | None) -> int:  # noqa: A002 - the option's name
        """Return the number of records in a file of that format, with bad ones, as counted in `read`."""
        [name] = [each for each in DOCUMENT_FORMATS if each == format]
        documents = (each for each in read_documents(content, name) if not isinstance(each, HeadClaim))
        return sum(not isinstance(read_element(each, "strict"), Foreign) for each in documents)

    def reduce(self, changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
        """Reduce the logs that `changes` touch or whose configuration changed, or all."""
        return reduction.reduce(changes, tables, jobs, scope)

    def plan_pruning(self, tables: Tables, jobs: Jobs, scope: PruneScope) -> PrunePlan:
        """Say of each entry of stores with rows whether it decides anything; other logs keep all."""
        return pruning.plan(tables, jobs, scope)

    def skeletons_of(self, plan: PrunePlan, chosen: DataFrame, jobs: Jobs) -> DataFrame:
        """Return what keeps the place of chosen entries in the order."""
        return pruning.skeletons(plan, chosen, jobs)

    def carries_of(self, plan: PrunePlan, chosen: DataFrame) -> DataFrame:
        """Return store, write list and number of pruned entries of each log."""
        return pruning.carries(plan, chosen)

    def reduce_rest(
        self, plan: PrunePlan, skeletons: DataFrame, carries: DataFrame, tables: Tables, jobs: Jobs, scope: PruneScope
    ) -> ReducedTables:  # fmt: skip
        """Reduce logs from the entries that stay and all skeletons."""
        return pruning.reduce_rest(plan, skeletons, carries, tables, jobs, scope)

    def export(self, lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
        """Write logs as a CAR, with the identities and manifests that they need."""
        return export_files.export(lake, jobs, namespaces)

    def to_files(self, rows: Mapping[str, DataFrame], there: OtherLakeSnapshot, jobs: Jobs) -> DataFrame:
        """Write blocks as lines of JSON."""
        return export_files.to_files(rows, there, jobs)

    def hashed_content(self, row: Mapping[str, Any]) -> bytes:
        """Return the block of an entry."""
        return bytes(row["block"])

    def demo(self) -> Demo:
        """Return the entries of the OrbitDB field manual, and a small log of which one entry is forged."""
        return demo_files.demo()


IPFSLOG = Logs()
