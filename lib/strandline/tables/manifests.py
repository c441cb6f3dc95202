"""Reads manifests, which state what input files contain."""

from __future__ import annotations

import os
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Final

from strandline.core.errors import FaultError, UsageError
from strandline.core.safe_files import why_unreadable
from strandline.kernels.inputs import open_input, real_path
from strandline.kernels.lines import CappedBytes, CappedReader, RawLimits
from strandline.kernels.manifests import (
    MAX_MANIFEST_BYTES,
    Invalid,
    NotAManifest,
    Statement,
    parse_manifest,
)
from strandline.tables.beside import KnownManifests
from strandline.tables.paths import FoundBy, path_text
from strandline.tables.sources import ManifestFile, Selection, numbered

MAX_MANIFESTS_BYTES: Final = 256 * 1024 * 1024
"""Of all manifests of a run, as far as they are kept: their statements are in the driver until it ends."""


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
        UsageError: TOO_MANY_FILES (manifests of more than MAX_MANIFESTS_BYTES).
        FaultError: SOURCE_UNREADABLE (a manifest that cannot be opened).
    """
    manifests: list[Manifest] = []
    held = 0
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
                held += _held_bytes(manifest, len(head))
                _check_held(held)
        elif file.found_by != "beside":
            real = real_path(file.path)
            inputs.setdefault(real, (file.path, file.guarded))
            sizes[real] = length
    if inputs:
        files = {**inputs, **{each.real: (each.path, each.guarded) for each in selection.files}}
        every = ((path, real, opened) for real, (path, opened) in files.items())
        selection = replace(selection, files=numbered(every, sizes))
    return selection, tuple(manifests)


def _held_bytes(manifest: Manifest, length: int) -> int:
    """Return what a manifest of this length keeps: its statement, or of an invalid one the first stored bytes."""
    content = manifest.content
    is_stated = not isinstance(content, Invalid) or content.of_others is not None
    return length if is_stated else len(manifest.raw.raw)


def _check_held(held: int) -> None:
    if held > MAX_MANIFESTS_BYTES:
        raise UsageError(
            "TOO_MANY_FILES",
            f"The manifests of the input have more than {MAX_MANIFESTS_BYTES >> 20} MiB together.",
            "Ingest it folder by folder, or leave manifests out.",
        )


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
