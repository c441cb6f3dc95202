"""Finds the format of each file by its name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from strandline.core.errors import UsageError
from strandline.kernels.formats import Formats, format_of
from strandline.tables.sources import InputFile, Selection


def check_format(formats: Formats, given: str | None) -> None:
    """Check the given format, None without one. Raises: UsageError FORMAT_UNKNOWN (the dialect does not have it)."""
    if given is not None and given not in formats:
        known = ", ".join(formats)
        raise UsageError(
            "FORMAT_UNKNOWN",
            f"The format {given} does not exist.",
            f"Give --format one of: {known}."
            if formats
            else "Leave out --format: the content shows the format.",
        )


def with_formats(selection: Selection, formats: Formats, given: str | None) -> Selection:
    """Return the selection with the format of each file: the given one, else that of its name.

    Raises:
        UsageError: FORMAT_UNKNOWN as `check_format`, FORMAT_MISSING (a name without a known ending).
    """
    check_format(formats, given)
    if not formats:
        return selection
    return replace(selection, files=tuple(_with_format(file, formats, given) for file in selection.files))


def _with_format(file: InputFile, formats: Mapping[str, tuple[str, ...]], given: str | None) -> InputFile:
    found = given or format_of(os.fsdecode(os.path.basename(file.path)), formats)
    if found is None:
        endings = ", ".join(ending for each in formats.values() for ending in each)
        raise UsageError(
            "FORMAT_MISSING",
            f"The name {file.source} does not show the format of the file.",
            f"Give --format one of: {', '.join(formats)}; or use a name that ends with one of: {endings}.",
        )
    return replace(file, format=found)
