"""Builds the inputs that tests/vectors/sdmp/cases.json describes. Its README says how they are described.

`shift` is added to the number of each synthetic journal, so that one lake can hold many cases as namespaces.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
def line(label: str, shift: int = 0) -> bytes:
    """The line that a label names: `J0.3` is line 3 of J(0, N) in 0.9, `K0.3` in 0.12; else one of `lines`."""
    if label in document()["lines"]:
        return _made(document()["lines"][label], shift)
    journal, _, k = label.partition(".")
    return list(synthetic(int(journal[1:]) + shift, int(k), PROFILES[journal[0]]))[-1]


def lines(labels: list[str], shift: int = 0) -> list[bytes]:
    """The lines of labels, where `J0.2..5` stands for `J0.2` to `J0.5`, and `siblings:J0.2:9` for 9 forgeries."""
    return list(_lines(labels, shift))


def _lines(labels: list[str], shift: int) -> Iterator[bytes]:
    for label in labels:
        head, dots, last = label.partition("..")
        if label.startswith("siblings:"):
            yield from siblings(*label.split(":")[1:], shift)
        elif dots and head not in document()["lines"]:
            journal, _, first = head.partition(".")
            whole = list(synthetic(int(journal[1:]) + shift, int(last), PROFILES[journal[0]]))
            yield from whole[int(first) - 1 :]
        else:
            yield line(label, shift)


def siblings(label: str, count: str, shift: int) -> Iterator[bytes]:
    """Lines that all follow one line."""
    before, author = line(label, shift), synthetic_id("author", 0)
    head = next(append(before, [(author, author)])).rpartition(b"/")[0]
    for i in range(int(count)):
        yield head + b"/" + synthetic_id("resource", 10**6 + i).encode()


def _made(recipe: Mapping[str, Any], shift: int) -> bytes:
    if "text" in recipe:
        return recipe["text"].encode()
    if "number" in recipe:
        return f"{recipe['number']}@{recipe['author']}/{recipe['resource']}".encode()
    if "after_text" in recipe:
        hash_ = line_hash(line(recipe["after_text"], shift), "0.12")
        return f"{hash_}@{recipe['author_id']}/{recipe['resource_id']}".encode()
    if "after" in recipe:
        before = line(recipe["after"], shift)
        profile = "0.9" if parse_line(before, "0.9") != "MALFORMED_LINE" else "0.12"
        author = synthetic_id("author", recipe["author"], profile)
        return next(
            append(before, [(author, synthetic_id("resource", recipe["resource"], profile))], profile)
        )
    made = bytearray(line(recipe["of"], shift))
    if "set" in recipe:
        index, character = recipe["set"]
        made[index] = ord(character)
    made += recipe.get("add", "").encode()
    made = made[: recipe.get("cut", len(made))]
    return bytes(made.upper() if recipe.get("upper") else made)


def number(label: str, shift: int = 0) -> str:
    """The number of a line; of line 1 its stand-in, the fingerprint."""
    return line(label, shift).partition(b"@")[0].decode()


def file(recipe: Mapping[str, Any], shift: int = 0) -> bytes:
    """The bytes of one described file."""
    if "hex" in recipe:
        return bytes.fromhex(recipe["hex"])
    if "raw" in recipe:
        return _shifted(recipe["raw"].encode(), shift)
    if "frames" in recipe:
        data = b"".join(frame(each, shift) + b"\n" for each in _single(recipe["frames"], shift))
    else:
        data = render(lines(recipe["lines"], shift)).replace(b"\n", recipe.get("join", "\n").encode())
    data = bytes.fromhex(recipe.get("start_hex", "")) + data + recipe.get("end", "").encode()
    data = data[: recipe.get("first_bytes", len(data))]
    return data.upper() if recipe.get("upper") else data


def _shifted(text: bytes, shift: int) -> bytes:
    """A text that names the node of J0 for that of the journal in its place."""
    return text.replace(line("J0.1"), line("J0.1", shift))


def _single(frames: list[Mapping[str, Any]], shift: int) -> Iterator[Mapping[str, Any]]:
    for each in frames:
        if "each" in each:
            yield from ({**each, "entries": [entry]} for entry in lines(each["each"], shift))
        else:
            yield each


def frame(recipe: Mapping[str, Any], shift: int = 0) -> bytes:
    """The bytes of one described frame: `json` as it is given, else a batch."""
    if "json" in recipe:
        return _shifted(json.dumps(recipe["json"]).encode(), shift)
    node = line(recipe["node"], shift).decode()
    assert profile_of(node) is not None
    entries = [entry if isinstance(entry, bytes) else line(entry, shift) for entry in recipe["entries"]]
    return batch(node, number(recipe["since"], shift), entries)


@dataclass(frozen=True)
class VectorRow:
    """A row of `quarantine` that a case must leave; `evidence` holds the members that the case states."""

    namespace: str | None
    status: str
    reasons: tuple[str, ...]
    raw: bytes
    waits_for: tuple[str, ...]
    evidence: Mapping[str, Any]

    @property
    def key(self) -> tuple[str | None, str, tuple[str, ...], bytes, tuple[str, ...]]:
        """All but the evidence."""
        return self.namespace, self.status, self.reasons, self.raw, self.waits_for


def rows(case: Mapping[str, Any], shift: int = 0) -> list[VectorRow]:
    """Every row that a case must leave, in the order of the file."""
    return [_row(case, each, shift) for each in case["quarantine"]]


def _row(case: Mapping[str, Any], row: Mapping[str, Any], shift: int) -> VectorRow:
    files = case["runs"][-1]["files"]
    if "line" in row:
        raw = line(row["line"], shift)
    elif "file" in row:
        raw = file(files[row["file"]], shift)
    elif "frame" in row:
        raw = file(files[row["frame"]], shift).rstrip(b"\n")
    else:
        raw = bytes.fromhex(row["hex"])
    unknown = {"BAD_NODE", "FIRST_LINE_MALFORMED"} & set(row["reasons"])
    node = line(next(iter(case["accepted"]), "J0.1"), shift).decode()
    number_of = raw.partition(b"@")[0].decode() if row["status"] == "deferred" else ""
    told = {name: row[name] for name in ("position", "expected", "actual", "cause") if name in row}
    if "line_before" in row:
        told["line_before"] = line(row["line_before"], shift).decode()
    if row.get("since"):
        told["since"] = number(row["since"], shift)
    return VectorRow(
        None if unknown else f"node:{node}",
        row["status"],
        tuple(row["reasons"]),
        raw,
        (f"line:{number_of}",) if number_of else (),
        told,
    )


def accepted(case: Mapping[str, Any], shift: int = 0) -> dict[str, set[bytes]]:
    """The lines that a case must have let in, by node."""
    return {
        line(node, shift).decode(): set(lines(labels, shift))
        for node, labels in case.get("accepted", {}).items()
    }
