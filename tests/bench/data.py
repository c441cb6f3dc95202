"""The input: made-up journals, made once and kept below the system's folder for temporary files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench.rows import Stretch, journal_rows
from bench.sizes import CHUNKS, Sizes
from strandline.core.ids import bucket_of, namespace
from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp.author import synthetic, synthetic_id

EDITION = 1
"""Counted up when files of the same name get other content."""

LONG = 0
"""Number of the one long journal; those of the chunks count from 1."""

FRAME_FILES = 100
"""Files of frames of many journals."""

TIP_BUCKETS = 2
BUCKETS = 16


def cache_folder() -> Path:
    """Return the folder of all made-up input of this user."""
    return Path(tempfile.gettempdir()) / f"strandline-bench-{os.getuid()}"


@dataclass(frozen=True, slots=True)
class Data:
    """The input of one size; each part is made when it is first asked for."""

    folder: Path
    sizes: Sizes

    @staticmethod
    def of(sizes: Sizes, cache: Path) -> Data:
        """Return the input of these sizes below the folder `cache`."""
        return Data(cache / f"{EDITION}-{sizes.journals}x{sizes.length}", sizes)

    def many(self, chunks: int = 1) -> tuple[str, ...]:
        """Return the folders of so many chunks: a text journal a file. Journals 1 to chunks * journals."""
        wanted = [(self._chunk(number), number, self.sizes) for number in range(chunks)]
        missing = [each for each in wanted if not each[0].exists()]
        if len(missing) > 1:
            with ProcessPoolExecutor(min(len(missing), os.cpu_count() or 1)) as pool:
                list(pool.map(_make_chunk, *zip(*missing, strict=True)))
        elif missing:
            _make_chunk(*missing[0])
        return tuple(str(folder) for folder, _, _ in wanted)

    def _chunk(self, number: int) -> Path:
        return self.folder / "many" / f"{number:02d}"

    def one(self) -> Path:
        """Return the file of the one long journal."""
        return self._long() / "long.journal"

    def one_more(self) -> Path:
        """Return the frame of `length` lines that follow the long journal."""
        return self._long() / "more.frames"

    def _long(self) -> Path:
        def make(folder: Path) -> None:
            lines = synthetic(LONG, self.sizes.lines + self.sizes.length)
            last = _write_journal(folder / "long.journal", islice(lines, self.sizes.lines))
            (folder / "more.frames").write_bytes(_frame(synthetic_id("node", LONG), last, lines))

        return kept(self.folder / "long", make)

    def short(self) -> Path:
        """Return the file of one short journal, number 1."""
        self.many()
        return self._chunk(0) / "0000001.journal"

    def more_of(self, journals: Iterable[int], name: str, lines: int | None = None) -> Path:
        """Return a folder of frames that bring `lines` lines (as many as they have) after the last of each journal."""
        added = lines or self.sizes.length

        def make(folder: Path) -> None:
            for number in journals:
                every = synthetic(number, self.sizes.length + added)
                held = list(islice(every, self.sizes.length))
                frame = _frame(synthetic_id("node", number), held[-1], every)
                (folder / f"{number:07d}.frames").write_bytes(frame)

        return kept(self.folder / name, make)

    def touched(self, chunks: int = CHUNKS) -> range:
        """Return the journals of news of 1 %, spread over so many chunks."""
        every = self.sizes.journals * chunks
        wanted = max(1, every // 100)
        return range(1, every + 1, every // wanted)[:wanted]

    def announced(self) -> Path:
        """Return a folder of frames in which the nodes of one chunk announce what their journals say."""

        def make(folder: Path) -> None:
            for number in range(1, self.sizes.journals + 1):
                frame = codec.announce(synthetic_id("node", number), self.pairs(number))
                (folder / f"{number:07d}.frames").write_bytes(frame + b"\n")

        return kept(self.folder / "announced", make)

    def pairs(self, number: int) -> list[tuple[str, str]]:
        """Return the pairs of the lines of journal `number`, in their order."""
        lines = islice(synthetic(number, self.sizes.length), 1, None)
        return [(pair[65:129].decode("ascii"), pair[130:].decode("ascii")) for pair in lines]

    def frames(self, journals: int, length: int) -> Path:
        """Return a folder of so many whole journals of `length` lines, a frame each, in a few files."""

        def make(folder: Path) -> None:
            for number in range(FRAME_FILES):
                with (folder / f"{number:04d}.frames").open("wb") as file:
                    for journal in range(number + 1, journals + 1, FRAME_FILES):
                        node = synthetic_id("node", journal)
                        file.write(codec.batch(node, node, synthetic(journal, length)) + b"\n")

        return kept(self.folder / f"frames-{journals}x{length}", make)

    def in_tip_buckets(self) -> list[int]:
        """Return as many journals as news of 1 % touch, all of two buckets."""
        every = range(1, self.sizes.journals * CHUNKS + 1)
        inside = (number for number in every if bucket_of(namespace_of(number), BUCKETS) < TIP_BUCKETS)
        return list(islice(inside, self.sizes.touched))

    def rows_of_more(self, number: int) -> Path:
        """Return the Parquet file of the rows that follow the tip of journal `number`, as many as it has."""
        length = self.sizes.length
        more = islice(synthetic(number, 2 * length), length, None)
        return self._rows(f"rows-more-{number}", (Stretch(namespace_of(number), length + 1, more),))

    def rows_of_new_journals(self) -> Path:
        """Return the Parquet file of the rows of whole journals, as many lines as news of 1 %, none of them held."""
        first = self.sizes.journals * CHUNKS + 1
        stretches = (
            Stretch(namespace_of(number), 1, synthetic(number, self.sizes.length))
            for number in range(first, first + self.sizes.touched)
        )
        return self._rows("rows-new", stretches)

    def rows_at_tips(self) -> Path:
        """Return the Parquet file of the rows that follow the tips of journals of two buckets."""
        length = self.sizes.length
        stretches = (
            Stretch(namespace_of(number), length + 1, islice(synthetic(number, 2 * length), length, None))
            for number in self.in_tip_buckets()
        )
        return self._rows("rows-tips", stretches)

    def _rows(self, name: str, stretches: Iterable[Stretch]) -> Path:
        def make(folder: Path) -> None:
            journal_rows(stretches, run_id="bench", buckets=BUCKETS).write_parquet(folder / "rows.parquet")

        return kept(self.folder / name, make) / "rows.parquet"


def namespace_of(number: int) -> str:
    """Return the namespace of made-up journal `number`."""
    return namespace("node", synthetic_id("node", number))


def text_bytes(sources: Iterable[str | Path]) -> int:
    """Return the bytes of files and of the files in folders."""
    total = 0
    for source in map(Path, sources):
        files = source.iterdir() if source.is_dir() else (source,)
        total += sum(file.stat().st_size for file in files)
    return total


def kept(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return `folder`, made if it is not there; what a kill leaves half made never has its name."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
        make(fresh)
        try:
            fresh.rename(folder)
        except OSError:
            shutil.rmtree(fresh)
            if not folder.exists():
                raise
    return folder


def _make_chunk(folder: Path, number: int, sizes: Sizes) -> None:
    def make(fresh: Path) -> None:
        first = number * sizes.journals + 1
        for journal in range(first, first + sizes.journals):
            _write_journal(fresh / f"{journal:07d}.journal", synthetic(journal, sizes.length))

    kept(folder, make)


def _write_journal(path: Path, lines: Iterator[bytes]) -> bytes:
    """Write a text journal and return its last line."""
    last = next(lines)
    with path.open("wb") as file:
        file.write(last)
        for line in lines:
            file.write(b"\n" + line)
            last = line
    return last


def _frame(node: str, last: bytes, more: Iterable[bytes]) -> bytes:
    """Return the frame, with LF, of the lines that follow the line `last`."""
    return codec.batch(node, last[: len(node)].decode("ascii"), more) + b"\n"
