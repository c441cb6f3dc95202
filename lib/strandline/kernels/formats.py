"""What the name of a file tells of its content."""

from collections.abc import Mapping
from typing import Final, TypeAlias

Formats: TypeAlias = Mapping[str, tuple[str, ...]]
"""Formats by name, each with the endings, in lower case, that tell it."""

_CONTAINER_ENDINGS: Final = (".gz", ".zst")


def format_of(name: str, formats: Formats) -> str | None:
    """Return the format that a name's ending tells, in either case; one ending of a container is looked through."""
    lower = name.lower()
    ending = next((each for each in _CONTAINER_ENDINGS if lower.endswith(each)), "")
    lower = lower.removesuffix(ending)
    return next((each for each, endings in formats.items() if lower.endswith(endings)), None)
