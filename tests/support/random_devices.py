"""Random groups of devices: late joiners, skewed clocks, partial meetings, removals, restored backups, false claims."""

import copy
import hashlib
import random
from dataclasses import dataclass, field
from itertools import pairwise

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.author import DeviceLog, meet, public_key, sign_entry
from strandline.dialects.devicelog.reduce import reduce
from strandline.dialects.devicelog.types import KeyStatement, RemoveStatement


@dataclass
class Shown:
    """What a device showed as it went: position or None, replay clock or None, id, struck.

    `stated` are the rows when it last wrote an entry that names all it knew. `is_whole`: no merge changed the order
    without a screw.
    """

    view: tuple = ()
    rows: list = field(default_factory=list)
    stated: list | None = None
    newest: bytes = b""
    is_whole: bool = True


@dataclass
class History:
    """Devices by number, their seeds, what each recorded, states on the way, and entries written past the devices."""

    devices: dict
    seeds: list
    shown: dict = field(default_factory=dict)
    earlier: list = field(default_factory=list)
    forced: dict = field(default_factory=dict)
    utc: int = 0
    has_forks: bool = False

    def entries(self):
        found = {entry.record_id: entry for log in self.devices.values() for entry in log.entries()}
        return [*(found | self.forced).values()]


def random_history(seed, *, forks=True, removals=True, steps=None):
    """The group of a seed: 1 to 7 devices, up to five dozen steps."""
    draw = random.Random(f"devices {seed}")
    count = draw.randint(1, 7)
    seeds = [hashlib.sha256(f"{seed}/{number}".encode()).digest() for number in range(count + 2)]
    initial = draw.randint(0, count - 1)
    founder = DeviceLog.found(seeds[0], "0", [public_key(each) for each in seeds[1 : initial + 1]])
    made = History({0: founder}, seeds)
    made.has_forks = forks and draw.random() < 0.4
    verbs = ["append"] * 8 + ["meet"] * 5 + ["one way"] * 2 + ["partial"] * 2 + ["ack", "add"] + ["join"] * 4
    if removals and draw.random() < 0.6:
        verbs += ["remove", "remove", "leave", "admit", "admit"]
    if made.has_forks:
        verbs += ["restore", "force", "force"]
    for _ in range(draw.randint(3, 60) if steps is None else steps):
        made.utc += draw.choice([0, 0, 1, 1, 5])
        _STEPS[draw.choice(verbs)](draw, made)
        for number in made.devices:
            record(made, number)
        if draw.random() < 0.15:
            made.earlier.append(reduce(draw.choice([*made.devices.values()]).entries()))
    if made.has_forks:
        _fork_in_forks(random.Random(f"nested {seed}"), made)
    return made


def _fork_in_forks(draw, made):
    """Each of some entries has two children, and one of them goes on; now and then it names another branch or log."""
    number = _any(draw, made)
    key = Ed25519Key(made.seeds[number])
    known = made.entries()
    prev = draw.choice([each for each in known if each.log == key.public])
    for level in range(draw.choice([0, 0, 1, 3, 8])):
        named = [each for each in draw.sample(known, min(2, len(known))) if draw.random() < 0.5]
        named = [each for each in named if each.record_id != prev.record_id]
        clock = 1 + max(each.lamport for each in [prev, *named])
        children = [
            sign_entry(
                key, "msg", b"%d %d" % (level, child), group=prev.group, seq=prev.seq + 1, lamport=clock,
                utc=made.utc, prev=prev.record_id, deps=[each.record_id for each in named],
            )
            for child in range(2)
        ]  # fmt: skip
        made.forced |= {each.record_id: each for each in children}
        known += children
        prev = draw.choice(children)


def in_parts(entries):
    """Entries parents first in three parts: most, some, and the newest."""
    ordered = sorted(entries, key=lambda entry: (entry.lamport, entry.seq, entry.record_id))
    cuts = [0, len(ordered) * 3 // 5, max(len(ordered) * 3 // 5, len(ordered) - 3), len(ordered)]
    return [ordered[at:upto] for at, upto in pairwise(cuts)]


def gossip(made):
    """Let all devices meet until no one learns or writes anything."""
    numbers, sizes = list(made.devices), None
    while sizes != (sizes := [len(log.entries()) for log in made.devices.values()]):
        for one in numbers:
            for other in numbers:
                if one != other:
                    meet(made.devices[one], made.devices[other], made.utc)
                    record(made, one)
                    record(made, other)


def record(made, number):
    """Note what a device shows, if that has changed; its replays are those of the screw that it has just written."""
    log, noted = made.devices[number], made.shown.setdefault(number, Shown())
    view, own = log.view, [each for each in log.entries() if each.log == log.key]
    screws = [each for each in own if each.kind == "screw"]
    known = sum(row[0] is None for row in noted.rows)
    rewind, clock = len(noted.view), None
    if len(screws) > known:
        screw = screws[-1]
        rewind, clock = screw.statement.rewind, screw.lamport + 1
        for row in noted.rows:
            row[3] |= row[0] is not None and row[0] >= rewind
        noted.rows.append([None, None, screw.record_id, False])
    elif noted.view != view[:rewind]:
        noted.is_whole = False
    for position in range(rewind, len(view)):
        replay = None if clock is None else clock + position - rewind
        noted.rows.append([position, replay, view[position], False])
    noted.view = view
    if own[-1].record_id != noted.newest:
        noted.newest = own[-1].record_id
        names_all = own[-1].kind != "key" and {noted.newest} == heads(log.entries())
        noted.stated = copy.deepcopy(noted.rows) if names_all else None


def heads(entries):
    """The ids of the entries that no other names."""
    named = {each for entry in entries for each in (entry.prev, *entry.deps)}
    return {entry.record_id for entry in entries} - named


def _any(draw, made):
    return draw.choice([*made.devices])


def _utc(draw, made):
    return max(0, made.utc + draw.choice([0, 0, 0, -3, 10]))


def _append(draw, made):
    made.devices[_any(draw, made)].append(draw.choice([b"", b"a", b"b"]), _utc(draw, made))


def _ack(draw, made):
    made.devices[_any(draw, made)].ack(_utc(draw, made))


def _meet(draw, made):
    if len(made.devices) > 1:
        one, other = draw.sample([*made.devices], 2)
        meet(made.devices[one], made.devices[other], _utc(draw, made))


def _one_way(draw, made):
    one, other = _any(draw, made), _any(draw, made)
    view = draw.choice([None, made.devices[other].view_hashes])
    made.devices[one].merge(made.devices[other].entries(), view, _utc(draw, made))


def _partial(draw, made):
    one, other = _any(draw, made), _any(draw, made)
    entries = made.devices[other].entries()
    some = draw.choice(
        [entries[: draw.randint(0, len(entries))], draw.sample(entries, len(entries) * 2 // 3)]
    )
    made.devices[one].merge(some, None, _utc(draw, made))


def _join(draw, made):
    source = made.devices[_any(draw, made)]
    grants_by_log = source.state().membership.grants
    granted = [place for place, seed in enumerate(made.seeds) if public_key(seed) in grants_by_log]
    number = draw.choice([place for place in granted if place not in made.devices] or [0])
    key = public_key(made.seeds[number])
    grants = grants_by_log.get(key)
    if number and grants and not any(each.log == key for each in made.entries()):
        grant = source.state().graph.entries[grants[0][1]].record_id
        log = DeviceLog.join(made.seeds[number], str(number), source.entries(), grant, _utc(draw, made))
        made.devices[number] = log


def _add(draw, made):
    log = made.devices[_any(draw, made)]
    key = public_key(draw.choice(made.seeds[1:]))
    membership = log.state().membership
    if key not in membership.grants and key not in membership.ranks:
        log.add_log(key, _utc(draw, made))


def _remove(draw, made):
    log = made.devices[_any(draw, made)]
    key = public_key(draw.choice(made.seeds))
    own = [each.record_id for each in log.entries() if each.log == key]
    last = draw.choice(own) if own and draw.random() < 0.3 else None
    log.remove_log(key, _utc(draw, made), last)


def _admit(draw, made):
    """A device admits another one, whether it may or not, and that one joins at once."""
    source = made.devices[_any(draw, made)]
    number = draw.choice([place for place in range(1, len(made.seeds)) if place not in made.devices] or [0])
    key = public_key(made.seeds[number])
    membership = source.state().membership
    if number and key not in membership.grants and not any(each.log == key for each in made.entries()):
        grant = source.add_log(key, _utc(draw, made))
        key_entry = sign_entry(
            Ed25519Key(made.seeds[number]), "key", KeyStatement("admitted"), group=source.group, seq=0,
            lamport=grant.lamport + 1, utc=_utc(draw, made), prev=None, deps=[grant.record_id],
        )  # fmt: skip
        source.merge([key_entry], None, made.utc)


def _leave(draw, made):
    log = made.devices[_any(draw, made)]
    if len(made.devices) > 1 and log.key != made.devices[0].key:
        log.remove_log(log.key, _utc(draw, made))


def _restore(draw, made):
    """A device goes on from a backup: what it writes next forks its log if it had written since."""
    number = _any(draw, made)
    backup = copy.deepcopy(made.devices[number])
    backup.append(b"before", _utc(draw, made))
    made.forced |= {entry.record_id: entry for entry in backup.entries()}
    made.devices[number].append(b"after", _utc(draw, made))


def _force(draw, made):
    """A removal dated and cut at will, or a second start, by a device that does not keep to the rules."""
    number = _any(draw, made)
    log, key = made.devices[number], Ed25519Key(made.seeds[number])
    own = [each for each in log.entries() if each.log == log.key]
    prev = draw.choice(own)
    named = draw.sample(log.entries(), min(2, len(log.entries())))
    named = [each for each in named if each.record_id != prev.record_id]
    clock = 1 + max(each.lamport for each in [prev, *named])
    statement = _removal(draw, made, log)
    kind = "remove-log"
    made_entry = sign_entry(
        key, kind, statement, group=log.group, seq=prev.seq + 1, lamport=clock, utc=draw.randint(0, 40),
        prev=prev.record_id, deps=[each.record_id for each in named],
    )  # fmt: skip
    made.forced |= {each.record_id: each for each in [*log.entries(), made_entry]}
    grants = [each for each in log.entries() if each.kind == "add-log" and each.statement.log == log.key]
    if grants and draw.random() < 0.5:
        grant = draw.choice(grants)
        again = sign_entry(
            key, "key", KeyStatement("again"), group=log.group, seq=0, lamport=grant.lamport + 1, utc=made.utc,
            prev=None, deps=[grant.record_id],
        )  # fmt: skip
        made.forced[again.record_id] = again


def _removal(draw, made, log):
    key = public_key(draw.choice(made.seeds))
    own = [each for each in log.entries() if each.log == key]
    last = draw.choice(own) if own and draw.random() < 0.9 else None
    return RemoveStatement(key, -1, None) if last is None else RemoveStatement(key, last.seq, last.record_id)


_STEPS = {
    "append": _append, "ack": _ack, "meet": _meet, "one way": _one_way, "partial": _partial, "join": _join,
    "add": _add, "remove": _remove, "leave": _leave, "admit": _admit, "restore": _restore, "force": _force,
}  # fmt: skip
