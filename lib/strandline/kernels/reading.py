"""Whole files to pieces: the way in for every file that Spark's own reader does not take."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import IO

import pyarrow as pa

from strandline.core.safe_files import open_file, spelled, why_unreadable
from strandline.core.verdict import encode_evidence
from strandline.kernels.codecs import BLOCK_BYTES, FILE_UNREADABLE, StreamDamage
from strandline.kernels.containers import StreamLimits, blocks
from strandline.kernels.lines import (
    BYTE_ORDER_MARK,
    CappedBytes,
    CappedReader,
    RawLimits,
    StreamLine,
    stream_lines,
    without_mark,
)
from strandline.kernels.pieces import DAMAGE_FRAME, Pieces

WHITE_SPACE = b" \t\n\r\x0b\x0c"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What decides how bytes become pieces: the lake's choices, limits of a stream, how much of a bad record is kept.

    `choices` are what the lake was made with, by the name of the dialect's option. `tally` is told how many pieces
    each batch has that is read, so that someone may show how far a run is.
    """

    choices: Mapping[str, str]
    stream: StreamLimits
    keep: RawLimits
    tally: Callable[[int], object] | None = None


@dataclass(slots=True)
class Source:
    """One file: its number, and a way to open it from the start as often as it takes.

    `format` is what its name, or the command, says that it holds; None where the dialect looks at the content.
    `path` is empty where the content is no file.
    `damage` is what a look at the whole content met, behind which nothing was read.
    """

    file_no: int
    open: Callable[[], IO[bytes]]
    format: str | None = None
    path: bytes = b""
    damage: StreamDamage | None = None

    def kept(self, limits: RawLimits) -> CappedBytes:
        """Return the file's own bytes, compressed if it is, as far as they are kept."""
        keeper = CappedReader(limits)
        with self.open() as stream:
            while block := stream.read(BLOCK_BYTES):
                keeper.add(block)
        return keeper.kept()

    def kept_content(self, options: ReadOptions) -> CappedBytes:
        """Return the decompressed content without its byte order mark, up to a damage, as far as it is kept."""
        keeper = CappedReader(options.keep)
        with self.open() as stream:
            try:
                content = Content(lambda: _blocks(stream, options))
                for block in content:
                    keeper.add(block)
                self.damage = content.damage
            except StreamDamage as damage:
                self.damage = damage
        return keeper.kept()


class Content:
    """The decompressed blocks of a file without its byte order mark, with a look at how they begin.

    `begin` gives the blocks, from the start on each call. `offset` is where they begin in the decompressed stream,
    bytes: 3 behind a byte order mark, the start of a split, else 0. `part` is that start; `until`: lines that begin at
    this offset or behind belong to the next split.

    A stream that is damaged ends before its `damage`, so that its last line is judged as far as it came. Where a limit
    stops the reading the line goes on behind it: then the damage is raised, and that line is not judged.
    """

    def __init__(
        self, begin: Callable[[], Iterator[bytes]], *, part: int = 0, until: int | None = None
    ) -> None:
        self._begin = begin
        self._stream = self._until_damage(begin())
        self._held: list[bytes] = []
        self._holds = True
        self.damage: StreamDamage | None = None
        self.part = part
        self.until = until
        self.offset = part
        if not part:
            self._drop_mark()
        if until is not None:
            # A split that ends inside the mark still has the first line.
            self.until = max(until, self.offset)

    def _until_damage(self, stream: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from stream
        except StreamDamage as met:
            if met.reason == "BOMB":
                raise
            self.damage = met

    def _drop_mark(self) -> None:
        head = b""
        for block in self._stream:
            head += block
            if len(head) >= len(BYTE_ORDER_MARK):
                break
        self.offset = mark_bytes(head)
        head = head[self.offset :]
        if head:
            self._held.append(head)

    def first_mark(self) -> bytes:
        """Return the first byte that is no ASCII white space (b"" if there is none), and stand before the white space.

        Any amount of white space is looked through; of more than 1 MiB none is held, and the stream begins anew.
        """
        looked = 0
        for block in chain(tuple(self._held), self._unheld()):
            stripped = block.lstrip(WHITE_SPACE)
            if stripped:
                return stripped[:1]
            looked += len(block)
            if looked > BLOCK_BYTES:
                self._holds = False
                self._held.clear()
        return b""

    def _unheld(self) -> Iterator[bytes]:
        for block in self._stream:
            if self._holds:
                self._held.append(block)
            yield block

    @property
    def empty(self) -> bool:
        """True if the stream held no byte, once `first_mark` was asked."""
        return self._holds and not self._held

    def __iter__(self) -> Iterator[bytes]:
        while self._held:
            yield self._held.pop(0)
        yield from self._stream if self._holds else without_mark(self._until_damage(self._begin()))


ReadContent = Callable[[Source, Content, Pieces, ReadOptions], Iterator[None]]
"""A dialect's framing: adds the pieces of one file, yielding often so that full batches leave."""


def read_files(
    batches: Iterable[pa.RecordBatch],
    options: ReadOptions,
    read_content: ReadContent,
    extra: tuple[pa.Field, ...],
) -> Iterator[pa.RecordBatch]:
    """Yield the pieces of whole files, in the order of each file, whatever container it has.

    Reads: file_no, format, path (BINARY, as `core.safe_files` opens it), content (BINARY; null: the task opens the
    path), part and until (the split of a plain file of lines, bytes; 0 and null for a whole file).
    Gives: PIECE_FIELDS and `extra`. What cannot be read on is one piece with `damage` whose raw bytes are
    those of the file as it lies there; what came before it stands.
    """
    for read in _read_files(batches, options, read_content, Pieces(extra)):
        if options.tally is not None:
            options.tally(read.num_rows)
        yield read


def _read_files(
    batches: Iterable[pa.RecordBatch], options: ReadOptions, read_content: ReadContent, pieces: Pieces
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        names = ("file_no", "format", "path", "content", "part", "until")
        columns = (batch.column(name).to_pylist() for name in names)
        for file_no, form, path, content, part, until in zip(*columns, strict=True):
            source = Source(file_no, _opener(path, content), form, spelled(path))
            for _ in _read_file(source, part, until, pieces, options, read_content):
                yield from pieces.full()
    yield from pieces.rest()


def read_one(
    file_no: int, content: bytes, pieces: Pieces, options: ReadOptions, read_content: ReadContent,
    format: str | None = None,  # noqa: A002
) -> Iterator[None]:  # fmt: skip
    """Add the pieces of one file whose bytes are at hand, yielding often so that full batches leave."""
    return _read_file(Source(file_no, _opener(b"", content), format), 0, None, pieces, options, read_content)


def split_lines(content: Content, *, limit: int, keep: RawLimits) -> Iterator[tuple[int, StreamLine]]:
    """Yield the lines of a file, or those that begin in a split of it, each with its number from the start."""
    for number, line in enumerate(stream_lines(content, limit=limit, keep=keep, offset=content.offset)):
        if number == 0 and content.part:
            continue  # the split before reads on to the end of the line that it began
        if content.until is not None and line.offset > content.until:
            return
        yield number, line


def _opener(path: bytes, content: bytes | None) -> Callable[[], IO[bytes]]:
    if content is None:
        return lambda: open_file(path)
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
    """Add what could not be read on. Its bytes are those of the file, or its path where that cannot be read at all."""
    try:
        kept = None if damage.reason == FILE_UNREADABLE else source.kept(options.keep)
    except OSError as error:
        damage, kept = _unreadable(error, damage.offset), None
    evidence = encode_evidence({damage.reason: {"cause": damage.cause, "offset": damage.offset}})
    path = CappedBytes(source.path, len(source.path))
    pieces.add(
        source.file_no, 0, DAMAGE_FRAME, damage.offset, 0, kept or path,
        damage=damage.reason, evidence=evidence,
    )  # fmt: skip


def _unreadable(error: OSError, offset: int) -> StreamDamage:
    return StreamDamage(FILE_UNREADABLE, why_unreadable(error), offset)


def _blocks(stream: IO[bytes], options: ReadOptions) -> Iterator[bytes]:
    return _while_readable(stream, 0, lambda: blocks(stream, options.stream))


def _plain_blocks(stream: IO[bytes], start: int) -> Iterator[bytes]:
    return _while_readable(stream, start, lambda: iter(partial(stream.read, BLOCK_BYTES), b""))


def _while_readable(stream: IO[bytes], start: int, begin: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """Yield blocks of a stream. Where the file system fails, that is a damage like any other."""
    given = start
    try:
        stream.seek(start)
        for block in begin():
            yield block
            given += len(block)
    except OSError as error:
        raise _unreadable(error, given) from None


def mark_bytes(head: bytes) -> int:
    """Return the length of the byte order mark at the start of `head`: 3 or 0."""
    return len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
