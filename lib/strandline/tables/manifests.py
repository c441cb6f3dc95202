"""Reads and writes manifests, which state what input files contain."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from strandline.core.errors import FaultError, UsageError
from strandline.core.safe_files import open_file, why_unreadable
from strandline.kernels.codecs import StreamDamage
from strandline.kernels.containers import StreamLimits, blocks
from strandline.kernels.formats import Formats, format_of
from strandline.kernels.inputs import open_input, real_path
from strandline.kernels.lines import CappedBytes, CappedReader, RawLimits
from strandline.kernels.manifests import (
    MANIFEST_MEMBER,
    MAX_MANIFEST_BYTES,
    VERSION,
    Invalid,
    NotAManifest,
    StatedNamespace,
    Statement,
    parse_manifest,
)
from strandline.tables.beside import KnownManifests
from strandline.tables.newfile import NewFile, WrittenFile, check_free
from strandline.tables.paths import MANIFEST_SUFFIX, FoundBy, path_text
from strandline.tables.sources import ManifestFile, Selection, numbered

NO_FORMATS: Final[Formats] = {}
_NO_LIMITS: Final = StreamLimits(decompressed_bytes=2**62, ratio=2**62)
"""The author of a manifest trusts the files: no limits of decompression."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest: its stored bytes, and its statement or why it is invalid."""

    path: bytes
    found_by: FoundBy
    raw: CappedBytes
    content: Statement | Invalid

    @property
    def folder(self) -> bytes:
        """The folder whose files it names, without links."""
        return real_path(os.path.dirname(self.path))

    @property
    def named(self) -> tuple[bytes, ...]:
        """The paths of the files that it names, in its folder; none if it is invalid for its own dialect."""
        if isinstance(self.content, Invalid):
            names = self.content.of_others or ()
        else:
            names = tuple(each.name for each in self.content.files)
        folder = self.folder
        return tuple(os.path.join(folder, name.encode("utf-8")) for name in names)

    @property
    def source(self) -> str:
        """The path as text; bytes that are not UTF-8 show as `\\xNN`."""
        return path_text(self.path)


def load_manifests(
    selection: Selection, *, dialect: str, keep: RawLimits, known: KnownManifests | None = None
) -> tuple[Selection, tuple[Manifest, ...]]:
    """Return the selection with all its input files, and its manifests, read.

    A `*.manifest.json` without the member `strandline_manifest` is not a manifest: it is input like any other file,
    unless it was only found in the folder of a given file. A manifest of another dialect about other files is ignored.
    `known` keeps what was read beside given files.

    Raises:
        FaultError: SOURCE_UNREADABLE (a manifest that cannot be opened).
    """
    manifests: list[Manifest] = []
    inputs: dict[bytes, tuple[bytes, bytes]] = {}
    given = {file.real for file in selection.files}
    sizes = {file.real: file.size for file in selection.files}
    for file in selection.manifests:
        kept, head, length = _read(file, keep)
        content = parse_manifest(head, length, dialect=dialect)
        manifest = (
            None if isinstance(content, NotAManifest) else Manifest(file.path, file.found_by, kept, content)
        )
        if known is not None and file.beside is not None:
            known.keep(file.beside, () if manifest is None else manifest.named)
        if manifest is not None:
            if not _is_foreign(manifest, given):
                manifests.append(manifest)
        elif file.found_by != "beside":
            real = real_path(file.path)
            inputs.setdefault(real, (file.path, file.guarded))
            sizes[real] = length
    if inputs:
        files = {**inputs, **{each.real: (each.path, each.guarded) for each in selection.files}}
        every = ((path, real, opened) for real, (path, opened) in files.items())
        selection = replace(selection, files=numbered(every, sizes))
    return selection, tuple(manifests)


def _is_foreign(manifest: Manifest, given: Container[bytes]) -> bool:
    """Return whether a manifest from the folder of given files is of another dialect and names none of them."""
    content = manifest.content
    if manifest.found_by != "beside" or not isinstance(content, Invalid) or content.of_others is None:
        return False
    return not any(real_path(path) in given for path in manifest.named)


def _read(file: ManifestFile, keep: RawLimits) -> tuple[CappedBytes, bytes, int]:
    """Return the stored bytes of a file; its first bytes, up to the maximum size of a manifest; and its length.

    No more is read of a longer file, since a sparse one has no end: its digest is that of the bytes that were read.
    """
    reader = CappedReader(replace(keep, whole_bytes=min(keep.whole_bytes, MAX_MANIFEST_BYTES)))
    try:
        with open_input(file.guarded) as stream:
            head = stream.read(MAX_MANIFEST_BYTES + 1)
            reader.add(head)
            length = len(head) if len(head) <= MAX_MANIFEST_BYTES else stream.seek(0, os.SEEK_END)
    except OSError as error:
        raise FaultError(
            "SOURCE_UNREADABLE",
            f"The manifest {path_text(file.path)} cannot be read: {why_unreadable(error)}.",
            "Correct that and run the command again.",
        ) from error
    return reader.kept(), head[:MAX_MANIFEST_BYTES], length


def write_manifest(
    paths: Iterable[str | Path], *, dialect: str, records_in: Callable[[bytes, str | None], int],
    formats: Formats = NO_FORMATS, name: str | None = None,
) -> Path:  # fmt: skip
    """Write the manifest of files of one folder to that folder, and return its path.

    `records_in` counts the records of decompressed content in a format, which the file's name shows by `formats`. The
    manifest is `<name>.manifest.json`; the default name is that of the file, or with several files that of the folder.
    A reader sees the old manifest or the complete new one.

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
    """Check that a new file and its manifest replace nothing, but a manifest of this file alone.

    Raises: UsageError OUT_IS_FOLDER, OUT_EXISTS, OUT_NAME, MANIFEST_REFUSED.
    """
    check_free(file)
    check_name(file)
    check_manifest_free(file)


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
