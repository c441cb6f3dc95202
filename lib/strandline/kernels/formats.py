"""Formats of files by their names."""

from collections.abc import Mapping
from typing import Final, TypeAlias

Formats: TypeAlias = Mapping[str, tuple[str, ...]]
"""Formats by name, each with its file name endings in lower case."""

_CONTAINER_ENDINGS: Final = (".gz", ".zst")


def format_of(name: str, formats: Formats) -> str | None:
    """Return the format of a name by its ending, ignoring case and one ending of a container."""
    lower = name.lower()
    ending = next((each for each in _CONTAINER_ENDINGS if lower.endswith(each)), "")
    lower = lower.removesuffix(ending)
    return next((each for each, endings in formats.items() if lower.endswith(endings)), None)
