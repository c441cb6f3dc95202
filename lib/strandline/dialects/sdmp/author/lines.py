"""Journal lines from pairs: each line starts with the hash of the line before it."""

from collections.abc import Iterable, Iterator

from strandline.dialects.sdmp.codec import LINES, line_hash, parse_line
from strandline.dialects.sdmp.types import Pair, Profile


def append(tip: bytes, pairs: Iterable[Pair], profile: Profile = "0.9") -> Iterator[bytes]:
    """Yield the lines that follow `tip`, one per (author, resource), in the order given.

    Raises:
        ValueError: `tip` is not a line of the profile, or a pair does not consist of ids of the profile.
    """
    if isinstance(parse_line(tip, profile), str):
        raise ValueError(f"tip must be a line of profile {profile}")
    return (line for line, _, _ in chained(line_hash(tip, profile), pairs, profile))


def chained(number: str, pairs: Iterable[Pair], profile: Profile) -> Iterator[tuple[bytes, str, str]]:
    """Yield (line, number, hash) per pair; `number` is the hash of the line that the first one follows.

    Raises:
        ValueError: a pair does not consist of ids of the profile.
    """
    is_line = LINES[profile].fullmatch
    for author, resource in pairs:
        line = f"{number}@{author}/{resource}".encode("utf-8", "surrogatepass")
        # Ids have a fixed length and contain no separator, so a line that matches has valid ids.
        if not is_line(line):
            raise ValueError(f"author and resource must be ids of profile {profile}")
        hash_ = line_hash(line, profile)
        yield line, number, hash_
        number = hash_
