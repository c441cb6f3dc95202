"""The demo files of logs: two published entries as printed, forged copies, and a small synthetic log.

Source of the entries: The OrbitDB Field Manual, chapter "ipfs-log". The keys of the synthetic log are from fixed
seeds: INSECURE DEMO.
"""

from __future__ import annotations

import json
from typing import Any, Final

from strandline.dialect_api.demo import Demo, DemoFile, DemoPruning, DemoRejection
from strandline.dialect_api.info import GivenOption
from strandline.dialects.ipfslog.author import Identity, Log, sign_entry, to_json, to_snapshot
from strandline.dialects.ipfslog.codec import identity_value
from strandline.dialects.ipfslog.info import LOG_CONFIG
from strandline.dialects.ipfslog.types import log_namespace

QUERY: Final = """\
SELECT log_id, clock_time, left(writer, 12) AS writer, payload_json
FROM ipfs_log_entry WHERE log_id <> 'demo-stock' ORDER BY log_id, clock_time, cid"""
NEXT_QUERY: Final = "SELECT cid, id, valid FROM ipfs_log_identity"

SHOP: Final = "demo-shop"
FORGED: Final = "forged.jsonl"
STOCK: Final = "demo-stock"
_GOODS: Final = ("tea", "milk", "bread")
_COUNTS: Final = 12

_KEY = (
    "04524f55b54154aa9ec5a54118821c666d19825c0b4e4e91fac387035dbf67980"
    "3cbdc858b052558f75d5e52ed5b2c38b94d4f652ee63142bae91b95df3b36fe4b"
)
_IDENTITY: Final[dict[str, Any]] = {
    "id": "0281c2c485e5f03f006f8e7ccb34f4281d2d7ae7d8571660e745eb4e07b4d8f35d",
    "publicKey": _KEY,
    "signatures": {
        "id": (
            "3045022100c7fe5bab3844e197cccc9dc0962977f0381b96acaf9518688a278e0f8ddbc"
            "78d0220137e7d154a076319fe418e24f4d861683cf6823f3f725d1f4eb30b17cb1f3fbe"
        ),
        "publicKey": (
            "3044022043dc1a586910538cd534666d8c66599e6349e82c6ba7fe5bf4d43cfefc4a3e"
            "9f02205838a492371fee3f22e4aeeeda9d0f8c1176bf16f64139049b0c6b47d89a8e63"
        ),
    },
    "type": "orbitdb",
}
_FIRST = "zdpuAmL9zAgC4KFdMWW6yjpEcSYTnBunjTeijHv8GTKrxoz7D"


def published() -> list[dict[str, Any]]:
    """Return the two published entries as the manual prints them."""
    return [
        {
            "hash": _FIRST,
            "id": "example-log",
            "payload": "one",
            "next": [],
            "v": 1,
            "clock": {"id": _KEY, "time": 1},
            "key": _KEY,
            "identity": _IDENTITY,
            "sig": (
                "3045022100e85408f20d8917eea076e091a64507c1115f9314cf8578b1c483810e82dc6"
                "b8902206649fea6407261157310ef59fc518bb902a7b32a9ddf55817a6010df004ed452"
            ),
        },
        {
            "hash": "zdpuAoGa1MseCvKwbk9xdGK6aNyB5JqdYX8WrkUA8UCz7fRut",
            "id": "example-log",
            "payload": {"two": "hello"},
            "next": [_FIRST],
            "v": 1,
            "clock": {"id": _KEY, "time": 2},
            "key": _KEY,
            "identity": _IDENTITY,
            "sig": (
                "304402207cb815276e16d222759f65558d22c3067b54be86f1ce66f1be057e7c188367"
                "d6022050e4b93ddc40bc174b725623473a00412cb56180254c18ec34b616afe4ef1840"
            ),
        },
    ]


def altered() -> dict[str, Any]:
    """Return the second published entry with another payload, which its signature does not cover, and no address."""
    entry = {**published()[1], "payload": {"two": "goodbye"}}
    del entry["hash"]
    return entry


def shop() -> Log:
    """Return a small synthetic log that alice wrote."""
    log = Log(SHOP, identity=_who(1))
    for op, key, value in (("PUT", "tea", 3), ("PUT", "milk", 1), ("PUT", "tea", 4), ("DEL", "milk", None)):
        log.append({"op": op, "key": key, "value": value})
    return log


def stock() -> Log:
    """Return a synthetic log in which alice writes each of three counts anew, again and again: 36 entries."""
    log = Log(STOCK, identity=_who(1))
    for count in range(_COUNTS):
        for key in _GOODS:
            log.append({"op": "PUT", "key": key, "value": count})
    return log


def _pruning() -> DemoPruning:
    entries = stock().values
    stores = {"logs": [{"id": STOCK, "store": "keyvalue"}]}
    return DemoPruning(
        file=DemoFile(
            "stock.jsonl", "synthetic, a key-value store that overwrites three keys", len(entries),
            "".join(to_json(entry) + "\n" for entry in entries).encode(),
        ),
        namespace=log_namespace(STOCK),
        skip_window=4,
        options={LOG_CONFIG: GivenOption("the demo's stores", json.dumps(stores).encode())},
    )  # fmt: skip


def _impersonated() -> dict[str, Any]:
    """Return an entry that mallory signed and that carries alice's identity: ipfs-log itself accepts it."""
    alice, mallory = _who(1), _who(3)
    [head] = shop().heads
    signed = sign_entry(mallory, SHOP, {"op": "PUT", "key": "tea", "value": 0}, time=5, next=[head.cid])
    entry: dict[str, Any] = json.loads(to_json(signed))
    entry["identity"] = identity_value(alice.record)
    del entry["hash"]
    return entry


def demo() -> Demo:
    """Return the files of the demo, and the record in them that the demo explains."""
    log = shop()
    forged = "".join(json.dumps(each) + "\n" for each in (altered(), _impersonated()))
    return Demo(
        files=(
            DemoFile(
                "published.json", "published, ipfs-log v1", 2, json.dumps(published(), indent=1).encode()
            ),
            DemoFile("shop.json", "synthetic, a log snapshot: its head and its values", 5, to_snapshot(log)),
            DemoFile(FORGED, "one payload altered, one entry in another's name", 2, forged.encode()),
        ),
        rejection=DemoRejection(
            title="An entry that mallory signed in alice's name",
            file=FORGED,
            namespace=log_namespace(SHOP),
            reason="KEY_IDENTITY_MISMATCH",
        ),
        query=QUERY,
        next_query=NEXT_QUERY,
        pruning=_pruning(),
    )


def _who(seed: int) -> Identity:
    return Identity.from_keys(bytes([seed]) * 32, bytes([seed + 1]) * 32, "orbitdb")
