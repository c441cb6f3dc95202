"""Logs as the one object that the pipelines see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from strandline.dialect_api.base import Dialect, LakeOption, PlainFile, SplitFormat
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.codec import MAX_LINE_BYTES, DocumentFormat, read_documents
from strandline.dialects.ipfslog.dialect.admission import admit
from strandline.dialects.ipfslog.dialect.batch import IDENTITIES, MANIFESTS, PROFILE
from strandline.dialects.ipfslog.dialect.demo import demo
from strandline.dialects.ipfslog.dialect.export import export
from strandline.dialects.ipfslog.dialect.reduction import LOG_CONFIG, reduce_all, reduce_new
from strandline.dialects.ipfslog.dialect.retained import ENTRIES
from strandline.dialects.ipfslog.dialect.transfer import to_files
from strandline.dialects.ipfslog.types import DIALECT, PROFILES, HeadClaim
from strandline.dialects.ipfslog.verify import Foreign, read_element

FORMATS: Final[Mapping[DocumentFormat, tuple[str, ...]]] = {
    "lines": (".jsonl", ".ndjson"),
    "json": (".json",),
    "car": (".car",),
}


def split_format(file: PlainFile) -> SplitFormat | None:
    """Return how a plain file may be split: a file of lines anywhere, others not."""
    return SplitFormat("lines", None, MAX_LINE_BYTES) if file.format == "lines" else None


def records_in(content: bytes, format: str | None) -> int:  # noqa: A002 - the option's name
    """Return how many records a file of that format holds, bad ones too: what it adds to `read`."""
    [name] = [each for each in FORMATS if each == format]
    documents = (each for each in read_documents(content, name) if not isinstance(each, HeadClaim))
    return sum(not isinstance(read_element(each, "strict"), Foreign) for each in documents)


IPFSLOG = Dialect(
    name=DIALECT,
    kinds=("log",),
    record_table=ENTRIES,
    reduced=("ipfs_log_head", "ipfs_log_tail", "ipfs_log_view", "ipfs_log_document", "equivocation"),
    reducer_version="ipfslog-1",
    lake_options=(LakeOption(PROFILE, ENTRIES, "strandline.ipfslog.profile", PROFILES),),
    formats={str(name): endings for name, endings in FORMATS.items()},
    split_format=split_format,
    records_in=records_in,
    admit=admit,
    reduce_new=reduce_new,
    reduce_all=reduce_all,
    export=export,
    demo=demo,
    to_files=to_files,
    side_tables=(IDENTITIES, MANIFESTS),
    exports_as="car",
    message_as="lines",
    reducer_option=LOG_CONFIG,
    table_functions={
        "ipfs_log_iterate": (kernels.Iterate, kernels.PART_DDL),
        "ipfs_log_traverse": (kernels.Traverse, kernels.PART_DDL),
    },
)
