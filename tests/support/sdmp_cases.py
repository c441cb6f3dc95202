"""Builds the inputs that tests/vectors/sdmp/cases.json describes. Its README says how they are described."""

import json
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import batch, line_hash, parse_line, profile_of, render

VECTORS = Path(__file__).parents[1] / "vectors"
PROFILES = {"J": "0.9", "K": "0.12"}


@cache
def document() -> dict[str, Any]:
    """The vectors, as they stand in the file."""
    return json.loads((VECTORS / "sdmp" / "cases.json").read_text("utf-8"))


def cases() -> list[dict[str, Any]]:
    """All cases, in the order of the file."""
    return document()["cases"]


@lru_cache(maxsize=4096)
def line(label: str) -> bytes:
    """The line that a label names: `J0.3` is line 3 of J(0, N) in 0.9, `K0.3` in 0.12; else one of `lines`."""
    if label in document()["lines"]:
        return _made(document()["lines"][label])
    journal, _, k = label.partition(".")
    return list(synthetic(int(journal[1:]), int(k), PROFILES[journal[0]]))[-1]


def lines(labels: list[str]) -> list[bytes]:
    """The lines of labels, where `J0.2..5` stands for `J0.2` to `J0.5`, and `siblings:J0.2:9` for 9 forgeries."""
    return list(_lines(labels))


def _lines(labels: list[str]) -> Iterator[bytes]:
    for label in labels:
        head, dots, last = label.partition("..")
        if label.startswith("siblings:"):
            yield from siblings(*label.split(":")[1:])
        elif dots and head not in document()["lines"]:
            journal, _, first = head.partition(".")
            whole = list(synthetic(int(journal[1:]), int(last), PROFILES[journal[0]]))
            yield from whole[int(first) - 1 :]
        else:
            yield line(label)


def siblings(label: str, count: str) -> Iterator[bytes]:
    """Lines that all follow one line."""
    before, author = line(label), synthetic_id("author", 0)
    head = next(append(before, [(author, author)])).rpartition(b"/")[0]
    for i in range(int(count)):
        yield head + b"/" + synthetic_id("resource", 10**6 + i).encode()


def _made(recipe: Mapping[str, Any]) -> bytes:
    if "text" in recipe:
        return recipe["text"].encode()
    if "number" in recipe:
        return f"{recipe['number']}@{recipe['author']}/{recipe['resource']}".encode()
    if "after_text" in recipe:
        hash_ = line_hash(line(recipe["after_text"]), "0.12")
        return f"{hash_}@{recipe['author_id']}/{recipe['resource_id']}".encode()
    if "after" in recipe:
        before = line(recipe["after"])
        profile = "0.9" if parse_line(before, "0.9") != "MALFORMED_LINE" else "0.12"
        author = synthetic_id("author", recipe["author"], profile)
        return next(
            append(before, [(author, synthetic_id("resource", recipe["resource"], profile))], profile)
        )
    made = bytearray(line(recipe["of"]))
    if "set" in recipe:
        index, character = recipe["set"]
        made[index] = ord(character)
    made += recipe.get("add", "").encode()
    made = made[: recipe.get("cut", len(made))]
    return bytes(made.upper() if recipe.get("upper") else made)


def number(label: str) -> str:
    """The number of a line; of line 1 its stand-in, the fingerprint."""
    return line(label).partition(b"@")[0].decode()


def file(recipe: Mapping[str, Any]) -> bytes:
    """The bytes of one described file."""
    if "hex" in recipe:
        return bytes.fromhex(recipe["hex"])
    if "raw" in recipe:
        return recipe["raw"].encode()
    if "frames" in recipe:
        data = b"".join(frame(each) + b"\n" for each in _single(recipe["frames"]))
    else:
        data = render(lines(recipe["lines"])).replace(b"\n", recipe.get("join", "\n").encode())
    data = bytes.fromhex(recipe.get("start_hex", "")) + data + recipe.get("end", "").encode()
    data = data[: recipe.get("first_bytes", len(data))]
    return data.upper() if recipe.get("upper") else data


def _single(frames: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for each in frames:
        if "each" in each:
            yield from ({**each, "entries": [entry]} for entry in lines(each["each"]))
        else:
            yield each


def frame(recipe: Mapping[str, Any]) -> bytes:
    """The bytes of one described frame: `json` as it is given, else a batch."""
    if "json" in recipe:
        return json.dumps(recipe["json"]).encode()
    node = line(recipe["node"]).decode()
    assert profile_of(node) is not None
    entries = [entry if isinstance(entry, bytes) else line(entry) for entry in recipe["entries"]]
    return batch(node, number(recipe["since"]), entries)
