"""Writes stores.jsonl: a small log for each store, by two writers with keys from fixed seeds (INSECURE, invented)."""

from pathlib import Path
from typing import Any

from strandline.dialects.ipfslog.author import Identity, Log, to_lines

NOTE = "first note"
PAYLOADS: dict[str, list[Any]] = {
    "chat": ["hello", {"text": "hello back"}],
    "notes": [{"op": "ADD", "value": NOTE}, {"op": "ADD", "value": "second note"}],
    "people": [
        {"op": "PUT", "key": "ann", "value": {"name": "Ann", "town": "Bath"}},
        {"op": "PUT", "key": "ben", "value": {"name": "Ben"}},
        {"op": "PUT", "key": "ann", "value": {"name": "Ann", "town": "York"}},
    ],
    "shop": [
        {"op": "PUT", "key": "tea", "value": 3},
        {"op": "PUT", "key": "milk", "value": 1},
        {"op": "PUT", "key": "tea", "value": 4},
        {"op": "DEL", "key": "milk", "value": None},
    ],
    "visits": [
        {"op": "COUNTER", "value": {"id": "ann", "counters": {"ann": 3}}},
        {"op": "COUNTER", "value": {"id": "ben", "counters": {"ben": 4}}},
    ],
}


def identity(seed: int) -> Identity:
    """Return an identity with keys from a seed."""
    return Identity.from_keys(bytes([seed]) * 32, bytes([seed + 1]) * 32, "orbitdb")


def logs() -> list[Log]:
    """Return the logs; two writers append in turns."""
    writers = (identity(21), identity(23))
    found = []
    for name, payloads in PAYLOADS.items():
        log = Log(name)
        for turn, payload in enumerate(payloads):
            log.identity = writers[turn % 2]
            log.append(payload)
        found.append(log)
    notes = found[1]
    notes.append({"op": "DEL", "key": None, "value": notes.values[0].cid})
    return found


def main() -> None:
    """Write the file to the folder of this module."""
    lines = b"".join(to_lines(log.values) for log in logs())
    Path(__file__).with_name("stores.jsonl").write_bytes(lines)


if __name__ == "__main__":
    main()
