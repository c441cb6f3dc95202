"""Which format each file is read as, where a dialect's formats are told by names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from strandline.core.errors import UsageError
from strandline.kernels.formats import Formats, format_of
from strandline.tables.sources import InputFile, Selection


def with_formats(selection: Selection, formats: Formats, given: str | None) -> Selection:
    """Return the selection with the format of each file: the one given, else the one that its name tells.

    Raises:
        UsageError: FORMAT_UNKNOWN (a name that the dialect has no format of, or it has none at all), FORMAT_MISSING (a
            file whose name tells none).
    """
    if given is not None and given not in formats:
        known = ", ".join(formats)
        raise UsageError(
            "FORMAT_UNKNOWN",
            f"There is no format {given}.",
            f"Give --format one of: {known}." if formats else "Leave out --format: the content tells.",
        )
    if not formats:
        return selection
    return replace(selection, files=tuple(_formed(file, formats, given) for file in selection.files))


def _formed(file: InputFile, formats: Mapping[str, tuple[str, ...]], given: str | None) -> InputFile:
    found = given or format_of(os.fsdecode(os.path.basename(file.path)), formats)
    if found is None:
        endings = ", ".join(ending for each in formats.values() for ending in each)
        raise UsageError(
            "FORMAT_MISSING",
            f"The name {file.source} does not tell what the file holds.",
            f"Give --format one of: {', '.join(formats)}; or end the name with one of: {endings}.",
        )
    return replace(file, format=found)
