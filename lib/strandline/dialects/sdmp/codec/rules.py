"""The checks and the hash of each profile, looked up once per frame by the loop over lines.

Deleting the bytes of the alphabet and comparing the rest takes a tenth of the time of a pattern; `LINES` and `FORMS`
define the same forms as patterns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from strandline.dialects.sdmp.codec.lines import CANONICAL_ENDS, ID_CHARS, LINE_BYTES, profile_of
from strandline.dialects.sdmp.types import LINE_HASHES, PROFILES, Profile

Passes = Callable[[bytes], bool]

_ALPHABETS: Final[Mapping[Profile, bytes]] = {
    "0.9": b"0123456789abcdef",
    "0.12": b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
}
_AT, _SLASH = b"@/"
_CANONICAL_ENDS: Final = frozenset(CANONICAL_ENDS.encode("ascii"))


@dataclass(frozen=True, slots=True)
class LineRules:
    """The checks of one profile on the bytes of whole lines.

    `link` accepts lines n > 1, `first` accepts line 1, `canonical` a line of either form whose ids are canonical.
    `id_chars` is the length of an id: a line's number is its first `id_chars` bytes. `hash` is H(line).
    """

    profile: Profile | None
    id_chars: int
    link: Passes
    first: Passes
    canonical: Passes
    hash: Callable[[bytes], str]


def _link(profile: Profile) -> Passes:
    chars, length, alphabet = ID_CHARS[profile], LINE_BYTES[profile], _ALPHABETS[profile]
    slash = 2 * chars + 1

    def link(line: bytes) -> bool:
        return (
            len(line) == length
            and line[chars] == _AT
            and line[slash] == _SLASH
            and line.translate(None, alphabet) == b"@/"
        )

    return link


def _first(profile: Profile) -> Passes:
    chars, alphabet = ID_CHARS[profile], _ALPHABETS[profile]

    def first(line: bytes) -> bool:
        return len(line) == chars and not line.translate(None, alphabet)

    return first


def _canonical_0_12(line: bytes) -> bool:
    chars = ID_CHARS["0.12"]
    return all(line[at] in _CANONICAL_ENDS for at in range(chars - 1, len(line), chars + 1))


def _never(_line: bytes) -> bool:
    return False


def _always(_line: bytes) -> bool:
    return True


_CANONICAL: Final[Mapping[Profile, Passes]] = {"0.9": _always, "0.12": _canonical_0_12}

NO_RULES: Final = LineRules(None, 0, _never, _never, _never, LINE_HASHES["0.9"])
"""Rules for an unknown profile: they accept nothing."""

_RULES: Final[Mapping[Profile, LineRules]] = {
    profile: LineRules(
        profile, ID_CHARS[profile], _link(profile), _first(profile), _CANONICAL[profile], LINE_HASHES[profile]
    )
    for profile in PROFILES
}


def rules_of(node: str | None) -> LineRules:
    """Return the rules of the node's profile, or `NO_RULES` if it has none."""
    profile = None if node is None else profile_of(node)
    return NO_RULES if profile is None else _RULES[profile]
