"""Writes manifests, which state what files contain."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from strandline.core.errors import UsageError
from strandline.core.safe_files import open_file
from strandline.kernels.codecs import StreamDamage
from strandline.kernels.containers import StreamLimits, blocks
from strandline.kernels.formats import Formats, format_of
from strandline.kernels.manifests import (
    MANIFEST_MEMBER,
    MAX_MANIFEST_BYTES,
    VERSION,
    Invalid,
    StatedNamespace,
    parse_manifest,
)
from strandline.tables.newfile import NewFile, WrittenFile, check_free, check_place
from strandline.tables.paths import MANIFEST_SUFFIX, path_text

NO_FORMATS: Final[Formats] = {}
_NO_LIMITS: Final = StreamLimits(decompressed_bytes=2**62, ratio=2**62)
"""The author of a manifest trusts the files: no limits of decompression."""


def write_manifest(
    paths: Iterable[str | Path], *, dialect: str, records_in: Callable[[bytes, str | None], int],
    formats: Formats = NO_FORMATS, name: str | None = None,
) -> Path:  # fmt: skip
    """Write the manifest of files of one folder to that folder, and return its path.

    `records_in` counts the records of decompressed content in a format, which the file's name shows by `formats`. The
    manifest is `<name>.manifest.json`; the default name is that of the file, or with several files that of the folder.
    A reader sees the old manifest or the complete new one. The content of one file at a time is in memory: for large
    files use `write_manifest_of`.

    Raises:
        UsageError: MANIFEST_REFUSED (no file, several folders, a name that JSON cannot represent, a damaged file).
    """
    files = sorted({Path(path) for path in paths})
    folder, stem = _place(files, name)
    return _written(folder, stem, dialect, [_stated(file, records_in, formats) for file in files])


def write_manifest_of(
    written: WrittenFile, *, dialect: str, records: int, namespaces: Sequence[StatedNamespace] = ()
) -> Path:
    """Write the manifest of a file that was just written, without reading it, and return its path.

    `namespaces` are all namespaces of the file, or empty: then the manifest states none.

    Raises:
        UsageError: MANIFEST_REFUSED (a name that JSON cannot represent).
    """
    folder, stem = _place([written.path], None)
    stated = {
        "name": written.path.name,
        "records": records,
        "bytes": written.bytes,
        "sha256": written.sha256,
    }
    return _written(folder, stem, dialect, [stated], [asdict(each) for each in namespaces])


def _written(
    folder: Path, stem: str, dialect: str, files: Sequence[Mapping[str, object]],
    namespaces: Sequence[Mapping[str, object]] = (),
) -> Path:  # fmt: skip
    members = {MANIFEST_MEMBER: VERSION, "dialect": dialect, "files": files}
    if namespaces:
        members["namespaces"] = namespaces
    target = manifest_path(folder, stem)
    with NewFile(target) as file:
        file.write(json.dumps(members, indent=1, ensure_ascii=True).encode("ascii") + b"\n")
        file.publish()
    return target


def check_new(file: Path) -> None:
    """Check that a new file and its manifest replace nothing, but a manifest of this file alone, and can be written.

    Raises: UsageError OUT_IS_FOLDER, OUT_EXISTS, OUT_NAME, MANIFEST_REFUSED; FaultError OUT_NOT_WRITABLE.
    """
    check_free(file)
    check_name(file)
    check_manifest_free(file)
    check_place(file)


def check_name(file: Path) -> None:
    """Check that a file can have a manifest.

    Raises:
        UsageError: MANIFEST_REFUSED (a name that JSON cannot represent), OUT_NAME (the name of a manifest, or one with
            a path separator of another system).
    """
    _place([file], None)
    if file.name.endswith(os.fsdecode(MANIFEST_SUFFIX)) or "\\" in file.name:
        raise UsageError(
            "OUT_NAME",
            f"a file of the name {file.name} cannot have a manifest",
            "name another file with --out",
        )


def check_manifest_free(file: Path) -> None:
    """Check that nothing has the name of the manifest of a file, but a manifest of this file alone.

    A run that was killed before its file appeared leaves such a manifest, and the next one replaces it.
    Raises: UsageError OUT_EXISTS.
    """
    target = manifest_path(file.parent, file.name)
    try:
        with open_file(target, follow=False) as stream:
            head = stream.read(MAX_MANIFEST_BYTES + 1)
    except FileNotFoundError:
        return
    except OSError:
        head = b""
    # Of which dialect it is does not matter: for a reader of none, each manifest is one of others.
    content = parse_manifest(head, len(head), dialect="")
    if not isinstance(content, Invalid) or content.of_others != (file.name,):
        raise UsageError(
            "OUT_EXISTS",
            f"the file {target} exists, and is no manifest of {file.name} alone",
            "name a new file with --out, or move the old one",
        )


def manifest_path(folder: Path, stem: str) -> Path:
    """Return where the manifest of a stem is."""
    return folder / f"{stem}{os.fsdecode(MANIFEST_SUFFIX)}"


def _place(files: Sequence[Path], name: str | None) -> tuple[Path, str]:
    folders = {file.parent.resolve() for file in files}
    if len(folders) != 1:
        raise _refused("It names no file." if not files else "Its files are in several folders.")
    for file in files:
        if not _is_utf8(file.name):
            raise _refused(
                f"The name {path_text(os.fsencode(file))} is not UTF-8, so JSON cannot represent it."
            )
    [real] = folders
    return files[0].parent, name or (files[0].name if len(files) == 1 else real.name or "files")


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _stated(
    file: Path, records_in: Callable[[bytes, str | None], int], formats: Formats
) -> dict[str, object]:
    try:
        with open_file(file) as stream:
            content = b"".join(blocks(stream, _NO_LIMITS))
    except StreamDamage as damage:
        raise _refused(f"{file} is damaged: {damage.cause}.") from None
    return {
        "name": file.name,
        "records": records_in(content, format_of(file.name, formats)),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _refused(why: str) -> UsageError:
    return UsageError(
        "MANIFEST_REFUSED", f"No manifest was written. {why}", "Give complete files of one folder."
    )
