"""Reads files, or splits of them, to pieces."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import IO, Final

import pyarrow as pa

from strandline.core.safe_files import why_unreadable
from strandline.core.verdict import encode_evidence
from strandline.kernels.codecs import BLOCK_BYTES, FILE_UNREADABLE, StreamDamage
from strandline.kernels.containers import StreamLimits, blocks
from strandline.kernels.inputs import open_input, shown_path
from strandline.kernels.lines import CappedBytes, CappedReader, RawLimits
from strandline.kernels.opened import Content
from strandline.kernels.pieces import DAMAGE_FRAME, Pieces


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of reading: the lake's options, limits of a stream, limits of stored bytes of a bad record.

    `lake_options` are those of the dialect by name. `tally` is called with the number of pieces of each batch, for
    progress.
    """

    lake_options: Mapping[str, str]
    stream: StreamLimits
    keep: RawLimits
    tally: Callable[[int], object] | None = None


@dataclass(slots=True)
class Source:
    """One file: its number, and a function that opens it from the start, any number of times.

    `format` is that of its name or of the command; None if the dialect checks the content. `path` is empty if the
    content is not a file. `label` is what the head of a file that is read in splits states for all of its lines.
    `damage` is the damage that a reader of the whole content found.
    """

    file_no: int
    open: Callable[[], IO[bytes]]
    format: str | None = None
    path: bytes = b""
    label: str | None = None
    damage: StreamDamage | None = None

    def kept(self, options: ReadOptions) -> CappedBytes:
        """Return the stored bytes of the file itself, which may be compressed.

        At most so many bytes are read as the limit of a stream allows, since a sparse file has no end. What is cut so
        does not count as whole.
        """
        reader = CappedReader(options.keep)
        left = max(options.stream.decompressed_bytes, options.keep.whole_bytes + 1)
        with self.open() as stream:
            while block := stream.read(min(BLOCK_BYTES, left)):
                reader.add(block)
                left -= len(block)
        return reader.kept()

    def kept_content(self, options: ReadOptions) -> CappedBytes:
        """Return the stored bytes of the decompressed content, up to a damage, without its byte order mark."""
        reader = CappedReader(options.keep)
        with self.open() as stream:
            try:
                content = Content(lambda: _blocks(stream, options))
                for block in content:
                    reader.add(block)
                self.damage = content.damage
            except StreamDamage as damage:
                self.damage = damage
        return reader.kept()


LISTED: Final = pa.schema(
    [
        pa.field("file_no", pa.int64(), nullable=False),
        pa.field("format", pa.string()),
        pa.field("path", pa.binary(), nullable=False),
        pa.field("content", pa.binary()),
        pa.field("part", pa.int64(), nullable=False),
        pa.field("until", pa.int64()),
        pa.field("label", pa.string()),
    ]
)
"""What `read_files` reads."""

ReadContent = Callable[[Source, Content, Pieces, ReadOptions], Iterator[None]]
"""The framing of a dialect: adds the pieces of one file; yields often, so that full batches are passed on."""


def read_files(
    batches: Iterable[pa.RecordBatch],
    options: ReadOptions,
    read_content: ReadContent,
    extra: tuple[pa.Field, ...],
) -> Iterator[pa.RecordBatch]:
    """Yield the pieces of files, in the order of each file.

    Reads: file_no, format, path (BINARY, for `inputs.open_input`), content (BINARY; null: the task opens the path),
    part and until (the split of a plain file of lines, bytes; 0 and null for a whole file), label (of a split, or
    null).
    Gives: PIECE_FIELDS and `extra`. A damage is one piece with `damage` whose raw bytes are those of the stored file;
    the pieces before it are valid.
    """
    return read_to(batches, options, read_content, Pieces(extra))


def read_to(
    batches: Iterable[pa.RecordBatch], options: ReadOptions, read_content: ReadContent, pieces: Pieces
) -> Iterator[pa.RecordBatch]:
    """Yield what `pieces` makes of the pieces of files; otherwise as `read_files`."""
    for read in _read_files(batches, options, read_content, pieces):
        if options.tally is not None:
            options.tally(read.num_rows)
        yield read


def _read_files(
    batches: Iterable[pa.RecordBatch], options: ReadOptions, read_content: ReadContent, pieces: Pieces
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in LISTED.names)
        for file_no, form, path, content, part, until, label in zip(*columns, strict=True):
            source = Source(file_no, _opener(path, content), form, shown_path(path), label)
            for _ in _read_file(source, part, until, pieces, options, read_content):
                yield from pieces.full()
    yield from pieces.rest()


def read_one(
    file_no: int, content: bytes, pieces: Pieces, options: ReadOptions, read_content: ReadContent,
    format: str | None = None,  # noqa: A002
) -> Iterator[None]:  # fmt: skip
    """Add the pieces of one file given by its bytes; yields often, so that full batches are passed on."""
    return _read_file(Source(file_no, _opener(b"", content), format), 0, None, pieces, options, read_content)


def _opener(path: bytes, content: bytes | None) -> Callable[[], IO[bytes]]:
    if content is None:
        return lambda: open_input(path)
    return lambda: io.BytesIO(content)


def _read_file(
    source: Source,
    part: int,
    until: int | None,
    pieces: Pieces,
    options: ReadOptions,
    read_content: ReadContent,
) -> Iterator[None]:
    try:
        opened = source.open()
    except OSError as error:
        _add_damage(source, _unreadable(error, 0), pieces, options)
        yield
        return
    with opened as stream:

        def begin() -> Iterator[bytes]:
            return _blocks(stream, options) if until is None else _plain_blocks(stream, part)

        try:
            content = Content(begin, part=part, until=until)
            yield from read_content(source, content, pieces, options)
            source.damage = source.damage or content.damage
        except StreamDamage as met:
            source.damage = met
        if source.damage is not None:
            _add_damage(source, source.damage, pieces, options)
            yield


def _add_damage(source: Source, damage: StreamDamage, pieces: Pieces, options: ReadOptions) -> None:
    """Add a damage. Its bytes are those of the file, or the path if the file cannot be read at all.

    Its part is its offset: no part of what was read before it starts later.
    """
    try:
        kept = None if damage.reason == FILE_UNREADABLE else source.kept(options)
    except OSError as error:
        damage, kept = _unreadable(error, damage.offset), None
    evidence = encode_evidence({damage.reason: {"cause": damage.cause, "offset": damage.offset}})
    path = CappedBytes(source.path, len(source.path))
    pieces.add(
        source.file_no, damage.offset, DAMAGE_FRAME, damage.offset, 0, kept or path,
        damage=damage.reason, evidence=evidence,
    )  # fmt: skip


def _unreadable(error: OSError, offset: int) -> StreamDamage:
    return StreamDamage(FILE_UNREADABLE, why_unreadable(error), offset)


def _blocks(stream: IO[bytes], options: ReadOptions) -> Iterator[bytes]:
    return _while_readable(stream, 0, lambda: blocks(stream, options.stream))


def _plain_blocks(stream: IO[bytes], start: int) -> Iterator[bytes]:
    return _while_readable(stream, start, lambda: iter(partial(stream.read, BLOCK_BYTES), b""))


def _while_readable(stream: IO[bytes], start: int, begin: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """Yield blocks of a stream; an error of the file system becomes a StreamDamage."""
    given = start
    try:
        stream.seek(start)
        for block in begin():
            yield block
            given += len(block)
    except OSError as error:
        raise _unreadable(error, given) from None
