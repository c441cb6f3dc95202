"""What a loop over the lines of a journal needs, looked up once: patterns and hash of its profile."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from strandline.dialects.sdmp.codec.lines import CANONICAL_LINES, FORMS, ID_CHARS, LINES, profile_of
from strandline.dialects.sdmp.types import PROFILES, Profile, line_hash

Matches = Callable[[bytes], re.Match[bytes] | None]


@dataclass(frozen=True, slots=True)
class LineRules:
    """The tests of one profile on whole lines of bytes; a test is passed if it returns a match.

    `link`: line n > 1; `first`: line 1; `canonical`: no id of the line, of either form, ends impossibly.
    `id_chars`: length of an id, so a line's number is its first `id_chars` bytes. `hash`: H(line).
    """

    profile: Profile | None
    id_chars: int
    link: Matches
    first: Matches
    canonical: Matches
    hash: Callable[[bytes], str]


def _rules(profile: Profile) -> LineRules:
    def hash_(line: bytes) -> str:
        return line_hash(line, profile)

    return LineRules(
        profile,
        ID_CHARS[profile],
        LINES[profile].fullmatch,
        FORMS[profile].fullmatch,
        CANONICAL_LINES[profile].fullmatch,
        hash_,
    )


_NOTHING: Final = re.compile(rb"(?!)").fullmatch

NO_RULES: Final = LineRules(None, 0, _NOTHING, _NOTHING, _NOTHING, line_hash)
"""The rules of no profile: nothing passes them."""

_RULES: Final[Mapping[Profile, LineRules]] = {profile: _rules(profile) for profile in PROFILES}


def rules_of(node: str | None) -> LineRules:
    """Return the rules of the node's profile; those that nothing passes if it has none."""
    profile = None if node is None else profile_of(node)
    return NO_RULES if profile is None else _RULES[profile]
