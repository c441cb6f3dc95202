"""Which records of a namespace may go: the boundary below which they lie, what a snapshot says of each, and the proof.

Every dialect counts generations. A record that decides nothing any more may go if its generation lies below the
boundary; the rules of its dialect say what else holds it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from strandline.core.encoding.strict_cbor import encode_cbor
from strandline.core.hashing import tagged

DEFAULT_SKIP_WINDOW: Final = 1024
MAX_SKIP_WINDOW: Final = 2**32 - 1
MAX_GENERATION: Final = 2**64 - 1


def compute_checkpoint_pruning_boundary(max_gen: int, skip_window: int | None = None) -> int:
    """Return the first generation that stays: two and a half windows below the greatest, or 0.

    The half is rounded down, integers are exact, nothing wraps. The window is 1024 if none is given.

    Raises:
        ValueError: the generation is no unsigned 64-bit integer, or the window no unsigned 32-bit one.
    """
    window = DEFAULT_SKIP_WINDOW if skip_window is None else skip_window
    if not 0 <= max_gen <= MAX_GENERATION:
        raise ValueError(f"a generation is from 0 to {MAX_GENERATION}, not {max_gen}")
    if not 0 <= window <= MAX_SKIP_WINDOW:
        raise ValueError(f"a skip window is from 0 to {MAX_SKIP_WINDOW}, not {window}")
    return max(0, max_gen - 2 * window - window // 2)


@dataclass(frozen=True, slots=True)
class Member:
    """A record that a snapshot covers, and whether it may go.

    - `hold`: the code of the rule that keeps it, None if it may go;
    - `generation`: None for kinds that have none;
    - `skeleton`: what stays of it when it goes, None if nothing needs to;
    - `alt_id`: the id that copies of it share, None in dialects whose records have only one id.
    """

    record_id: bytes
    kind: str
    generation: int | None = None
    hold: str | None = None
    alt_id: bytes | None = None
    skeleton: bytes | None = None


@dataclass(frozen=True)
class Plan:
    """What a snapshot says of the held records of a namespace, and the carry: what all skeletons add up to then."""

    members: tuple[Member, ...]
    carry: bytes

    @property
    def prune(self) -> tuple[Member, ...]:
        """The records that may go."""
        return tuple(each for each in self.members if each.hold is None)

    @property
    def holds(self) -> Mapping[str, int]:
        """The number of records that each rule keeps."""
        return Counter(each.hold for each in self.members if each.hold is not None)

    @property
    def kinds(self) -> Mapping[str, int]:
        """The number of records of each kind that may go."""
        return Counter(each.kind for each in self.prune)


@dataclass(frozen=True, slots=True)
class Proof:
    """Two full reductions: over all records, and over the carry and the records that stay.

    `differences` names the rows of reduced tables that are not equal in both, sorted.
    """

    before: bytes
    after: bytes
    differences: tuple[str, ...]

    @property
    def equal(self) -> bool:
        """Return whether state hashes and rows are equal: then the records may go."""
        return self.before == self.after and not self.differences


def compare_rows(
    before: Mapping[str, Mapping[str, object]], after: Mapping[str, Mapping[str, object]]
) -> tuple[str, ...]:
    """Return the places where two sets of reduced tables differ, `<table> <key>`, sorted; rows are by table and key."""
    found = []
    for table in before.keys() | after.keys():
        old, new = before.get(table, {}), after.get(table, {})
        found += [f"{table} {key}" for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
    return tuple(sorted(found))


def snapshot_id(
    *, namespace: str, sequence: int, base: bytes | None, state_hash: bytes, members: bytes, prune: bytes, carry: bytes
) -> bytes:  # fmt: skip
    """Return the id of a snapshot, 32 bytes.

    `members` and `prune` are the set hashes of the ids of all covered records, held or pruned, and of those that may
    go; `base` is the snapshot that was applied when this one was taken.
    """
    fields = {
        "namespace": namespace, "sequence": sequence, "base": base, "state_hash": state_hash, "members": members,
        "prune": prune, "carry": carry,
    }  # fmt: skip
    return tagged("strandline/snapshot/1", encode_cbor(fields))
