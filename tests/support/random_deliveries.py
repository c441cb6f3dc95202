"""Random logs as files of several runs: every variant, format and kind of damage, in any order."""

import base64
import gzip
import json
import random

from strandline.dialects.ipfslog.author import to_car, to_json
from strandline.dialects.ipfslog.codec import (
    canonical_cid,
    cid_text,
    dag_cbor,
    dag_pb_block,
    identity_value,
    parse_cid,
    parse_dag_cbor,
)
from strandline.dialects.ipfslog.types import record_id
from support.ipfslog_cases import AUTHORS, entry, who

VARIANTS = ["v2", "v2", "core2", "core2", "v1", "v0"]
PAYLOADS = [
    "text", None, 1.5, {"op": "PUT", "key": "a", "value": [1, {"é": 1e21}]}, {"op": "ADD", "value": "x"},
    {"op": "DEL", "key": 1, "value": "zdpuAmL9zAgC4KFdMWW6yjpEcSYTnBunjTeijHv8GTKrxoz7D"},
    {"op": "COUNTER", "value": {"id": "a", "counters": {"a": 3, "b": 0.5}}},
    {"op": "PUTALL", "docs": [{"key": "k", "value": 1}, 2, {"key": None}]},
]  # fmt: skip


def corpus(seed: int, logs: int, runs: int) -> list[dict[str, bytes]]:
    """Files by name, a mapping for each run, as they are after decompression."""
    rng = random.Random(seed)
    found: list[dict[str, bytes]] = [{} for _ in range(runs)]
    lines: list[list[str]] = [[] for _ in range(runs)]
    for number in range(logs):
        made = _log(rng, f"/log {seed}/{number}é")
        for name, content in _files(rng, made, f"{number:04}").items():
            rng.choice(found)[name] = content
        for line in _lines(rng, made):
            rng.choice(lines).append(line)
    for run, each in enumerate(lines):
        rng.shuffle(each)
        found[run]["many.jsonl"] = "\n".join(each).encode()
        found[run]["identities.jsonl"] = _identities(rng)
    return found


def packed(files: dict[str, bytes]) -> dict[str, bytes]:
    """Some of the files compressed."""
    return {
        name + (".gz" if number % 3 == 0 else ""): gzip.compress(content) if number % 3 == 0 else content
        for number, (name, content) in enumerate(sorted(files.items()))
    }


def _log(rng: random.Random, log_id: str):
    variant = rng.choice(VARIANTS)
    made = []
    for _ in range(rng.randint(1, 6)):
        parents = rng.sample(made, min(len(made), rng.randint(0, 2)))
        lie = rng.random() < 0.1
        above = min(2**53 - 1, 1 + max((each.clock_time for each in parents), default=0))
        time = rng.choice([0, 5, 2**53 - 1]) if lie else above
        own = variant if rng.random() < 0.9 else rng.choice(VARIANTS)
        author = rng.choice([*AUTHORS.values(), f"stranger {rng.randrange(40)}"])
        cids = [each.cid for each in parents]
        made.append(
            entry(rng.choice(PAYLOADS), own, author, log_id, time, cids, cids[:1] * rng.choice([0, 0, 2]))
        )
    return made


def _fields(made):
    return parse_dag_cbor(made.block).value


def _forged(rng: random.Random, made) -> str:
    """An entry with one thing altered, as a line."""
    if made.variant == "v0" or rng.random() < 0.3:
        value = json.loads(to_json(made))
        change = rng.choice(
            ["payload", "hash", "time", "clock", "sig", "next", "id", "more", "identity", "key"]
        )
        if change == "payload":
            value["payload"] = "other"
        elif change == "hash":
            value["hash"] = rng.choice(
                ["zdpuAmL9zAgC4KFdMWW6yjpEcSYTnBunjTeijHv8GTKrxoz7D", "x", None, 1, "f0155"]
            )
        elif change == "time":
            value["clock"]["time"] = rng.choice([-1, 1.5, 2**53 + 2, "1"])
        elif change == "clock":
            value["clock"]["id"] = "ab"
        elif change == "sig":
            value["sig"] = rng.choice(["", "zz", value["sig"].upper(), value["sig"][:-2]])
        elif change == "next":
            value["next"] = rng.choice([["x"], [1], "", [made.cid, made.cid]])
        elif change == "id":
            value["id"] = rng.choice(["", "é" * 600, 1])
        elif change == "identity":
            value["identity"] = identity_value(who("bob").record)
        elif change == "key":
            value["key"] = value["key"][:-2]
        else:
            value["additional_data"] = 1
        return json.dumps(value, ensure_ascii=rng.random() < 0.5)
    change = rng.choice(["byte", "cut", "trail", "claim", "type", "valid", "payload", "entry"])
    block = made.block
    if change == "byte":
        at = rng.randrange(len(block))
        block = block[:at] + bytes([block[at] ^ (1 << rng.randrange(8))]) + block[at + 1 :]
    elif change == "cut":
        block = block[: rng.randrange(len(block))]
    elif change == "trail":
        block += b"\x00"
    elif change == "payload":
        block = dag_cbor(_fields(made) | {"payload": b"\x00\x01"})
    elif change == "entry":
        block = rng.choice([dag_cbor([1]), dag_cbor({"v": 2}), dag_cbor(b"secret"), dag_pb_block(b"{"), b""])
    elif change in ("type", "valid") and made.variant in ("v1", "v2"):
        own = dict(_fields(made)["identity"])
        more = {"type": "DID"} if change == "type" else {"id": who("bob").id}
        block = dag_cbor(_fields(made) | {"identity": own | more})
    return _raw(block, made.cid if change == "claim" or rng.random() < 0.3 else None)


def _raw(block: bytes, claimed: str | None = None) -> str:
    cid = claimed or cid_text(parse_cid(canonical_cid(record_id(block))).raw)
    return json.dumps({"cid": cid, "data": base64.b64encode(block).decode()})


def _lines(rng: random.Random, made) -> list[str]:
    lines = []
    for each in made:
        forms = [to_json(each), _raw(each.block, each.cid), _raw(each.block)]
        lines += rng.choices(forms, k=rng.choice([0, 1, 1, 2]))
        if rng.random() < 0.3:
            lines.append(_forged(rng, each))
    if rng.random() < 0.2:
        lines.append(
            rng.choice(["", "{", "[]", '{"payload":1,"v":7,"clock":0}', '{"v":1,"v":1}', '"\\ud800"', "{}"])
        )
    return lines


def _files(rng: random.Random, made, name: str) -> dict[str, bytes]:
    kind = rng.choice(["snapshot", "array", "car", "none", "none", "manifest"])
    if kind == "snapshot":
        log_id = rng.choice([made[0].log_id, made[0].log_id, "other"])
        heads = rng.choice([[json.dumps(made[-1].cid)], [to_json(made[-1])], ["1"], [_raw(made[0].block)]])
        values = [to_json(each) for each in made] + ([_forged(rng, made[0])] if rng.random() < 0.3 else [])
        text = f'{{"id":{json.dumps(log_id)},"heads":[{",".join(heads)}],"values":[{",".join(values)}]}}'
        return {f"{name}.json": text.encode()[: None if rng.random() < 0.9 else rng.randrange(len(text))]}
    if kind == "array":
        return {f"{name}.json": f"[{', '.join(_lines(rng, made) or ['1'])}]".encode()}
    if kind == "car":
        known = [who(author, "core2").record for author in AUTHORS.values() if rng.random() < 0.5]
        content = to_car(made[-1:], made, known)
        if rng.random() < 0.3:
            content = content[: rng.randrange(len(content))]
        elif rng.random() < 0.3:
            at = rng.randrange(len(content))
            content = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        return {f"{name}.car": content}
    if kind == "manifest":
        heads = [made[-1].cid, "zdpuAmL9zAgC4KFdMWW6yjpEcSYTnBunjTeijHv8GTKrxoz7D"]
        documents = [
            {"id": made[0].log_id, "heads": heads},
            {"name": name, "type": "keyvalue", "accessController": "/ipfs/" + made[0].cid},
            {"type": "ipfs", "write": ["*", name]},
            {"write": json.dumps(["b", "a", "b"])},
            {"type": "ipfs", "params": {"address": name}},
            {"admin": ["*"], "write": ["k", "*"], "read": []},
        ]
        return {f"{name}.json": json.dumps(rng.sample(documents, 3)).encode()}
    return {}


def _identities(rng: random.Random) -> bytes:
    names = [*AUTHORS.values(), *(f"stranger {number}" for number in range(40))]
    values = []
    for name in names:
        if rng.random() < 0.6:
            record = who(name, rng.choice(["v2", "core2"])).record
            value = identity_value(record)
            if rng.random() < 0.1:
                value["id"] = who("bob").id
            values.append(rng.choice([json.dumps(value), _raw(record.block)]))
    return "\n".join(values).encode() + b"\n"
