"""Deliveries of device logs: random groups and feeds, all attacks, damage, files of all forms."""

import random
from dataclasses import replace

from strandline.dialects.devicelog.codec import message_name, ssb_id, ssb_text, write_entry
from strandline.dialects.devicelog.types import ScrewStatement
from support.devicelog_cases import Log, compact, edited, example, feed, ssb_value
from support.devicelog_tampering import of_phone, respelled, tampered
from support.second_signatures import sign_again

DAMAGED = (
    b"{", b"[1]", b"null", b'{"previous":NaN}', b"\xff\xfe", b'{"group":"","group":""}', b'{"value":[]}',
    b'{"seq":' + b"[" * 129 + b"]" * 129 + b"}", b'{"previous":' + b"[" * 129 + b"]" * 129 + b"}",
)  # fmt: skip


class Group:
    """A group of one to seven devices that write, merge, add, remove and are restored from backups at random."""

    def __init__(self, draw, name):
        self.draw = draw
        self.logs = [Log(f"{name}/{number}".encode()) for number in range(draw.randint(1, 7))]
        self.out = self.logs[1:]
        named = [log for log in self.out if draw.random() < 0.6]
        founder = self.logs[0]
        founder.found("founder", (log.key.public for log in named))
        self.grants = {log.key.public: founder.entries[0] for log in named}
        self.utc = 0

    def entries(self, steps):
        for _ in range(steps):
            self.utc += self.draw.choice((0, 0, 1000))
            self._step()
        return [entry for log in self.logs for entry in log.entries]

    def _step(self):
        draw = self.draw
        joined = [log for log in self.logs if log.entries]
        ready = [log for log in self.out if not log.entries and log.key.public in self.grants]
        if ready and draw.random() < 0.4:
            log = draw.choice(ready)
            log.join(self.grants[log.key.public], "späť", self.utc)
            return
        log = draw.choice(joined)
        others = [each.entries[-1] for each in joined if each is not log]
        deps = draw.sample(others, draw.randint(0, min(2, len(others)))) if draw.random() < 0.4 else []
        more = {"deps": deps, "utc": self.utc}
        act = draw.random()
        if act < 0.06:
            stranger = draw.choice(self.logs).key.public
            self.grants.setdefault(stranger, log.add(stranger, **more))
        elif act < 0.12 and others:
            victim = draw.choice([each for each in joined if each is not log])
            last = draw.choice([None, *victim.entries])
            log.remove(victim.key.public, last, **more)
        elif act < 0.2:
            log.write("ack", None, **more)
        elif act < 0.26:
            heads = tuple(sorted(each.record_id for each in [log.entries[-1], *deps]))
            log.write("screw", ScrewStatement(0, bytes(32), 1, bytes(32), 1, bytes(32), heads), **more)
        elif act < 0.32 and len(log.entries) > 1:
            log.say(f"again {self.utc}", prev=log.entries[draw.randrange(len(log.entries) - 1)], **more)
        else:
            log.say(draw.choice(("", "hello", "Grüße ☃", "x" * 1000)) + str(draw.random()), **more)


def random_feed(draw, name, length):
    """The values of a feed."""
    log, values = Log(f"feed/{name}".encode()), []
    for sequence in range(1, length + 1):
        content = draw.choice(({"type": "post", "text": "☃ \u0007 \ud800", "n": 1e21, "7": -0.0}, "AAAA.box"))
        before = values[-1] if values else None
        values.append(ssb_value(log.key, before, sequence, 1000.5 * sequence, content))
    return values


def corpus(seed, groups, steps):
    """Two runs: entries in any order, some only in one of them, some never, some in both; damage and attacks."""
    draw = random.Random(seed)
    # It stands at no fork, whose evidence has the signature that is stored.
    copied = of_phone(prev="phone 6")
    second = replace(copied, sig=sign_again(b"\x01" * 32, copied.record_id))
    every = [write_entry(each) for each in (*example().values(), edited(), copied, second)]
    for number in range(groups):
        every += map(write_entry, Group(draw, f"{seed}/{number}").entries(steps))
    values = [*feed()]
    for number in range(groups // 4):
        values += random_feed(draw, f"{seed}/{number}", 6)
    runs = [([], []), ([], [])]
    for kind, records in enumerate((every, values)):
        for record in records:
            for _ in range(draw.choice((0, *[1] * 24, 2))):
                draw.choice(runs)[kind].append(record)
        for record in records[:16]:
            if record not in (*runs[0][kind], *runs[1][kind]):
                runs[1][kind].append(record)
    return [_files(draw, number, *run) for number, run in enumerate(runs)]


def _files(draw, number, entries, values):
    draw.shuffle(entries)
    draw.shuffle(values)
    half, third = len(entries) // 2, len(values) // 3
    lines = entries[:half] + list(map(compact, values[:third]))
    lines += [*DAMAGED, *(line for line, _ in tampered())] if number == 0 else lines[:2]
    draw.shuffle(lines)
    keyed = [
        {"key": message_name(ssb_id(ssb_text(value))), "value": value, "timestamp": 1}
        for value in values[2 * third :]
    ]
    return {
        "lines.jsonl": b"\n".join(lines) + b"\n",
        "more.ndjson": b"\r\n".join([*map(respelled, entries[half:]), b"", b" \t"]) + b"\n{",
        "feed.json": b"["
        + b",\n ".join(map(compact, values[third : 2 * third]))
        + (b"]" if number else b", 5, "),
        "log.txt": b"\n\n".join(compact(value) for value in keyed) + (b" x " if number else b"\n"),
    }
