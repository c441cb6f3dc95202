"""Clock forks: one key appended two entries with one time, which an honest writer never does."""

from collections.abc import Iterable
from typing import Final

from strandline.core.equivocation import Equivocation, equivocation
from strandline.dialects.ipfslog.types import DIALECT, Entry
from strandline.dialects.ipfslog.verify import signed_digest_of

KIND: Final = "IPFSLOG_CLOCK_FORK"


def forks(entries: Iterable[Entry]) -> tuple[Equivocation, ...]:
    """Return a row per (key, time) of one log that has entries with different signed bytes, by key, then time.

    An append takes a time greater than all it has seen, so either two devices share the key or the writer is
    dishonest. v0 entries never count. Of twins, entries with equal key and signed bytes, only the one with the least
    id counts: everyone can make a twin, and could otherwise accuse the key.
    """
    by_clock: dict[tuple[str, int], dict[bytes, Entry]] = {}
    for entry in entries:
        if entry.variant != "v0":
            by_clock.setdefault((entry.key, entry.clock_time), {})[entry.record_id] = entry
    found = []
    for (key, time), members in sorted(by_clock.items()):
        if len(members) > 1:
            claims = without_twins(members.values())
            if len(claims) > 1:
                found.append(fork(key, time, claims))
    return tuple(found)


def without_twins(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries without twins, by id: of entries with equal signed bytes, the one with the least id."""
    claims: dict[bytes, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.record_id):
        claims.setdefault(signed_digest_of(entry), entry)
    return list(claims.values())


def fork(key: str, time: int, entries: Iterable[Entry]) -> Equivocation:
    """Return the row for entries of one log with one key and time."""
    members = {entry.record_id: entry for entry in entries}
    namespace = members[min(members)].namespace
    records = {record_id: entry.block for record_id, entry in members.items()}
    return equivocation(namespace, DIALECT, KIND, key, str(time), records=records, attributable=True)
