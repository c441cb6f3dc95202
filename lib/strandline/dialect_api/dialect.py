"""The interface that pipelines call: one journal format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pyspark.sql import DataFrame

from strandline.dialect_api.admission import Admission, AdmitRequest
from strandline.dialect_api.demo import Demo
from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.info import DialectInfo, GivenOption
from strandline.dialect_api.ports import (
    InputScan,
    Jobs,
    LakeSnapshot,
    OtherLakeSnapshot,
    PlainFile,
    SplitFormat,
    Tables,
)
from strandline.dialect_api.reduction import ReduceScope, Reduction


class Dialect(ABC):
    """One journal format. An instance has no state: pipelines share one.

    `table_functions` are Arrow UDTFs by name: class and columns.
    """

    info: ClassVar[DialectInfo]
    table_functions: ClassVar[Mapping[str, tuple[type, str]]] = {}

    def parse_options(self, given: Mapping[str, Sequence[GivenOption]]) -> object:
        """Return the parsed run options, without sticky ones; requests and scopes pass the result back.

        Called before Spark starts, with at least one option of `info.run_options`.
        Raises: UsageError.
        """
        raise TypeError(f"{self.info.name} declares the options {sorted(given)} but does not parse them")

    def parse_reducer_options(self, files: Mapping[str, GivenOption]) -> Any:  # noqa: ARG002 - the interface has it
        """Return the parsed files of sticky options, given by option; options without a file are left out.

        Raises: UsageError.
        """
        return None

    @abstractmethod
    def split_format(self, file: PlainFile) -> SplitFormat | None:
        """Return how a large plain file can be split, or None if one task must read it."""

    @abstractmethod
    def count_records(self, content: bytes, format: str | None) -> int:  # noqa: A002 - the option's name
        """Return the number of records in decompressed content, also bad ones: its part of the count `read`."""

    @abstractmethod
    def admit(self, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Admission:
        """Judge one batch of input."""

    @abstractmethod
    def reduce(self, changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
        """Reduce the namespaces that `changes` (rows of the change data feed) touch; None: all namespaces.

        Both ways give the same rows. A dialect with sticky options is also called with empty changes, since an option
        may have changed.
        """

    @abstractmethod
    def export(self, lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
        """Return the accepted records of these namespaces in `info.export_format`."""

    def export_as(
        self,
        lake: LakeSnapshot,
        jobs: Jobs,
        namespaces: Sequence[str],
        format: str,  # noqa: A002, ARG002 - the option's name; most dialects have one format
    ) -> ExportFile:
        """Return them in `info.export_format` or in one of `info.export_formats`.

        Raises: UsageError, the format cannot hold these records.
        """
        return self.export(lake, jobs, namespaces)

    @abstractmethod
    def to_files(self, rows: Mapping[str, DataFrame], there: OtherLakeSnapshot, jobs: Jobs) -> DataFrame:
        """Return rows of another lake, given by table, as files to judge; `there` is the whole other lake.

        Both contain only rows that meet the contract of their table. Each row is one record of one file.
        Gives: format, content (BINARY, a few MiB at most).
        """

    @abstractmethod
    def hashed_content(self, row: Mapping[str, Any]) -> bytes:
        """Return the bytes of a record whose SHA-256 is its id, from its row in `info.record_table`.

        They alone show what the id stands for, also without a part of the record that was erased.
        """

    @abstractmethod
    def demo(self) -> Demo:
        """Return the files of the demo; the same files on every call."""
