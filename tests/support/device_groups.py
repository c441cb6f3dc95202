"""The groups of the vectors, made again step by step."""

import dataclasses
import json
from functools import cache, partial
from pathlib import Path

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.author import DeviceLog, meet, sign_entry, synthetic
from strandline.dialects.devicelog.types import AddStatement, KeyStatement, RemoveStatement

CASES = Path(__file__).parents[1] / "vectors" / "devicelog" / "cases.json"
SEEDS = {"phone": 1, "pc": 2} | {name: place for place, name in enumerate("abcdefg", start=1)}


@cache
def vectors():
    return json.loads(CASES.read_text("utf-8"))


def seed_of(number):
    return bytes([number]) * 32


def key_of(name):
    return Ed25519Key(seed_of(SEEDS[name]))


class Group:
    """Devices by name, entries that were written past them, and named entries."""

    def __init__(self):
        self.devices = {}
        self.forced = {}
        self.named = {}
        self.results = []

    def run(self, steps):
        for verb, *given in steps:
            getattr(self, verb.replace(" ", "_"))(*given)
        return self

    def key(self, name):
        return key_of(name).public

    def name(self, key):
        """The name of a log; `a` and the phone have the same seed."""
        return next(name for name in self.names() if self.key(name) == key)

    def names(self):
        return SEEDS if "phone" in self.devices else list("abcdefg")

    def entries(self, of=None):
        """All entries, or those that one device has."""
        logs = self.devices.values() if of is None else [self.devices[of]]
        found = {entry.record_id: entry for log in logs for entry in log.entries()}
        return [*(found if of else found | self.forced).values()]

    def find(self, text):
        """The entry with a body, or `device seq`."""
        name, _, seq = text.partition(" ")
        for entry in self.entries():
            is_place = name in SEEDS and (entry.log, str(entry.seq)) == (self.key(name), seq)
            if is_place or entry.body == text.encode():
                return entry
        raise KeyError(text)

    def last(self, name):
        """The newest entry of a device."""
        return max((each for each in self.entries() if each.log == self.key(name)), key=lambda each: each.seq)

    def keep(self, entry, called=None):
        self.forced[entry.record_id] = entry
        self.named[called] = entry

    def found(self, name, seed, initial, utc):
        keys = [self.key(each) for each in initial]
        self.devices[name] = DeviceLog.found(seed_of(seed), name, keys, utc)

    def grant(self, name):
        """The first add-log that admits a device."""
        adds = [each for each in self.entries() if each.statement == AddStatement(self.key(name))]
        return min(adds, key=lambda entry: entry.lamport)

    def join(self, name, seed, source, granted, utc):
        known = self.entries(source)
        grant = known[0].group if granted is None else self.grant(granted).record_id
        self.devices[name] = DeviceLog.join(seed_of(seed), name, known, grant, utc)

    def append(self, name, text, utc):
        self.devices[name].append(text.encode(), utc)

    def add(self, name, other, utc):
        self.devices[name].add_log(self.key(other), utc)

    def remove(self, name, other, utc, last, called):
        last_id = None if last is None else self.find(last).record_id
        self.named[called] = self.devices[name].remove_log(self.key(other), utc, last_id)

    def merge(self, name, sources, utc, view_of, expected, called=None):
        sources = [sources] if isinstance(sources, str) else sources
        entries = [entry for source in sources for entry in self.entries(source)]
        if len(sources) > 1:
            entries += self.forced.values()
        view = None if view_of is None else self.devices[view_of].view_hashes
        self.results.append((self.devices[name].merge(entries, view, utc), expected))
        self.named[called] = self.last(name)

    def meet(self, one, two, utc, expected):
        self.results.append((list(meet(self.devices[one], self.devices[two], utc)), expected))

    def synthetic(self, *arguments):
        self.devices = dict(enumerate(synthetic(*arguments)))

    def twin(self, place, text, expected):
        twin = changed(self.find(place), key_of(place.split(" ")[0]), body=text.encode())
        self.keep(twin)
        self.results.append((twin.record_id.hex(), expected))

    def after(self, name, prev, kind, body, utc, deps):
        """An entry of a device after `prev`, with the right clock."""
        clock = 1 + max([prev.lamport, *(dep.lamport for dep in deps)])
        return sign_entry(
            key_of(name), kind, body, group=prev.group, seq=prev.seq + 1, lamport=clock, utc=utc,
            prev=prev.record_id, deps=[dep.record_id for dep in deps],
        )  # fmt: skip

    def start(self, name, grant, utc):
        """The first entry of a device on a grant, which may be none."""
        return sign_entry(
            key_of(name), "key", KeyStatement(name), group=grant.group, seq=0, lamport=grant.lamport + 1, utc=utc,
            prev=None, deps=[grant.record_id],
        )  # fmt: skip

    def removal(self, name, prev, other, utc, end, deps):
        statement = RemoveStatement(self.key(other), end.seq, end.record_id)
        return self.after(name, prev, "remove-log", statement, utc, deps)

    def force_remove(self, name, other, utc, last, called):
        end = self.named[last]
        self.keep(self.removal(name, self.last(name), other, utc, end, [end]), called)

    def start_again(self, name, author, utc, called):
        self.keep(self.start(name, self.last(author), utc), called)

    def force_remove_by(self, name, seen, other, utc, last, called):
        start = next(each for each in self.devices[name].entries() if each.log == self.key(name))
        end = self.find(last)
        self.keep(self.removal(name, start, other, utc, end, [self.named[seen]]), called)

    def force_join(self, name, source, utc):
        founder = next(entry for entry in self.entries(source) if entry.is_founder)
        self.keep(self.start(name, founder, utc), name)

    def append_raw(self, name, text, utc):
        self.keep(self.after(name, self.named[name], "msg", text.encode(), utc, [self.last("a")]))


@cache
def group(name):
    """The group of a case after its steps."""
    return Group().run(vectors()[name]["steps"])


def changed(entry, key, **changes):
    """An entry at the same place with another body or statement, signed again."""
    fields = {name: getattr(entry, name) for name in ("group", "seq", "lamport", "utc", "prev", "deps")}
    statement = changes.pop("statement", None)
    body = changes.pop("body", entry.body)
    if statement:
        body = dataclasses.replace(entry.statement, **statement)
    return sign_entry(key, entry.kind, body, **(fields | changes))


def written(group, key, kind, body, prev, deps):
    """An entry of any log at time 0, with the right clock."""
    clock = 1 + max([each.lamport for each in [prev, *deps] if each is not None])
    return sign_entry(
        key, kind, body, group=group, seq=0 if prev is None else prev.seq + 1, lamport=clock, utc=0,
        prev=None if prev is None else prev.record_id, deps=[each.record_id for each in deps],
    )  # fmt: skip


@cache
def starting_anew():
    """A group in which a removed log, and one that is void, have an effective grant that ranks before their start."""
    b, c, d = map(key_of, "bcd")
    log = DeviceLog.found(seed_of(1), "a", [b.public])
    founder = log.entries()[0]
    write = partial(written, founder.group)
    first = log.add_log(c.public, 1)
    start_b = write(b, "key", KeyStatement("b"), None, [founder])
    later = write(b, "add-log", AddStatement(c.public), start_b, [first])
    start_c = write(c, "key", KeyStatement("c"), None, [later])
    log.merge([start_b, later, start_c], utc=2)
    log.remove_log(c.public, 3)
    log.add_log(d.public, 4)
    past_cut = write(c, "add-log", AddStatement(d.public), start_c, [])
    start_d = write(d, "key", KeyStatement("d"), None, [past_cut])
    return [*log.entries(), past_cut, start_d]


@cache
def named_in_a_label():
    """A void log that its remover's rank lets start anew, in a group whose label is the key of the remover."""
    b, c, d = map(key_of, "bcd")
    log = DeviceLog.found(seed_of(1), b.public.hex(), [c.public, b.public])
    write = partial(written, log.group)
    start_b = write(b, "key", KeyStatement("b"), None, [log.entries()[0]])
    add = write(b, "add-log", AddStatement(d.public), start_b, [])
    start_d = write(d, "key", KeyStatement("d"), None, [add])
    log.merge([start_b, add, start_d], utc=2)
    log.remove_log(d.public, 3)
    past_cut = write(d, "add-log", AddStatement(c.public), start_d, [])
    start_c = write(c, "key", KeyStatement("c"), None, [past_cut])
    remove = write(b, "remove-log", RemoveStatement(c.public, -1, None), add, [])
    return [*log.entries(), past_cut, start_c, remove]
