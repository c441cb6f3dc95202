"""What a case delivers and every row it must leave: bytes, code, place and evidence, spelled out beside the product.

Nothing here calls the product's verifier: digests, places and texts are worked out anew from the bytes delivered.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

MARK = b"\xef\xbb\xbf"
MALFORMED, MISPLACED, MISMATCH = "MALFORMED_LINE", "FIRST_LINE_MISPLACED", "LINE_NUMBER_MISMATCH"
WAITS, NON_CANONICAL, WHOLE_FILE = "PREDECESSOR_UNKNOWN", "NON_CANONICAL_ID", "FIRST_LINE_MALFORMED"
ID_FORMS = "64 characters of 0-9 a-f, or 86 of base64url"
EITHER = (
    "either the line before or this number is damaged: the line before is not covered, the chain cannot tell"
)


@dataclass(frozen=True)
class Row:
    """One row of `quarantine`; `offset` is where its bytes begin in the file."""

    node: str | None
    reasons: tuple[str, ...]
    raw: bytes
    evidence: Mapping[str, Mapping[str, object]]
    offset: int
    waits_for: tuple[str, ...] = ()

    @property
    def namespace(self) -> str | None:
        return None if self.node is None else f"node:{self.node}"

    @property
    def status(self) -> str:
        return "deferred" if self.waits_for else "rejected"

    def id(self, *, kept: bool = False) -> bytes:
        """The key of the row; with `kept` that of tables, which of long bytes keep the head and bind the digest."""
        parts = ("sdmp", self.namespace or "", self.status, ",".join(self.reasons), "")
        raw = self.kept if kept else self.raw
        digest_of_all = b"" if raw == self.raw else hashlib.sha256(self.raw).digest()
        bound = "\x00".join(("strandline/quarantine/1", *parts)).encode() + raw + digest_of_all
        return hashlib.sha256(bound).digest()

    @property
    def kept(self) -> bytes:
        """The bytes that a table keeps: all up to 4 MiB, else the first 64 KiB."""
        return self.raw if len(self.raw) <= 4 * 1024 * 1024 else self.raw[: 64 * 1024]

    @property
    def evidence_text(self) -> str:
        return json.dumps(self.evidence, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True)
class Case:
    """One file, the lines accepted of it, and the rows that it leaves in quarantine."""

    name: str
    data: bytes
    node: str
    accepted: frozenset[bytes] = frozenset()
    rows: tuple[Row, ...] = ()
    strict: bool = False


@dataclass(frozen=True)
class Refusal:
    """A frame that is refused whole: the line of the file that it stands on, and what its evidence says."""

    evidence: Mapping[str, Mapping[str, object]]
    line: int = 1


@dataclass(frozen=True)
class Expected:
    """`accepted` lines; by position the reasons of elements; frames refused whole; announced elements refused."""

    accepted: int
    verdicts: Mapping[int, str] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    announced: int = 0


def digest(line: bytes) -> str:
    """The number that must follow a line: of an id of 64 characters SHA-256, of one of 86 SHA-512."""
    if len(line) in (64, 194):
        return hashlib.sha256(line).hexdigest()
    return base64.urlsafe_b64encode(hashlib.sha512(line).digest()).decode().rstrip("=")


def case_of_journal(name: str, data: bytes, expected: Expected, *, strict: bool = False) -> Case:
    """A text journal; its lines are taken apart here."""
    start = len(MARK) if data.startswith(MARK) else 0
    lines = data[start:].split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    offsets = [start + sum(len(line) + 1 for line in lines[:at]) for at in range(len(lines))]
    elements = lines if strict else [line.removesuffix(b"\r") for line in lines]
    if set(expected.verdicts.values()) == {WHOLE_FILE}:
        cause = {"cause": "form" if elements[0] else "empty", "expected": ID_FORMS}
        evidence = {WHOLE_FILE: {"position": 1, **cause, "actual": _shown(lines[0])}}
        return Case(
            name, data, "", rows=(Row(None, (WHOLE_FILE,), data[start:], evidence, start),), strict=strict
        )
    node = elements[0].decode()
    rows = _element_rows(node, elements, expected.verdicts, None, offsets)
    return _case(name, data, node, elements, expected, tuple(rows), strict)


def case_of_frames(name: str, data: bytes, node: str, expected: Expected) -> Case:
    """A file of frames; the elements of the first frame are judged, frames refused whole are named."""
    lines = data.split(b"\n")
    offsets = [sum(len(line) + 1 for line in lines[:at]) for at in range(len(lines))]
    rows = [
        Row(None, tuple(sorted(each.evidence)), lines[each.line - 1], each.evidence, offsets[each.line - 1])
        for each in expected.refusals
    ]
    elements: list[bytes] = []
    if expected.accepted or expected.verdicts:
        at = next(at for at, line in enumerate(lines) if line.strip())
        journal = json.loads(lines[at])["journal"]
        elements = [entry.encode("utf-8", "surrogatepass") for entry in journal["entries"]]
        places = [offsets[at]] * len(elements)
        rows += _element_rows(node, elements, expected.verdicts, journal["since"], places)
    if expected.announced:
        for position, each in enumerate(json.loads(lines[0])["resources"], start=1):
            told = {"position": position, "field": "node", "expected": "an own node", "actual": node}
            pair = {"author": each["author"], "resource": each["resource"]}
            raw = json.dumps(pair, separators=(",", ":")).encode()
            rows.append(Row(node, ("NOT_OWN_NODE",), raw, {"NOT_OWN_NODE": told}, 0))
    return _case(name, data, node, elements, expected, tuple(rows), False)


def _case(
    name: str, data: bytes, node: str, elements: list[bytes], expected: Expected, rows: tuple[Row, ...], strict: bool
) -> Case:  # fmt: skip
    accepted = {raw for at, raw in enumerate(elements, start=1) if at not in expected.verdicts}
    # Line 1 is a line of the journal as soon as any other is.
    accepted |= {node.encode()} if accepted else set()
    assert len(accepted) == expected.accepted, name
    return Case(name, data, node, frozenset(accepted), rows, strict)


def _element_rows(
    node: str, elements: list[bytes], verdicts: Mapping[int, str], since: str | None, offsets: list[int]
) -> Iterator[Row]:
    for at, reasons in verdicts.items():
        raw, codes = elements[at - 1], tuple(reasons.split(","))
        number = raw[: len(node)].decode("utf-8", "replace")
        told = {code: _evidence(code, at, elements, node, since) for code in codes}
        waits_for = (f"line:{number}",) if codes == (WAITS,) else ()
        yield Row(node, codes, raw, told, offsets[at - 1], waits_for)


def _evidence(code: str, at: int, elements: list[bytes], node: str, since: str | None) -> dict[str, object]:
    raw = elements[at - 1]
    if code == MALFORMED:
        cause = "empty" if not raw else "too_long" if len(raw) > 1024 else "form"
        return {"position": at, "cause": cause}
    if code == WAITS:
        return {"position": at, "since": since}
    text = raw.decode()
    if code == MISPLACED:
        cause = "not_first" if text == node else "other_node"
        return {"position": at, "cause": cause, "expected": node, "actual": text}
    number, _, pair = text.partition("@")
    if code == NON_CANONICAL:
        names = ("number", "author", "resource") if pair else ("fingerprint",)
        ids = dict(zip(names, text.replace("@", "/").split("/"), strict=True))
        odd = {name: value for name, value in ids.items() if value[-1] not in "AQgw"}
        expected = "last character one of AQgw"
        return {"position": at, "field": ",".join(odd), "expected": expected, "actual": list(odd.values())}
    before = elements[at - 2]
    return {
        "position": at, "expected": digest(before), "actual": number, "line_before": before.decode(), "note": EITHER,
    }  # fmt: skip


def _shown(raw: bytes) -> str:
    """The first 200 bytes as evidence shows them, a cut marked."""
    text = raw[:200].decode("utf-8", "backslashreplace")
    return text + ".. (cut)" if len(raw) > 200 else text
