"""Forks of a clock: one key that appended twice at one time, which no honest history holds."""

from collections.abc import Iterable
from typing import Final

from strandline.core.equivocation import Equivocation, equivocation
from strandline.dialects.ipfslog.types import DIALECT, Entry
from strandline.dialects.ipfslog.verify import signed_digest_of

KIND: Final = "IPFSLOG_CLOCK_FORK"


def forks(entries: Iterable[Entry]) -> tuple[Equivocation, ...]:
    """Return a row per (key, time) of one log with entries of different signed bytes, by key, then time.

    An append takes a time above all it has seen, so two devices with one key, or a lie. v0 entries never count, and
    of twins, entries with equal key and signed bytes, only that of least id: with them a stranger could accuse the
    key.
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
    """Return of entries with equal signed bytes that of least id, by id."""
    claims: dict[bytes, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.record_id):
        claims.setdefault(signed_digest_of(entry), entry)
    return list(claims.values())


def fork(key: str, time: int, entries: Iterable[Entry]) -> Equivocation:
    """Return the row of entries of one log with one key and time."""
    members = {entry.record_id: entry for entry in entries}
    namespace = members[min(members)].namespace
    records = {record_id: entry.block for record_id, entry in members.items()}
    return equivocation(namespace, DIALECT, KIND, key, str(time), records=records, attributable=True)
