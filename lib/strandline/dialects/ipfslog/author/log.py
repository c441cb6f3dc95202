"""`Log`: a set of entries that can be merged, read as a DAG and appended to, in plain Python."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from strandline.core.errors import NamespaceMismatch, UsageError
from strandline.dialects.ipfslog.author.entries import sign_entry
from strandline.dialects.ipfslog.author.gset import GSet
from strandline.dialects.ipfslog.author.identity import Identity
from strandline.dialects.ipfslog.codec import parse_cid
from strandline.dialects.ipfslog.reduce import (
    Dag,
    LogConfiguration,
    LogState,
    Newest,
    iterate,
    last,
    node_of,
    order_key,
    reduce_log,
    traverse,
    walk,
)
from strandline.dialects.ipfslog.types import SATURATED_TIME, Entry, Variant, log_namespace


class ClockSaturated(UsageError):  # noqa: N818 - the product's own word
    """A head has the greatest clock time, so no append can have a greater one."""

    def __init__(self, head: str) -> None:
        super().__init__(
            "CLOCK_SATURATED",
            f"The head {head} has the greatest time that a clock can have.",
            "Exclude the writer who saturated the clock, or start a new log.",
        )
        self.head = head


class Log(GSet[Entry]):
    """The entries of one log, as a grow-only set that knows its order.

    >>> alice = Identity.from_keys(b"\\x01" * 32, b"\\x02" * 32, "orbitdb")
    >>> bob = Identity.from_keys(b"\\x03" * 32, b"\\x04" * 32, "orbitdb")
    >>> ours, theirs = Log("chat", identity=alice), Log("chat", identity=bob)
    >>> hello = ours.append("hello")
    >>> theirs.append({"op": "ADD", "value": 1.5}).clock_time
    1
    >>> ours.merge(theirs), len(ours), [entry.payload for entry in ours.heads]
    (1, 2, ['hello', {'op': 'ADD', 'value': 1.5}])
    >>> ours
    Log('chat', 2 entries, 2 heads)
    >>> joined = ours.append("both seen")
    >>> joined.clock_time, len(joined.next), ours.heads == (joined,)
    (2, 2, True)
    >>> [entry.payload for entry in ours.iterator(gt=hello.cid)]
    ['both seen']
    >>> ours == theirs.join(ours), ours.state_hash == theirs.join(ours).state_hash
    (True, True)

    Entries come from `verify_block`, `open_logs` and `append`: the log trusts them and checks only the log id.

    Raises:
        NamespaceMismatch: an entry is of another log.
    """

    def __init__(
        self,
        id: str,  # noqa: A002 - the format's own word
        entries: Iterable[Entry] = (),
        identity: Identity | None = None,
        variant: Variant = "v2",
    ) -> None:
        self.id = id
        self.identity = identity
        self.variant: Variant = variant
        self._entries: dict[bytes, Entry] = {}
        self._heads: dict[bytes, Entry] = {}
        self._named: set[bytes] = set()
        self._others = 0
        self._dag: Dag | None = None
        super().__init__(entries)

    def _key(self, value: Entry) -> Hashable:
        return value.record_id

    def _add(self, value: Entry) -> bool:
        if value.log_id != self.id:
            raise NamespaceMismatch(self.namespace, value.namespace)
        if not super()._add(value):
            return False
        self._entries[value.record_id] = value
        self._named.update(value.next)
        self._others += value.variant != "core2"
        for parent in value.next:
            self._heads.pop(parent, None)
        if value.record_id not in self._named:
            self._heads[value.record_id] = value
        self._dag = None
        return True

    @property
    def namespace(self) -> str:
        """The namespace of the log."""
        return log_namespace(self.id)

    @property
    def dag(self) -> Dag:
        """The log as a DAG of ids: order, tails, clocks; built again after the log has grown."""
        if self._dag is None:
            self._dag = Dag(map(node_of, self._entries.values()))
        return self._dag

    def entry(self, cid: str) -> Entry | None:
        """Return the entry that a content address names, in any spelling, or None."""
        parsed = parse_cid(cid)
        return None if isinstance(parsed, str) else self._entries.get(parsed.digest)

    @property
    def values(self) -> tuple[Entry, ...]:
        """All entries, oldest first."""
        return self._of(self.dag.values)

    @property
    def heads(self) -> tuple[Entry, ...]:
        """Entries that no entry names in `next`, newest first."""
        return tuple(sorted(self._heads.values(), key=order_key, reverse=True))

    @property
    def tails(self) -> tuple[Entry, ...]:
        """Roots, and entries with a missing parent, oldest first."""
        return self._of(self.dag.tails)

    @property
    def tail_hashes(self) -> tuple[bytes, ...]:
        """Digests of missing entries that entries of the log name, sorted: load these to read further back."""
        return self.dag.missing

    @property
    def state_hash(self) -> bytes:
        """Hash of the state without a store and with everyone as writer: equal for equal sets."""
        return self.reduce().state_hash

    def reduce(self, configuration: LogConfiguration | None = None) -> LogState:
        """Return the state of the log: order, heads, tails, documents of its store, state hash."""
        return reduce_log(self._entries.values(), configuration)

    def traverse(
        self, roots: Iterable[str] | None = None, amount: int | None = None, end: str | None = None
    ) -> Iterator[Entry]:
        """Yield the entries reachable from `roots` (default: the heads), newest first; `end` is included.

        Raises:
            UnknownEntry: a content address names no entry of the log.
        """
        yield from self._of(traverse(self.dag, roots, amount, end))

    def iterator(
        self,
        *,
        gt: str | None = None,
        gte: str | None = None,
        lt: str | Iterable[str] | None = None,
        lte: str | Iterable[str] | None = None,
        amount: int = -1,
    ) -> Iterator[Entry]:
        """Yield the entries between two bounds, newest first, as `reduce.iterate`.

        Raises:
            UnknownEntry: a content address names no entry of the log.
            UsageError: `gt` with `gte`, or `lt` with `lte`.
        """
        found = iterate(self.dag, gt=gt, gte=gte, lt=_several(lt), lte=_several(lte), amount=amount)
        yield from self._of(found)

    def last(self, amount: int) -> Log:
        """Return the log of the `amount` newest entries; negative: all. A part of a log is a log."""
        return Log(self.id, self._of(last(self.dag, amount)), self.identity, self.variant)

    def join(self, other: Log, size: int = -1) -> Log:
        """Return the log of the union, or of its `size` newest entries; `merge` adds in place.

        Raises:
            NamespaceMismatch: `other` has another id.
        """
        union = Log(self.id, self._entries.values(), self.identity, self.variant)
        if other.id != self.id:
            raise NamespaceMismatch(self.namespace, other.namespace)
        union.merge(other)
        return union if size < 0 else union.last(size)

    def append(self, payload: Any, /, pointer_count: int = 1, references_count: int = 0) -> Entry:
        """Sign an entry after the heads, add it and return it; it becomes the only head.

        Its time is one above the greatest time of the heads. `pointer_count` sets how far back the `refs` of v2
        reach, at powers of two; `references_count` sets the number of `refs` in core2. Both are shortcuts for loading
        and not part of the DAG.

        Raises:
            ClockSaturated: a head has the time 2^53-1 or more.
            UsageError: `NO_IDENTITY`, the log was opened without one; `VARIANT_WEAK`, the log writes v0.
            ValueError: the payload has a value that the variant cannot store, or the block would have more bytes or
                values than a reader takes.
        """
        if self.identity is None:
            raise UsageError(
                "NO_IDENTITY", "The log has no identity to sign with.", "Open it with an identity."
            )
        if self.variant == "v0":
            raise UsageError("VARIANT_WEAK", "v0 signatures do not cover the payload.", "Write v2 or core2.")
        heads = self.heads
        newest = max(heads, key=lambda head: head.clock_time, default=None)
        if newest is not None and newest.clock_time >= SATURATED_TIME:
            raise ClockSaturated(newest.cid)
        is_core = self.variant == "core2"
        names = [head.cid for head in heads]
        entry = sign_entry(
            self.identity,
            self.id,
            payload,
            time=1 if newest is None else newest.clock_time + 1,
            next=names if is_core else names[::-1],
            refs=self._refs(heads, pointer_count, references_count),
            variant=self.variant,
        )
        self._add(entry)
        return entry

    def _refs(self, heads: tuple[Entry, ...], pointer_count: int, references_count: int) -> list[str]:
        if self.variant == "core2":
            return self._walk(heads, len(heads) + references_count)[len(heads) :]
        if self.variant == "v1":
            return []
        found = self._walk(heads, max(pointer_count, len(heads)))
        taken, at = [], 1
        while at <= min(pointer_count, len(found)):
            taken.append(found[at - 1])
            at *= 2
        if found and len(found) < pointer_count:
            taken.append(found[-1])
        next_ = {head.cid for head in heads}
        return [cid for cid in dict.fromkeys(taken) if cid not in next_]

    def _walk(self, heads: tuple[Entry, ...], amount: int) -> list[str]:
        # Not through `dag`, which would be built again for each append.
        found = walk(
            self._entries,
            [head.record_id for head in heads],
            lambda record_id: Newest(self._entries[record_id]),
            lambda item: item.record_id,
            looks_further=self._others == 0,
            amount=amount,
        )
        return [self._entries[record_id].cid for record_id in found]

    def _of(self, ids: Iterable[bytes]) -> tuple[Entry, ...]:
        return tuple(self._entries[record_id] for record_id in ids)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __repr__(self) -> str:
        return f"Log({self.id!r}, {len(self)} entries, {len(self._heads)} heads)"


def _several(bound: str | Iterable[str] | None) -> Iterable[str] | None:
    return (bound,) if isinstance(bound, str) else bound
