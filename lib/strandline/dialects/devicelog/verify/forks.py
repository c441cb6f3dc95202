"""Forks of logs: a key that wrote two entries at one place of its log."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from strandline.core.equivocation import MAX_MEMBERS, Context, Equivocation, equivocation
from strandline.dialects.devicelog.codec import block_of
from strandline.dialects.devicelog.types import DIALECT, Entry, Header
from strandline.dialects.devicelog.verify.references import SsbProfile

FORK_KIND: Final = "DEVICELOG_FORK"
NETWORK_KEY: Final = "network_key"
"""Role of the network key in the evidence: without it nobody can verify the signatures of two messages."""


def fork_members(entries: Iterable[Header], ssb_profile: SsbProfile = "strict") -> tuple[bytes, ...]:
    """Return the ids, ascending, of the entries at one seq of one log that contradict each other, if any do.

    These are the children of an entry that has two or more, and the first entries of a log if it has two or more. In a
    weak lake messages contradict each other whatever they follow.
    """
    followers: defaultdict[object, list[bytes]] = defaultdict(list)
    for entry in entries:
        is_any = entry.profile == "ssb" and ssb_profile == "weak"
        followers[None if is_any else entry.prev].append(entry.record_id)
    return tuple(sorted(each for children in followers.values() if len(children) > 1 for each in children))


def forks(
    entries: Iterable[Entry], ssb_profile: SsbProfile = "strict", hmac_key: bytes | None = None
) -> tuple[Equivocation, ...]:
    """Return a row for each place of a log at which its key wrote several entries, by namespace, log and seq.

    The two of least id are the evidence; a row of which one was erased is not made.
    """
    places: defaultdict[tuple[str, bytes, int], dict[bytes, Entry]] = defaultdict(dict)
    for entry in entries:
        places[entry.namespace, entry.log, entry.seq][entry.record_id] = entry
    found = []
    for _, here in sorted(places.items()):
        members = fork_members(here.values(), ssb_profile)
        if members and all(_is_whole(here[each]) for each in members[:2]):
            records = {each: block_of(here[each]) for each in members[:2]}
            found.append(fork(here[members[0]], records, hmac_key, len(members), members))
    return tuple(found)


def fork(
    first: Header,
    records: Mapping[bytes, bytes],
    hmac_key: bytes | None,
    count: int,
    members: Sequence[bytes],
) -> Equivocation:
    """Return the row of `count` entries at the place of `first`.

    `records` has the one spelling of the two of least id, `members` the least ids, ascending.
    """
    is_keyed = first.profile == "ssb" and hmac_key is not None
    context = (
        [Context(NETWORK_KEY, hashlib.sha256(hmac_key).digest(), hmac_key)] if is_keyed and hmac_key else []
    )
    row = equivocation(
        first.namespace, DIALECT, FORK_KIND, first.log.hex(), str(first.seq), records=records, attributable=True,
        context=context, count=count,
    )  # fmt: skip
    return replace(row, members=tuple(members[:MAX_MEMBERS]))


def _is_whole(entry: Entry) -> bool:
    return entry.raw is not None or entry.body is not None
