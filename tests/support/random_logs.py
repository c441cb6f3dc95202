"""Random logs: honest and lying clocks, branches, gaps, all stores, writers who may not; signed: forks are real."""

import random
from dataclasses import dataclass

from strandline.dialects.ipfslog.codec import dag_cbor, parse_dag_cbor
from strandline.dialects.ipfslog.reduce import LogConfiguration
from strandline.dialects.ipfslog.verify import verify_block
from support.ipfslog_cases import AUTHORS, book, entry, who
from support.log_lakes import manifest

STORES = ("none", "eventlog", "feed", "keyvalue", "documents", "counter")
KEYS = ("x", "y", "é", "constructor", 1, None, True, ["no key"])
NAMES = tuple(AUTHORS.values())


@dataclass
class RandomLog:
    """The entries of one log in batches, what the operator says of it or None, and the manifests its id names."""

    log_id: str
    batches: list
    told: LogConfiguration | None
    manifests: list


def random_log(seed, batches, more_writers=()):
    """The log of a seed: of one to two dozen entries, some of which nobody delivers.

    `more_writers` are on its write list, too, if not everyone may write.
    """
    draw = random.Random(seed)
    store = draw.choice(STORES)
    write = draw.choice(["*", "*", "*", "list", "key"])
    variants = draw.choice(
        [["v2"], ["v2"], ["core2"], ["core2"], ["v1", "v2"], ["v2", "core2"], ["v0", "v2"]]
    )
    writers = ("*",)
    if write != "*":
        writers = tuple(sorted({*more_writers, *(_writer(draw, name, write) for name in NAMES[:2])}))
    log_id, manifests, told = f"log/{seed} é~+%", [], None
    if draw.random() < 0.3:
        log_id, manifests = _committed(seed, draw, store, writers)
    elif draw.random() < 0.8:
        told = LogConfiguration(store, writers, "config")
    made = _entries(draw, log_id, variants, lying=draw.choice([0, 0, 0, 0.2]))
    made += twins(random.Random(f"{seed} twins"), made)
    held = [each for each in made if draw.random() > draw.choice([0, 0, 0.15])] or made
    arrival = draw.choice(["any", "any", "old first", "new first"])
    if arrival == "any":
        draw.shuffle(held)
    elif arrival == "new first":
        held.reverse()
    cuts = sorted(draw.randint(0, len(held)) for _ in range(batches - 1))
    parts = [held[a:b] for a, b in zip([0, *cuts], [*cuts, len(held)], strict=True)]
    for part in parts[1:]:
        # Some come again: they are known and change nothing.
        part.extend(draw.sample(held[: cuts[0]], min(2, cuts[0])))
    return RandomLog(log_id, parts, told, manifests)


def _writer(draw, name, write):
    identity = who(name, draw.choice(["v2", "core2"]))
    return identity.id if write == "list" else f"key:{identity.public_key}"


def _committed(seed, draw, store, writers):
    """An id that commits to a database manifest, and those manifests of the chain that somebody delivers."""
    type_ = draw.choice(
        [store, {"documents": "docstore", "eventlog": "events"}.get(store, store), "unheard of"]
    )
    listing = dag_cbor({"type": "ipfs", "write": list(writers)})
    chain = [listing]
    if draw.random() < 0.5:
        kind = draw.choice(["ipfs", "legacy-ipfs", "orbitdb"])
        chain.append(dag_cbor({"type": kind, "params": {"address": manifest(listing).cid}}))
    access = manifest(chain[-1]).cid
    database = dag_cbor(
        {"name": f"db {seed}", "type": type_, "accessController": draw.choice(["/ipfs/", ""]) + access}
    )
    chain.append(database)
    made = [manifest(block) for block in chain]
    log_id = f"/orbitdb/{made[-1].cid}" + draw.choice(["", f"/db {seed}"])
    return log_id, [each for each in made if draw.random() > 0.1]


def _entries(draw, log_id, variants, lying):
    made = []
    for number in range(draw.randint(1, 24)):
        parents = (
            draw.sample(made, min(len(made), draw.choice([0, 1, 1, 1, 2, 3])))
            if draw.random() < 0.3
            else _tips(made, draw)
        )
        time = 1 + max((each.clock_time for each in parents), default=draw.choice([0, 0, 1, number]))
        if draw.random() < lying:
            time = draw.randint(0, 9)
        links = list(dict.fromkeys(each.cid for each in parents))
        variant = draw.choice(variants)
        made.append(
            entry(
                _payload(draw, number, made),
                variant,
                draw.choice(NAMES),
                log_id=log_id,
                time=time,
                parents=links,
            )
        )
    return list({each.record_id: each for each in made}.values())


def twins(draw, entries):
    """Twins of some entries, as compat accepts them: equal signed bytes, floats in another width."""
    found = []
    for each in entries:
        if each.variant in ("v1", "v2") and draw.random() < 0.5:
            block = dag_cbor(parse_dag_cbor(each.block).value, "short")
            if block != each.block:
                found.append(verify_block(block, profile="compat", identities=book()).entry)
    return found


def _tips(made, draw):
    named = {parent for each in made for parent in each.next}
    tips = [each for each in made if each.record_id not in named]
    return tips if draw.random() < 0.5 else tips[-1:]


def _payload(draw, number, made):
    key = draw.choice(KEYS)
    kind = draw.randrange(8)
    if kind < 2:
        return {
            "op": "PUT",
            "key": key,
            "value": draw.choice([number, {"n": 1.5, "é": [None]}, None, "text"]),
        }
    if kind == 2:
        return {"op": "PUT", "key": key}
    if kind == 3:
        value = draw.choice(made).cid if made and draw.random() < 0.7 else None
        return {"op": "DEL", "key": key, "value": value}
    if kind == 4:
        return {"op": "ADD", "value": number}
    if kind == 5:
        docs = [{"key": draw.choice(KEYS), "value": {"at": at}} for at in range(draw.randint(0, 4))]
        return {"op": "PUTALL", "docs": [*docs, "no map"]}
    if kind == 6:
        counts = {
            name: draw.choice([0, -3, 1, 2.5, 2, 1e21, 9007199254740991]) for name in draw.sample("abc", 2)
        }
        return {"op": "COUNTER", "value": {"id": "a", "counters": counts}}
    return draw.choice(["text", 7, None, {"op": "UNHEARD", "key": "x", "value": 1}, {"more": True}])
