"""Headers of large groups that nobody signed: reducers do not look at signatures."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pyarrow as pa

from strandline.dialects.devicelog.codec import write_body
from strandline.dialects.devicelog.types import Header, KeyStatement, RemoveStatement
from support.device_rows import HEADERS


def _digest(*what):
    return hashlib.sha256(repr(what).encode()).digest()


def header_batches(logs: int, messages: int, seen_every: int) -> Iterator[pa.RecordBatch]:
    """Headers of `logs` devices that write in turn; each `seen_every`th message names one of the device before."""
    rows = _rows(logs, messages, seen_every)
    while some := list(islice(rows, 8192)):
        yield pa.RecordBatch.from_pylist(some, schema=HEADERS)


def _rows(logs, messages, seen_every):
    keys = [_digest("log", number) for number in range(logs)]
    group = _digest("founder")
    same = {"namespace": f"group:{group.hex()}", "bucket": 0, "profile": "native", "utc": 0}
    tips = [(group, 0, -1), *((_digest("start", number), 0, 0) for number in range(1, logs))]
    for number, (record_id, seq, lamport) in enumerate(tips):
        named = () if number else tuple(keys[1:])
        yield same | {
            "record_id": record_id, "log": keys[number], "kind": "key", "seq": seq, "lamport": lamport, "prev": None,
            "deps": [group] if number else [], "body": write_body(KeyStatement(str(number), named)),
        }  # fmt: skip
    for k in range(messages):
        number = k % logs
        prev, seq, lamport = tips[number]
        seen = [tips[number - 1]] if k % seen_every == 0 else []
        tips[number] = _digest(k), seq + 1, 1 + max([lamport, *(each[2] for each in seen)])
        yield same | {
            "record_id": tips[number][0], "log": keys[number], "kind": "msg", "seq": seq + 1,
            "lamport": tips[number][2], "prev": prev, "deps": [each[0] for each in seen], "body": None,
        }  # fmt: skip


def header(number, log=0, kind="msg", seq=0, lamport=0, prev=None, deps=(), initial=()):
    """The header of an entry with a number as its id, in the group that number 0 founds."""
    return Header(
        record_id=number.to_bytes(32), group=bytes(32), log=_digest("log", log), kind=kind, seq=seq, lamport=lamport,
        utc=0, prev=None if prev is None else prev.to_bytes(32), deps=tuple(each.to_bytes(32) for each in deps),
        statement=KeyStatement("", tuple(_digest("log", each) for each in initial)) if kind == "key" else None,
        profile="native",
    )  # fmt: skip


def nested_forks(count, *, sees_dead_ends=False):
    """A log of `count` entries and its start: each inner entry has two children, and that of greater id goes on."""
    made, prev = [header(0, kind="key")], 0
    for seq in range(1, count // 2 + 1):
        deps = [prev - 1] if sees_dead_ends and prev else []
        made.append(header(prev + 1, seq=seq, lamport=seq, prev=prev))
        made.append(header(prev + 2, seq=seq, lamport=seq, prev=prev, deps=deps))
        prev += 2
    return made


def logs_in_a_chain(count):
    """`count` logs, each with a start and an acknowledgement of the one before."""
    made = [header(0, kind="key", initial=range(1, count))]
    made += [header(log, log, kind="key", lamport=1, deps=[0]) for log in range(1, count)]
    for log in range(1, count):
        seen = log - 1 and count + log - 1
        made.append(header(count + log, log, "ack", 1, log + 1, log, [seen] if seen else [0]))
    return made


def logs_that_see_all(count, rounds):
    """`count` logs: in each round the first one acknowledges the tips of all others, and these write what names it."""
    made = [header(0, kind="key", initial=range(1, count))]
    made += [header(log, log, kind="key", lamport=1, deps=[0]) for log in range(1, count)]
    tips = list(range(count))
    for number in range(rounds):
        made.append(header(len(made), 0, "ack", number + 1, 2 * number + 2, tips[0], tips[1:]))
        tips[0] = len(made) - 1
        for log in range(1, count):
            made.append(header(len(made), log, "msg", number + 1, 2 * number + 3, tips[log], tips[:1]))
            tips[log] = len(made) - 1
    return made


def logs_that_remove_one(count):
    """`count` logs, each with a start; all but the founder's remove the one of number 1, of which they saw nothing."""
    made = [header(0, kind="key", initial=range(1, count))]
    made += [header(log, log, kind="key", lamport=1, deps=[0]) for log in range(1, count)]
    removal = RemoveStatement(_digest("log", 1), -1, None)
    each = (header(count + log, log, "remove-log", 1, 2, log) for log in range(2, count))
    return [*made, *(replace(header, statement=removal) for header in each)]


def removals_of_one_fork(count, *, of_starts=False):
    """A log of `count` branches, from its start or each with a start, and as many removals that cut before them."""
    removed = header(1, 1, "key", lamport=0, deps=[0])
    made, cut = (
        [header(0, kind="key", lamport=-1, initial=[1])],
        (-1, None) if of_starts else (0, removed.record_id),
    )
    if of_starts:
        made += [header(number, 1, "key", lamport=0, deps=[0]) for number in range(1, count + 1)]
    else:
        made += [removed, *(header(number, 1, "msg", 1, 1, 1) for number in range(2, count + 2))]
    deps = [] if of_starts else [1]
    for seq in range(1, count + 1):
        each = header(len(made), 0, "remove-log", seq, seq, 0 if seq == 1 else len(made) - 1, deps)
        made.append(replace(each, statement=RemoveStatement(removed.log, *cut)))
    return made


def random_forest(draw, count):
    """Entries of a few logs in which any entry may have many children; some remove logs, or start one a second time."""
    logs = draw.randint(1, 4)
    ids = [0, *draw.sample(range(1, 1_000_000), count + 2 * logs)]
    made = {0: [header(0, kind="key", initial=range(1, logs))]}
    for log in range(1, logs):
        for number in [ids.pop(), ids.pop()][: draw.choice([1, 1, 2])]:
            start = header(number, log, kind="key", lamport=1, deps=[0])
            made.setdefault(log, []).append(start)
    for _ in range(count):
        log = draw.choice([*made])
        # One of the newest, so that forks are nested, or any.
        prev = draw.choice(made[log][-draw.choice([1, 2, 2, count]) :])
        others = [each for other in made if other != log for each in made[other]]
        deps = draw.sample(others, min(len(others), draw.choice([0, 0, 1, 2])))
        lamport = 1 + max(each.lamport for each in [prev, *deps])
        new = header(ids.pop(), log, "msg", prev.seq + 1, lamport)
        names = {"prev": prev.record_id, "deps": tuple(each.record_id for each in deps)}
        if draw.random() < 0.1:
            names |= {"kind": "remove-log", "statement": _removal(draw, made, names["prev"])}
        made[log].append(replace(new, **names))
    return [each for entries in made.values() for each in entries]


def _removal(draw, made, prev):
    entries = draw.choice([*made.values()])
    last = draw.choice([None, *entries])
    own = next((each for each in entries if each.record_id == prev), last)
    if own is None:
        return RemoveStatement(entries[0].log, -1, None)
    return RemoveStatement(own.log, own.seq, own.record_id)
