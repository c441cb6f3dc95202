"""Ways in which a table on disk breaks: what a disk, a copy cut short, or somebody with an editor leaves behind."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from deltalake import DeltaTable


def commit(table: Path, version: int) -> Path:
    """The file of a commit."""
    return table / "_delta_log" / f"{version:020d}.json"


def newest(table: Path) -> Path:
    """The file of the last commit."""
    return max((table / "_delta_log").glob("*.json"))


def _number(path: Path) -> int:
    return int(path.name.partition(".")[0])


def _before(table: Path) -> Path:
    return commit(table, _number(newest(table)) - 1)


def _half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _as_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_bytes(b"no folder")


def _checksum(table: Path, files: int) -> None:
    """Checksums as Delta writes them, the last of which states other data files than there are."""
    last = _number(newest(table))
    live = len(DeltaTable(str(table)).file_uris())
    added = sum("add" in json.loads(line) for line in newest(table).read_bytes().splitlines())
    for version, count in ((last - 1, live - added), (last, files)):
        commit(table, version).with_suffix(".crc").write_text(json.dumps({"numFiles": count}))


def _lose_commit(table: Path) -> None:
    _checksum(table, len(DeltaTable(str(table)).file_uris()))
    newest(table).unlink()


def _cut_at_a_line(table: Path) -> None:
    _checksum(table, len(DeltaTable(str(table)).file_uris()))
    lines = newest(table).read_bytes().splitlines(keepends=True)
    newest(table).write_bytes(b"".join(line for line in lines if b'"add"' not in line))


def _checkpointed(table: Path, change: Callable[[Path], object], *, commits: bool = True) -> None:
    opened = DeltaTable(str(table))
    opened.create_checkpoint()
    if not commits:
        for version in range(opened.version() + 1):
            commit(table, version).unlink()
    [checkpoint] = (table / "_delta_log").glob("*.checkpoint.parquet")
    change(checkpoint)


LOGS: dict[str, tuple[Callable[[Path], object], str]] = {
    "the last commit is empty": (lambda table: newest(table).write_bytes(b""), ".json is empty"),
    "a commit in between is empty": (lambda table: _before(table).write_bytes(b""), ".json is empty"),
    "half of the last commit": (lambda table: _half(newest(table)), "it is not JSON"),
    "half of a commit in between": (lambda table: _half(_before(table)), "it is not JSON"),
    "the last commit cut at a line": (_cut_at_a_line, "was cut or altered"),
    "noise as the last commit": (lambda table: newest(table).write_bytes(bytes(range(256))), "it is not JSON"),
    "noise as the first commit": (lambda table: commit(table, 0).write_bytes(b"\xff" * 99), "it is not JSON"),
    "brackets without end as the last commit": (
        lambda table: newest(table).write_bytes(b'{"add":' + b"[" * 99_999), "it is not JSON",
    ),
    "a commit by a number": (
        lambda table: _checksum(table, 0) or newest(table).write_bytes(b'{"commitInfo":1}\n'), ".crc states 0",
    ),
    "a list as a commit": (lambda table: newest(table).write_bytes(b"[1, 2]\n"), "a line that is not an action"),
    "a folder as the last commit": (lambda table: _as_folder(newest(table)), "is not a file"),
    "a folder as a commit in between": (lambda table: _as_folder(_before(table)), "is not a file"),
    "the last commit is gone": (lambda table: newest(table).unlink(), "names version"),
    "the last commit is gone, and its checksum is there": (_lose_commit, ".json is missing, but its checksum"),
    "a commit in between is gone": (lambda table: _before(table).unlink(), ".json is missing"),
    "the first commit is gone": (lambda table: commit(table, 0).unlink(), "0.json is missing"),
    "the table is a file": (_as_file, "is not a folder"),
    "the log is gone": (lambda table: shutil.rmtree(table / "_delta_log"), "has no commit"),
    "the log is a file": (lambda table: _as_file(table / "_delta_log"), "is not a folder"),
    "the log is empty": (lambda table: [p.unlink() for p in (table / "_delta_log").iterdir()], "has no commit"),
    "a checksum that says it is empty": (lambda table: _checksum(table, 0), ".crc states 0"),
    "a checkpoint of noise": (
        lambda table: _checkpointed(table, lambda path: path.write_bytes(b"\xff" * 500), commits=False),
        ".checkpoint.parquet cannot be read",
    ),
    "half a checkpoint": (
        lambda table: _checkpointed(table, _half, commits=False), ".checkpoint.parquet cannot be read",
    ),
    "a checkpoint is gone": (
        lambda table: _checkpointed(table, lambda path: path.unlink(), commits=False), "has no commit",
    ),
    "a checkpoint that is not there is named": (
        lambda table: (table / "_delta_log" / "_last_checkpoint").write_text('{"version":99,"size":3}'),
        "_last_checkpoint names checkpoint 99",
    ),
}  # fmt: skip
"""Damage to the log of a table with four commits and more, and what the fault says of it."""


def data_file(table: Path) -> Path:
    """The data file that comes first by its path."""
    return min(path for path in table.rglob("*.parquet") if "_delta_log" not in path.parts)


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    # Behind the four bytes of the form's name: inside the first page.
    for at in range(40, 72):
        content[at] ^= 0x5A
    path.write_bytes(content)


DATA: dict[str, Callable[[Path], object]] = {
    "is gone": lambda path: path.unlink(),
    "is empty": lambda path: path.write_bytes(b""),
    "is cut": _half,
    "is noise": lambda path: path.write_bytes(b"\xff" * 2_000),
    "has bits flipped": _flip,
    "is a folder": _as_folder,
}
"""Damage to one data file."""
