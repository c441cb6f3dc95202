"""Node journals as the one object that the pipelines see."""

from __future__ import annotations

from strandline.dialect_api.base import Dialect, LakeOption, PlainFile, SplitFormat
from strandline.dialect_api.journals import JournalWriter
from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp.dialect.admission import admit
from strandline.dialects.sdmp.dialect.choices import read_options
from strandline.dialects.sdmp.dialect.demo import demo
from strandline.dialects.sdmp.dialect.exchange import answers, requests
from strandline.dialects.sdmp.dialect.export import export
from strandline.dialects.sdmp.dialect.peers import peers
from strandline.dialects.sdmp.dialect.reduction import reduce_all, reduce_new
from strandline.dialects.sdmp.dialect.transfer import to_files
from strandline.dialects.sdmp.dialect.writer import next_commit, stopped
from strandline.dialects.sdmp.kernels import STRICT, is_strict
from strandline.dialects.sdmp.reduce import REDUCER_VERSION
from strandline.dialects.sdmp.types import DIALECT, Unreadable


def split_format(file: PlainFile) -> SplitFormat | None:
    """Return how a plain file may be split, or None: then one task reads it whole.

    A text journal whose line 1 names its node goes to Spark's reader. A file of
    frames is split by the tasks, unless its last frame is cut: that is told by the missing LF, which a split
    does not see.
    """
    head = file.head
    form = codec.form_of(head)
    if form == "frames":
        last = file.tail().rpartition(b"\n")[2]
        cut = bool(last.strip(codec.ASCII_SPACE)) and isinstance(codec.parse_frame(last), Unreadable)
        return None if cut else SplitFormat("frames", None, codec.MAX_FRAME_BYTES)
    if form == "text" and b"\n" in head:
        first = head.partition(b"\n")[0]
        node = codec.node_of_line(first if is_strict(file.options) else first.removesuffix(b"\r"))
        return None if node is None else SplitFormat("text", node, codec.MAX_LINE_BYTES)
    return None


def records_in(content: bytes, _format: str | None = None) -> int:
    """Return how many records the decompressed content of a file is, bad ones too: what it adds to `read`."""
    source = codec.parse_source(content)
    return len(source.damages) + sum(len(frame.elements) for _, frame in source.frames)


SDMP = Dialect(
    name=DIALECT,
    kinds=("node",),
    record_table="node_journal_line",
    reduced=("node_journal", "equivocation"),
    reducer_version=REDUCER_VERSION,
    lake_options=(LakeOption(STRICT, "node_journal_line", "strandline.sdmp.reading", ("weak", "strict")),),
    formats={},
    split_format=split_format,
    records_in=records_in,
    admit=admit,
    reduce_new=reduce_new,
    reduce_all=reduce_all,
    export=export,
    demo=demo,
    to_files=to_files,
)

SDMP_JOURNALS = JournalWriter(
    read=read_options,
    stopped=stopped,
    next_commit=next_commit,
    peers=peers,
    requests=requests,
    answers=answers,
)
