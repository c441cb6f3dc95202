"""The forms of ids and lines as patterns over whole byte strings, and the lines of a text journal.

Use all patterns with `fullmatch`: `^..$` would accept a line that ends with a newline.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

from strandline.core.encoding.strict_json import BYTE_ORDER_MARK
from strandline.dialects.sdmp.types import PROFILES, Line, Profile

MalformedCause: TypeAlias = Literal["empty", "too_long", "form"]

MAX_LINE_BYTES: Final = 1024
ID_FORMS_IN_WORDS: Final = "64 characters of 0-9 a-f, or 86 of base64url"

ID_CHARS: Final[Mapping[Profile, int]] = {"0.9": 64, "0.12": 86}
"""Length of one id in bytes; an id is ASCII."""

LINE_BYTES: Final[Mapping[Profile, int]] = {profile: 3 * chars + 2 for profile, chars in ID_CHARS.items()}
"""Length of line n > 1 in bytes: number at 0, `@` at ID_CHARS, author, `/` at 2 * ID_CHARS + 1, resource."""

FORMS: Final[Mapping[Profile, re.Pattern[bytes]]] = {
    "0.9": re.compile(rb"[0-9a-f]{64}"),
    "0.12": re.compile(rb"[A-Za-z0-9_-]{86}"),
}
"""Form F of one id."""

# 86 base64url characters carry 516 bits, but an id has 512: only these last characters can occur in an encoded id.
CANONICAL_ENDS: Final = "AQgw"


def _line_of(form: bytes) -> bytes:
    return form + b"@" + form + b"/" + form


LINES: Final[Mapping[Profile, re.Pattern[bytes]]] = {
    p: re.compile(_line_of(FORMS[p].pattern)) for p in PROFILES
}
"""Form of line n > 1: F@F/F."""


def profile_of(fingerprint: str) -> Profile | None:
    """Return the profile whose id form the whole text matches, or None."""
    return profile_of_bytes(fingerprint.encode("utf-8", "surrogatepass"))


def profile_of_bytes(fingerprint: bytes) -> Profile | None:
    """Return the profile whose id form the whole byte string matches, or None. The two forms differ in length."""
    for profile in PROFILES:
        if FORMS[profile].fullmatch(fingerprint):
            return profile
    return None


def node_of_line(first: bytes) -> str | None:
    """Return the node of the text journal that starts with this line, or None; the caller removes a CR at its end."""
    return None if profile_of_bytes(first) is None else first.decode("ascii")


def is_id(text: str, profile: Profile) -> bool:
    """Return whether the whole text matches the id form of the profile."""
    return profile_of(text) == profile


def is_canonical_id(text: str, profile: Profile) -> bool:
    """Return whether the whole text is an id of the profile in canonical form."""
    return is_id(text, profile) and (profile == "0.9" or text[-1] in CANONICAL_ENDS)


def parse_line(raw: bytes, profile: Profile) -> Line | Literal["MALFORMED_LINE"]:
    """Return the parsed line, or `MALFORMED_LINE`; `malformed_cause` then gives the cause."""
    if LINES[profile].fullmatch(raw):
        text, chars = raw.decode("ascii"), ID_CHARS[profile]
        return Line(profile, raw, text[:chars], text[chars + 1 : 2 * chars + 1], text[2 * chars + 2 :])
    if FORMS[profile].fullmatch(raw):
        return Line(profile, raw, None, None, None)
    return "MALFORMED_LINE"


def malformed_cause(length: int) -> MalformedCause:
    """Return why so many bytes are not a line: `empty`, `too_long` (over 1,024 bytes) or `form`."""
    if not length:
        return "empty"
    return "too_long" if length > MAX_LINE_BYTES else "form"


def non_canonical_fields(line: Line) -> tuple[str, ...]:
    """Return which ids of a line are not canonical, out of `fingerprint number author resource`.

    Only base64url ids can be non-canonical: 86 characters carry four bits more than a hash, and these must be zero.
    """
    if line.profile == "0.9":
        return ()
    ids = (
        ("fingerprint", line.raw.decode("ascii") if line.is_first else None),
        ("number", line.number),
        ("author", line.author),
        ("resource", line.resource),
    )
    return tuple(field for field, id_ in ids if id_ is not None and id_[-1] not in CANONICAL_ENDS)


def split(data: bytes, strict: bool = False) -> list[bytes]:
    """Return the lines of a text journal, whatever their form.

    One byte order mark at the start is removed. LF separates lines; one LF at the end does not start another line.
    Unless `strict`, one CR at the end of each line is removed, since newlines are not hashed and git on Windows adds
    CR. A CR alone does not separate lines.
    """
    lines = data.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return lines if strict else [line.removesuffix(b"\r") for line in lines]


def render(lines: Iterable[bytes]) -> bytes:
    """Return the text journal of lines: LF between lines, none at the end."""
    return b"\n".join(lines)
