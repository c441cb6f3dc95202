"""The arguments of `reduce`: of the command, of streams and of `sync`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.reduction import WALK_ENTRIES


@dataclass(frozen=True, slots=True)
class ReduceRequest:
    """The arguments of `reduce`; `full` reduces everything again and reports differences.

    `files` are the files given for sticky options, by option; None removes the stored file. A namespace of more than
    `walk_entries` records is never walked by one task. `options` maps a dialect to the result of its `parse_options`.
    """

    full: bool = False
    files: Mapping[str, GivenOption | None] = field(default_factory=dict)
    walk_entries: int = WALK_ENTRIES
    options: Mapping[str, object] = field(default_factory=dict)
