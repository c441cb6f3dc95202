"""`DeviceLog`: the log of one device, the accepted entries of its group, and the view that it shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from strandline.core.ed25519 import KEY_BYTES, Ed25519Key
from strandline.dialects.devicelog.author.entries import sign_entry
from strandline.dialects.devicelog.author.own_log import Merged, OwnLog
from strandline.dialects.devicelog.author.replica import Replica
from strandline.dialects.devicelog.reduce import State, common_length, reduce
from strandline.dialects.devicelog.types import (
    FOUNDING_CLOCK,
    MAX_DEPS,
    NOTHING,
    AddStatement,
    Entry,
    KeyStatement,
    RemoveStatement,
)


class DeviceLog:
    """The log that one device writes, with all entries of the group that it has accepted.

    >>> phone_seed, pc_seed = b"\\x01" * 32, b"\\x02" * 32
    >>> pc_key = public_key(pc_seed)
    >>> phone = DeviceLog.found(phone_seed, "phone", initial=[pc_key])
    >>> first = phone.append(b"bread", utc=1000)
    >>> pc = DeviceLog.join(pc_seed, "pc", phone.entries(), grant=phone.group, utc=2000)
    >>> _ = phone.append(b"milk", utc=3000)
    >>> _ = pc.append(b"eggs", utc=4000)
    >>> phone.merge(pc.entries(), utc=5000)
    'forward'
    >>> pc.merge(phone.entries(), utc=5000)
    'screw'
    >>> [entry.body for entry in pc.messages()]
    [b'bread', b'milk', b'eggs']
    >>> phone.view_hash == pc.view_hash
    True

    The log trusts the entries that it merges: verify them first, or take them from another `DeviceLog`. An entry whose
    parents are missing waits until a merge brings them.
    """

    def __init__(self, key: Ed25519Key, replica: Replica, first: Entry) -> None:
        self._own = OwnLog(key, replica, first)
        self._replica = replica
        replica.accept(first)
        replica.show()

    @classmethod
    def found(cls, seed: bytes, label: str, initial: Iterable[bytes] = (), utc: int = 0) -> DeviceLog:
        """Return the log that founds a group and admits the logs in `initial`, in the order of their rank.

        Raises:
            ValueError: a seed that is not 32 bytes, a label that is none, over 1,023 logs or one twice.
        """
        key = Ed25519Key(seed)
        first = sign_entry(
            key, "key", KeyStatement(label, tuple(initial)), group=None, seq=0, lamport=FOUNDING_CLOCK, utc=utc,
            prev=None,
        )  # fmt: skip
        return cls(key, Replica(first.group), first)

    @classmethod
    def join(cls, seed: bytes, label: str, entries: Iterable[Entry], grant: bytes, utc: int) -> DeviceLog:
        """Return a log that starts in the group of `entries`; `grant` is the id of the entry that admits it.

        Raises:
            ValueError: the grant is not the key's least effective one: another would rank the log differently.
        """
        key, known = Ed25519Key(seed), list(entries)
        granting = next((each for each in known if each.record_id == grant), None)
        if granting is None:
            raise ValueError("the grant is not among the entries")
        replica = Replica(granting.group)
        for entry in replica.acceptable(known):
            replica.accept(entry)
        if replica.newest(key.public) is not None:
            raise ValueError("the key has a log in the group: a second start would fork it")
        if replica.least_grant(key.public) != grant:
            raise ValueError("a log joins on the least effective grant of its key")
        first = sign_entry(
            key, "key", KeyStatement(label), group=granting.group, seq=0, lamport=granting.lamport + 1, utc=utc,
            prev=None, deps=(grant,),
        )  # fmt: skip
        return cls(key, replica, first)

    @property
    def key(self) -> bytes:
        """The public key of the device, which is the name of its log."""
        return self._own.key.public

    @property
    def group(self) -> bytes:
        """The id of the group."""
        return self._own.last.group

    @property
    def view(self) -> tuple[bytes, ...]:
        """The ids of the messages that the device shows, 32 bytes each, in order."""
        return tuple(self._replica.view.ids)

    @property
    def view_hashes(self) -> tuple[bytes, ...]:
        """v_0 to v_n of the view."""
        return tuple(self._replica.view.hashes)

    @property
    def view_hash(self) -> bytes:
        """v_n of the view, 32 bytes, equal on devices that have equal entries."""
        return self._replica.view.hashes[-1]

    def entries(self) -> tuple[Entry, ...]:
        """Return all accepted entries of all logs, parents first."""
        return tuple(self._replica.entries.values())

    def messages(self) -> Iterator[Entry]:
        """Yield the messages of the view, in order."""
        return (self._replica.entries[record_id] for record_id in self._replica.view.ids)

    def state(self) -> State:
        """Return the state of the group, from the entries that this device has accepted."""
        return reduce(self._replica.entries.values())

    def append(self, body: bytes, utc: int) -> Entry:
        """Write a message.

        Raises:
            ValueError: this log was continued elsewhere, or entries of it wait; or as `sign_entry`.
        """
        return self._own.write("msg", body, utc)

    def ack(self, utc: int) -> Entry:
        """Write that the device has seen all accepted entries; this lets the final prefix of all devices grow.

        Raises: ValueError as `append`.
        """
        return self._own.write("ack", b"", utc)

    def add_log(self, key: bytes, utc: int) -> Entry:
        """Admit the log of a key.

        Raises:
            ValueError: the key has an effective grant already, or is no key of 32 bytes; or as `append`.
        """
        if len(key) != KEY_BYTES:
            raise ValueError("the key of a log has 32 bytes")
        if self._replica.is_granted(key):
            raise ValueError("the key has an effective grant: a removed key does not return, take a new one")
        return self._own.write("add-log", AddStatement(key), utc)

    def remove_log(self, key: bytes, utc: int, last: bytes | None = None) -> Entry:
        """End the log of a key after its entry `last`; by default after the newest one that this device knows.

        A device that removes its own log leaves. If a removal changes the order that the device shows, a screw follows.
        A log that was continued elsewhere writes only the removal.

        Raises:
            ValueError: `last` is no accepted entry of that log; or entries of this log wait.
        """
        self._own.acknowledge(utc, MAX_DEPS - 1)
        heads, before = self._own.heads(), self._replica.shown()
        ending = self._replica.newest(key) if last is None else self._replica.entries.get(last)
        if last is not None and (ending is None or ending.log != key):
            raise ValueError("the last entry is none of that log")
        if key == self.key and last is None:
            ending = self._own.last
        statement = RemoveStatement(
            key, NOTHING if ending is None else ending.seq, None if ending is None else ending.record_id
        )  # fmt: skip
        removal = self._own.sign("remove-log", statement, utc)
        common = self._replica.show()
        if common < before.length and self._replica.is_active(self.key) and not self._own.is_split():
            self._own.write_screw(common, before.length, before.v, heads, utc)
        return removal

    def merge(
        self, entries: Iterable[Entry], partner_view: Sequence[bytes] | None = None, utc: int = 0
    ) -> Merged:
        """Accept entries, and write a screw if that changes the order of what the device has shown.

        `partner_view` are v_0 to v_n of the device that sends them: the screw then rewinds to the point up to which
        both views agree, if that is earlier. A log that was started again continues its newest entry. Returns
        - `same`: nothing was accepted: nothing was new, or it waits for missing entries, or entries of this log do;
        - `forward`: the view only grew at its end;
        - `resumed`: the order changed without a screw: this log was started again, and showed rows before its own
          entries came back;
        - `screw`: a screw was written, now or before the log was started again;
        - `removed`: the order changed, but this log is not active: nothing was written.

        Raises:
            ValueError: `utc` is none, or an entry is of another group: nothing is accepted; or this log was continued
                elsewhere, and what is new is only accepted.
        """
        agreed = None if partner_view is None else common_length(self._replica.view.hashes, partner_view)
        return self.merge_agreed(entries, agreed, utc)

    def merge_agreed(self, entries: Iterable[Entry], agreed: int | None, utc: int) -> Merged:
        """Merge as `merge`; `agreed` is the number of first rows that both views have in common."""
        return self._own.merge(entries, agreed, utc)

    def agreed_with(self, other: DeviceLog) -> int:
        """Return the number of first rows that the views of two devices have in common."""
        return common_length(self._replica.view.hashes, other._replica.view.hashes)

    def unknown_to(self, other: DeviceLog) -> list[Entry]:
        """Return the entries that another device of the group does not have, parents first."""
        return self._replica.unknown_to(other._replica)

    def __repr__(self) -> str:
        return f"DeviceLog({self.key.hex()[:8]}.., {len(self._replica.entries)} entries)"


def meet(a: DeviceLog, b: DeviceLog, utc: int) -> tuple[Merged, Merged]:
    """Let two devices merge the entries that the other one had before, `a` first; return both results of `merge`.

    >>> phone = DeviceLog.found(b"\\x01" * 32, "phone", [public_key(b"\\x02" * 32)])
    >>> pc = DeviceLog.join(b"\\x02" * 32, "pc", phone.entries(), phone.group, utc=0)
    >>> meet(phone, pc, utc=1), meet(phone, pc, utc=2)
    (('forward', 'same'), ('same', 'same'))

    Raises:
        ValueError: as `DeviceLog.merge`, of either device, after both have accepted what the other had.
    """
    of_a, of_b = a.unknown_to(b), b.unknown_to(a)
    agreed = a.agreed_with(b)
    try:
        first = a.merge_agreed(of_b, agreed, utc)
    finally:
        # Also from a log that forked: a senior needs its entries to end the fork.
        second = b.merge_agreed(of_a, agreed, utc)
    return first, second


def public_key(seed: bytes) -> bytes:
    """Return the key of the log that a seed of 32 bytes writes."""
    return Ed25519Key(seed).public
