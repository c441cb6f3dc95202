"""Node journals as the object that the pipelines call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, ClassVar

from pyspark.sql import DataFrame

from strandline.core.encoding.lines import ASCII_SPACE
from strandline.dialect_api.admission import Admission, AdmitRequest
from strandline.dialect_api.archive import Archive, ArchivedJournal, Archives
from strandline.dialect_api.demo import Demo
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.info import DialectInfo, GivenOption
from strandline.dialect_api.journals import AuthorScope, FoundAnswers, NextCommit, WritesJournals
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
from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp import demo as demo_files
from strandline.dialects.sdmp.author import LocalNodes
from strandline.dialects.sdmp.info import INFO
from strandline.dialects.sdmp.kernels import is_strict
from strandline.dialects.sdmp.spark import admission, archive, exchange, peers, reduction, to_files, writer
from strandline.dialects.sdmp.spark import export as export_files
from strandline.dialects.sdmp.spark.local_nodes import read_options
from strandline.dialects.sdmp.types import Unreadable
from strandline.dialects.sdmp.verify import tip_of_text


class NodeJournals(Dialect, WritesJournals, Archives):
    """Node journals of SDMP 0.9 and 0.12."""

    info: ClassVar[DialectInfo] = INFO

    def parse_options(self, given: Mapping[str, Sequence[GivenOption]]) -> LocalNodes:
        """Return which nodes are local and how their journals are written.

        Raises: UsageError `NODES_INVALID`, `NODE_NOT_OWN`, `NODE_TWICE`.
        """
        return read_options(given)

    def split_format(self, file: PlainFile) -> SplitFormat | None:
        """Return how a plain file may be split, or None if one task must read it whole.

        A text journal is split if its line 1 names its node; a file of frames, unless its last frame is cut: a split
        cannot see the missing LF that makes it `TRUNCATED`.
        """
        head = file.head
        form = codec.form_of(head)
        if form == "frames":
            last = file.tail().rpartition(b"\n")[2]
            cut = bool(last.strip(ASCII_SPACE)) and isinstance(codec.parse_frame(last), Unreadable)
            return None if cut else SplitFormat("frames", None)
        if form == "text" and b"\n" in head:
            first = head.partition(b"\n")[0]
            node = codec.node_of_line(first if is_strict(file.options) else first.removesuffix(b"\r"))
            return None if node is None else SplitFormat("text", node)
        return None

    def count_records(self, content: bytes, format: str | None) -> int:  # noqa: A002, ARG002 - from the content
        """Return the number of records in the decompressed content of a file, with bad ones, as counted in `read`."""
        source = codec.parse_source(content)
        return len(source.damages) + sum(len(frame.elements) for _, frame in source.frames)

    def admit(self, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Admission:
        """Judge one batch: which lines are accepted, rejected or deferred."""
        return admission.admit(scan, tables, jobs, request)

    def reduce(self, changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
        """Reduce the journals that `changes` touch, or all."""
        return reduction.reduce(changes, tables, jobs, scope)

    def export(self, lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
        """Write one journal without a fork as its text, others as frames."""
        return export_files.export(lake, jobs, namespaces)

    def to_files(self, rows: Mapping[str, DataFrame], there: OtherLakeSnapshot, jobs: Jobs) -> DataFrame:
        """Write lines as frames."""
        return to_files.to_files(rows, there, jobs)

    def archive(self, lake: LakeSnapshot, jobs: Jobs, namespaces: tuple[str, ...] | None) -> Archive:
        """Return the text journals of nodes without a fork."""
        return archive.archive(lake, jobs, namespaces)

    def archive_name(self, namespace: str) -> str:
        """Return `node-`, since a fingerprint can begin with `_` (a hidden name), the fingerprint and `.journal`."""
        return f"node-{_node(namespace)}.journal"

    def verify_archived(self, namespace: str, file: BinaryIO) -> ArchivedJournal | None:
        """Return the lines and the hash of the last one, if the file is the whole chain of the node."""
        found = tip_of_text(_node(namespace), file)
        return None if found is None else ArchivedJournal(found[0], found[1].hash)

    def hashed_content(self, row: Mapping[str, Any]) -> bytes:
        """Return the text of a line, without LF."""
        if row["n"] == 1:
            return _node(row["namespace"]).encode()
        return f"{row['line_number']}@{row['author_fp']}/{row['resource_id']}".encode()

    def demo(self) -> Demo:
        """Return published journals, with the error as published, and synthetic ones."""
        return demo_files.demo()

    def stopped(
        self, options: object, tables: Tables, jobs: Jobs, version: int
    ) -> Mapping[str, tuple[str, ...]]:
        """Return the local nodes whose journal is behind or forked, with the codes."""
        return writer.stopped(options, tables, jobs, version)

    def next_commit(
        self, options: object, tables: Tables, jobs: Jobs, scope: AuthorScope
    ) -> NextCommit | None:
        """Return the lines of one commit to the journals of local nodes, or None if nothing is left to write."""
        return writer.next_commit(options, tables, jobs, scope)

    def peers(self, options: object, tables: Tables, jobs: Jobs, version: int) -> Mapping[str, DataFrame]:
        """Return the rows of `peer_status` and `wanted_resource`."""
        return peers.peers(options, tables, jobs, version)

    def requests(self, options: object, tables: Tables) -> DataFrame:
        """Return the requests of local nodes to peers, for lines and resources."""
        return exchange.requests(options, tables)

    def answers(
        self, options: object, tables: Tables, jobs: Jobs, path: str, most_lines: int
    ) -> FoundAnswers:
        """Answer the requests in a file from the journals of local nodes."""
        return exchange.answers(options, tables, jobs, path, most_lines)


def _node(namespace: str) -> str:
    return namespace.partition(":")[2]


SDMP = NodeJournals()
