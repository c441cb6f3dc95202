"""One valid journal and one valid frame against named mutations, each with every row that it must yield.

A mutation is made of any journal, so that one lake can hold all of them as namespaces.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import MAX_FRAME_BYTES, line_hash, render
from support import json_cases
from support.tampering import (
    ID_FORMS,
    MALFORMED,
    MISMATCH,
    MISPLACED,
    NON_CANONICAL,
    WAITS,
    WHOLE_FILE,
    Case,
    Expected,
    Refusal,
    case_of_frames,
    case_of_journal,
)


@dataclass(frozen=True)
class Made:
    """Journals number `i` and `i + 1` in 0.9 and number `i` in 0.12, and what mutations are made of."""

    i: int

    @cached_property
    def lines(self) -> list[bytes]:
        return list(synthetic(self.i, 5))

    @cached_property
    def late(self) -> list[bytes]:
        return list(synthetic(self.i, 5, "0.12"))

    @cached_property
    def other(self) -> list[bytes]:
        return list(synthetic(self.i + 1, 5))

    @property
    def node(self) -> str:
        return self.lines[0].decode()

    @property
    def good(self) -> str:
        return json.dumps(self.journal_frame())

    number = property(lambda self: parts(self.lines[2])[0])
    author = property(lambda self: parts(self.lines[2])[1])
    resource = property(lambda self: parts(self.lines[2])[2])
    late_number = property(lambda self: parts(self.late[2])[0])
    late_author = property(lambda self: parts(self.late[2])[1])
    odd_resource = property(lambda self: self.late[2][-86:-1] + b"B")
    odd_node = property(lambda self: self.late[0][:-1] + b"B")

    def with_third(self, line: bytes, journal: list[bytes] | None = None) -> bytes:
        of = self.lines if journal is None else journal
        return render([*of[:2], line, *of[3:]])

    def journal_frame(self, **changes: Any) -> dict[str, Any]:
        journal = {"since": self.node, "entries": [line.decode() for line in self.lines[1:]]}
        return {"node": self.node, "journal": journal, **changes}

    def batch_of(self, **changes: Any) -> dict[str, Any]:
        return self.journal_frame(journal={**self.journal_frame()["journal"], **changes})

    def resources_frame(self, **changes: Any) -> dict[str, Any]:
        return {"node": self.node, "resources": [{"author": self.node, "resource": self.node}], **changes}


def parts(line: bytes) -> tuple[bytes, bytes, bytes]:
    number, _, pair = line.partition(b"@")
    author, _, resource = pair.partition(b"/")
    return number, author, resource


def without(frame: Mapping[str, Any], member: str) -> dict[str, Any]:
    return {name: value for name, value in frame.items() if name != member}


def nested(levels: int) -> Any:
    return json.loads("[" * levels + "]" * levels)


def refused(line: int = 1, accepted: int = 0, **evidence: Mapping[str, object]) -> Expected:
    return Expected(accepted, refusals=(Refusal(evidence, line),))


def shape(field: str, expected: str, actual: str) -> Expected:
    return refused(FRAME_SHAPE={"field": field, "expected": expected, "actual": actual})


def bad_node(node: str) -> Expected:
    return refused(BAD_NODE={"field": "node", "expected": ID_FORMS, "actual": node})


def no_json(cause: str, *, accepted: int = 0, line: int = 1, **more: str) -> Expected:
    return refused(line, accepted, JSON_INVALID={"cause": cause, **more})


BROKEN_AT_3 = Expected(2, {3: MALFORMED, 4: WAITS, 5: WAITS})
TIP_OF_3_ALTERED = Expected(3, {4: MISMATCH, 5: WAITS})
NUMBER_OF_3_ALTERED = Expected(2, {3: MISMATCH, 4: MISMATCH, 5: WAITS})
UNREADABLE = Expected(0, {1: WHOLE_FILE})
ACCEPTED = Expected(5)
OF_THE_NODE = "id of profile 0.9, as the node"
SEQ = "integer in 0..2^64-1"
TOO_MANY = {"field": "elements", "expected": 50_000, "actual": 50_001}
NEITHER = {"field": "journal, resources", "expected": "one of the two", "actual": "none"}
NO_LF = {"field": "end of file", "expected": "LF", "actual": "none"}

Table = Mapping[str, tuple[Callable[[Made], Any], Expected | Callable[[Made], Expected]]]

JOURNALS: Table = {
    "nothing altered": (lambda m: render(m.lines), Expected(5)),
    "author of line 3 altered": (
        lambda m: m.with_third(m.number + b"@" + b"0" * 64 + b"/" + m.resource),
        TIP_OF_3_ALTERED,
    ),
    "resource of line 3 altered": (
        lambda m: m.with_third(m.number + b"@" + m.author + b"/" + b"0" * 64),
        TIP_OF_3_ALTERED,
    ),
    "author and resource of line 3 exchanged": (
        lambda m: m.with_third(m.number + b"@" + m.resource + b"/" + m.author),
        TIP_OF_3_ALTERED,
    ),
    "line 3 with the number of line 4": (
        lambda m: m.with_third(parts(m.lines[3])[0] + m.lines[2][64:]),
        NUMBER_OF_3_ALTERED,
    ),
    "line 3 with the fingerprint as number": (
        lambda m: m.with_third(m.lines[0] + m.lines[2][64:]),
        NUMBER_OF_3_ALTERED,
    ),
    "line 3 numbered over line 2 with its newline": (
        lambda m: m.with_third(line_hash(m.lines[1] + b"\n").encode() + m.lines[2][64:]),
        NUMBER_OF_3_ALTERED,
    ),
    "one hex digit in upper case": (lambda m: m.with_third(b"F" + m.lines[2][1:]), BROKEN_AT_3),
    "a letter that is no hex digit": (lambda m: m.with_third(b"g" + m.lines[2][1:]), BROKEN_AT_3),
    "separators exchanged": (
        lambda m: m.with_third(m.number + b"/" + m.author + b"@" + m.resource),
        BROKEN_AT_3,
    ),
    "no @": (lambda m: m.with_third(m.number + m.author + b"/" + m.resource), BROKEN_AT_3),
    "a blank for @": (lambda m: m.with_third(m.number + b" " + m.author + b"/" + m.resource), BROKEN_AT_3),
    "two slashes": (lambda m: m.with_third(m.number + b"@" + m.author + b"//" + m.resource), BROKEN_AT_3),
    "a third pair of parts": (lambda m: m.with_third(m.lines[2] + b"/" + m.resource), BROKEN_AT_3),
    "no resource": (lambda m: m.with_third(m.number + b"@" + m.author + b"/"), BROKEN_AT_3),
    "a number written 0x": (lambda m: m.with_third(b"0x" + m.number[2:] + m.lines[2][64:]), BROKEN_AT_3),
    "a blank before line 3": (lambda m: m.with_third(b" " + m.lines[2]), BROKEN_AT_3),
    "a TAB after line 3": (lambda m: m.with_third(m.lines[2] + b"\t"), BROKEN_AT_3),
    "a VT after line 3": (lambda m: m.with_third(m.lines[2] + b"\x0b"), BROKEN_AT_3),
    "a NUL after line 3": (lambda m: m.with_third(m.lines[2] + b"\x00"), BROKEN_AT_3),
    "a no-break space after line 3": (lambda m: m.with_third(m.lines[2] + "\u00a0".encode()), BROKEN_AT_3),
    "a next-line sign U+0085 after line 3": (
        lambda m: m.with_third(m.lines[2] + "\u0085".encode()),
        BROKEN_AT_3,
    ),
    "a line separator U+2028 after line 3": (
        lambda m: m.with_third(m.lines[2] + "\u2028".encode()),
        BROKEN_AT_3,
    ),
    "a byte order mark before line 3": (lambda m: m.with_third(b"\xef\xbb\xbf" + m.lines[2]), BROKEN_AT_3),
    "two CR after line 3": (lambda m: m.with_third(m.lines[2] + b"\r\r"), BROKEN_AT_3),
    "a CR inside line 3": (lambda m: m.with_third(m.lines[2][:70] + b"\r" + m.lines[2][70:]), BROKEN_AT_3),
    "one CR after line 3": (lambda m: m.with_third(m.lines[2] + b"\r"), Expected(5)),
    "full-width digits": (lambda m: m.with_third("\uff11".encode() * 64 + m.lines[2][64:]), BROKEN_AT_3),
    "a Cyrillic a": (
        lambda m: m.with_third(m.number + b"@" + "\u0430".encode() + m.author[1:] + b"/" + m.resource),
        BROKEN_AT_3,
    ),
    "a byte that is not UTF-8": (lambda m: m.with_third(b"\xff" + m.lines[2][1:]), BROKEN_AT_3),
    "line 3 of 1,025 bytes": (
        lambda m: m.with_third(m.lines[2] + b"0" * (1025 - len(m.lines[2]))),
        BROKEN_AT_3,
    ),
    "line 3 in the other profile": (lambda m: m.with_third(m.late[2]), BROKEN_AT_3),
    "lines 3 and 4 run together": (
        lambda m: render([*m.lines[:2], m.lines[2] + m.lines[3], m.lines[4]]),
        Expected(2, {3: MALFORMED, 4: WAITS}),
    ),
    "line 3 broken in two": (
        lambda m: m.with_third(m.lines[2][:100] + b"\n" + m.lines[2][100:]),
        Expected(2, {3: MALFORMED, 4: MALFORMED, 5: WAITS, 6: WAITS}),
    ),
    "line 3 broken after its number": (
        lambda m: m.with_third(m.lines[2][:64] + b"\n" + m.lines[2][64:]),
        Expected(2, {3: MISPLACED, 4: MALFORMED, 5: WAITS, 6: WAITS}),
    ),
    "the fingerprint of another node for line 3": (
        lambda m: m.with_third(m.other[0]),
        Expected(2, {3: MISPLACED, 4: WAITS, 5: WAITS}),
    ),
    "a line of another journal before line 3": (
        lambda m: render([*m.lines[:2], m.other[2], *m.lines[2:]]),
        Expected(2, {3: MISMATCH, 4: MISMATCH, 5: WAITS, 6: WAITS}),
    ),
    "line 1 of another journal": (
        lambda m: render([m.other[0], *m.lines[1:]]),
        Expected(1, {2: MISMATCH, 3: WAITS, 4: WAITS, 5: WAITS}),
    ),
    "line 1 of the other profile": (
        lambda m: render([m.late[0], *m.lines[1:]]),
        Expected(1, {2: MALFORMED, 3: MALFORMED, 4: MALFORMED, 5: MALFORMED}),
    ),
    "line 1 removed": (lambda m: render(m.lines[1:]), UNREADABLE),
    "line 1 with a blank": (lambda m: render([m.lines[0] + b" ", *m.lines[1:]]), UNREADABLE),
    "line 1 with one character less": (lambda m: render([m.lines[0][:-1], *m.lines[1:]]), UNREADABLE),
    "a second byte order mark": (lambda m: b"\xef\xbb\xbf\xef\xbb\xbf" + render(m.lines), UNREADABLE),
    "line 2 removed": (
        lambda m: render([m.lines[0], *m.lines[2:]]),
        Expected(1, {2: MISMATCH, 3: WAITS, 4: WAITS}),
    ),
    "line 5 removed": (lambda m: render(m.lines[:4]), Expected(4)),
    "line 2 twice": (lambda m: render([*m.lines[:2], *m.lines[1:]]), Expected(5, {3: MISMATCH})),
    "line 5 twice": (lambda m: render([*m.lines, m.lines[4]]), Expected(5, {6: MISMATCH})),
    "all but line 1 reversed": (
        lambda m: render([m.lines[0], *reversed(m.lines[1:])]),
        Expected(1, {2: MISMATCH, 3: MISMATCH, 4: MISMATCH, 5: MISMATCH}),
    ),
    "0.12: base64 padding": (lambda m: m.with_third(m.late[2] + b"==", m.late), BROKEN_AT_3),
    "0.12: the alphabet with +": (lambda m: m.with_third(b"+" + m.late[2][1:], m.late), BROKEN_AT_3),
    "0.12: an impossible last character, read weakly": (
        lambda m: m.with_third(m.late[2][:-1] + b"B", m.late),
        TIP_OF_3_ALTERED,
    ),
}


STRICT: Table = {
    "nothing altered": (lambda m: render(m.late), Expected(5)),
    "resource of line 3": (
        lambda m: m.with_third(m.late_number + b"@" + m.late_author + b"/" + m.odd_resource, m.late),
        Expected(2, {3: NON_CANONICAL, 4: MISMATCH, 5: WAITS}),
    ),
    "number of line 3": (
        lambda m: m.with_third(m.late_number[:-1] + b"B" + m.late[2][86:], m.late),
        Expected(2, {3: f"{MISMATCH},{NON_CANONICAL}", 4: MISMATCH, 5: WAITS}),
    ),
    "line 1, the others chained to it": (
        lambda m: render(
            [m.odd_node, *append(m.odd_node, [(synthetic_id("author", 1, "0.12"),) * 2], "0.12")]
        ),
        Expected(2, {1: NON_CANONICAL}),
    ),
    "0.9 has no impossible character": (lambda m: render(m.lines), Expected(5)),
    "CR at the ends of lines": (lambda m: render(m.lines).replace(b"\n", b"\r\n"), UNREADABLE),
}


FRAMES: Table = {
    "nothing altered": (lambda m: m.journal_frame(), ACCEPTED),
    "members that nobody knows": (lambda m: m.journal_frame(seq="x", more={"a": [1.5, None]}), ACCEPTED),
    "32 levels in a member that nobody knows": (lambda m: m.journal_frame(more=nested(31)), ACCEPTED),
    "33 levels in a member that nobody knows": (lambda m: m.journal_frame(more=nested(32)), no_json("depth")),
    "no node": (lambda m: without(m.journal_frame(), "node"), shape("node", "text", "null or absent")),
    "node is a number": (lambda m: m.journal_frame(node=1), shape("node", "text", "integer")),
    "node is null": (lambda m: m.journal_frame(node=None), shape("node", "text", "null or absent")),
    "neither journal nor resources": (
        lambda m: without(m.journal_frame(), "journal"),
        refused(FRAME_SHAPE=NEITHER),
    ),
    "both journal and resources": (
        lambda m: m.journal_frame(resources=[]),
        shape("journal, resources", "one of the two", "both"),
    ),
    "journal is null": (
        lambda m: m.journal_frame(journal=None),
        shape("journal", "object", "null or absent"),
    ),
    "journal is an array": (lambda m: m.journal_frame(journal=[]), shape("journal", "object", "array")),
    "no since": (
        lambda m: m.journal_frame(journal={"entries": []}),
        shape("journal.since", "text", "null or absent"),
    ),
    "since is null": (lambda m: m.batch_of(since=None), shape("journal.since", "text", "null or absent")),
    "since of the other profile": (
        lambda m: m.batch_of(since=m.late[0].decode()),
        lambda m: shape("journal.since", OF_THE_NODE, m.late[0].decode()),
    ),
    "since in upper case": (
        lambda m: m.batch_of(since=m.node.upper()),
        lambda m: shape("journal.since", OF_THE_NODE, m.node.upper()),
    ),
    "since with a newline": (
        lambda m: m.batch_of(since=m.node + "\n"),
        lambda m: shape("journal.since", OF_THE_NODE, m.node + "\n"),
    ),
    "no entries": (
        lambda m: m.journal_frame(journal={"since": m.node}),
        shape("journal.entries", "array", "null or absent"),
    ),
    "entries is a text": (lambda m: m.batch_of(entries="x"), shape("journal.entries", "array", "x")),
    "an entry is a number": (
        lambda m: m.batch_of(entries=[m.lines[1].decode(), 2]),
        shape("journal.entries[1]", "text", "integer"),
    ),
    "an entry is an array": (
        lambda m: m.batch_of(entries=[[]]),
        shape("journal.entries[0]", "text", "array"),
    ),
    "entries is empty": (lambda m: m.batch_of(entries=[]), Expected(0)),
    "an entry with CR": (
        lambda m: m.batch_of(entries=[m.lines[1].decode() + "\r"]),
        Expected(0, {1: MALFORMED}),
    ),
    "an entry that is empty": (lambda m: m.batch_of(entries=[""]), Expected(0, {1: MALFORMED})),
    "the first entry is line 1 of another node": (
        lambda m: m.batch_of(entries=[m.other[0].decode()]),
        Expected(0, {1: MISPLACED}),
    ),
    "the second entry is line 1": (
        lambda m: m.batch_of(entries=[m.lines[1].decode(), m.node]),
        Expected(2, {2: MISPLACED}),
    ),
    "50,000 entries": (
        lambda m: m.batch_of(entries=["x"] * 50_000),
        Expected(0, dict.fromkeys(range(1, 50_001), MALFORMED)),
    ),
    "50,001 entries": (lambda m: m.batch_of(entries=["x"] * 50_001), refused(FRAME_TOO_MANY=TOO_MANY)),
    "50,001 entries and no since": (
        lambda m: m.journal_frame(journal={"entries": ["x"] * 50_001}),
        refused(
            FRAME_SHAPE={"field": "journal.since", "expected": "text", "actual": "null or absent"},
            FRAME_TOO_MANY=TOO_MANY,
        ),
    ),
    "node of 63 characters": (lambda m: m.journal_frame(node=m.node[:-1]), lambda m: bad_node(m.node[:-1])),
    "node of 65 characters": (lambda m: m.journal_frame(node=m.node + "0"), lambda m: bad_node(m.node + "0")),
    "node in upper case": (
        lambda m: m.journal_frame(node=m.node.upper()),
        lambda m: bad_node(m.node.upper()),
    ),
    "node with a newline": (lambda m: m.journal_frame(node=m.node + "\n"), lambda m: bad_node(m.node + "\n")),
    "node is empty": (lambda m: m.journal_frame(node=""), bad_node("")),
    "node is a lone surrogate": (lambda m: m.journal_frame(node="\ud800"), bad_node("\ud800")),
    "node is a name of Hive": (
        lambda m: m.journal_frame(node="__HIVE_DEFAULT_PARTITION__"),
        bad_node("__HIVE_DEFAULT_PARTITION__"),
    ),
    "a resource of a node that is not own": (lambda m: m.resources_frame(), Expected(0, announced=1)),
    "a resource of no form, of a node that is not own": (
        lambda m: m.resources_frame(resources=[{"author": "", "resource": "\ud800"}]),
        Expected(0, announced=1),
    ),
    "no resource": (lambda m: m.resources_frame(resources=[]), Expected(0)),
    "resources is an object": (
        lambda m: m.resources_frame(resources={}),
        shape("resources", "array", "object"),
    ),
    "a resource is a text": (
        lambda m: m.resources_frame(resources=["x"]),
        shape("resources[0]", "object", "x"),
    ),
    "a resource without author": (
        lambda m: m.resources_frame(resources=[{"resource": m.node}]),
        shape("resources[0].author", "text", "null or absent"),
    ),
    "a resource whose author is a number": (
        lambda m: m.resources_frame(resources=[{"author": 1, "resource": m.node}]),
        shape("resources[0].author", "text", "integer"),
    ),
    "seq at its least": (lambda m: m.resources_frame(seq=0), Expected(0, announced=1)),
    "seq at its greatest": (lambda m: m.resources_frame(seq=2**64 - 1), Expected(0, announced=1)),
    "seq one too great": (lambda m: m.resources_frame(seq=2**64), shape("seq", SEQ, str(2**64))),
    "seq below 0": (lambda m: m.resources_frame(seq=-1), shape("seq", SEQ, "-1")),
    "seq is 1.0": (lambda m: m.resources_frame(seq=1.0), shape("seq", SEQ, "number")),
    "seq is true": (lambda m: m.resources_frame(seq=True), shape("seq", SEQ, "boolean")),
    "seq is a text": (lambda m: m.resources_frame(seq="1"), shape("seq", SEQ, "1")),
    "seq is null": (lambda m: m.resources_frame(seq=None), shape("seq", SEQ, "null or absent")),
    "seq is -0": (lambda m: json.dumps(m.resources_frame(seq=0))[:-2] + "-0}", shape("seq", SEQ, "number")),
    "a duplicate member": (lambda m: m.good[:-1] + ',"node":1}', no_json("duplicate_key")),
    "NaN in a member that nobody knows": (lambda m: m.good[:-1] + ',"more":NaN}', no_json("constant")),
    "a second object on the line": (lambda m: m.good + "{}", no_json("trailing")),
    "a comma too many": (lambda m: m.good[:-1] + ",}", no_json("syntax")),
    "not UTF-8": (lambda m: m.good.encode()[:-1] + b',"more":"\xff"}', no_json("utf8")),
    "a blank line before and after": (lambda m: "\n \t\r\n" + m.good + "\n\r\n\n", ACCEPTED),
    "a byte order mark before a later frame": (
        lambda m: m.good.encode() + b"\n\xef\xbb\xbf" + m.good.encode(),
        no_json("bom", accepted=5, line=2),
    ),
    "an array on a later line": (
        lambda m: m.good + "\n[]",
        no_json("syntax", accepted=5, line=2, expected="one object"),
    ),
    "over 16 MiB": (
        lambda m: m.good + " " * (MAX_FRAME_BYTES + 1 - len(m.good)),
        refused(
            FRAME_TOO_LARGE={"field": "bytes", "expected": 16 * 1024 * 1024, "actual": 16 * 1024 * 1024 + 1}
        ),
    ),
    "16 MiB": (lambda m: m.good + " " * (MAX_FRAME_BYTES - len(m.good)), ACCEPTED),
}


# Files as they are: their last line lacks its LF.
CUT: Table = {
    f"a last frame cut {name}": (
        lambda m, at=at: m.good.encode() + b"\n" + m.good.encode()[: at(m)],
        refused(line=2, accepted=5, JSON_INVALID={"cause": "syntax"}, TRUNCATED=NO_LF),
    )
    for name, at in {
        "after its brace": lambda m: 1,
        "in the middle": lambda m: len(m.good) // 2,
        "before its brace": lambda m: len(m.good) - 1,
    }.items()
}
CUT |= {
    "a last frame without LF that is JSON": (
        lambda m: json.dumps({"node": m.node}).encode(),
        refused(FRAME_SHAPE=NEITHER),
    ),
    "a journal that starts with a brace": (
        lambda m: b"{" + render(m.lines[:2]),
        lambda m: Expected(
            0,
            refusals=(
                Refusal({"JSON_INVALID": {"cause": "syntax"}}),
                # A number that starts with a digit is a JSON number with something behind it.
                Refusal(
                    {
                        "JSON_INVALID": {"cause": "trailing" if m.lines[1][:1].isdigit() else "syntax"},
                        "TRUNCATED": NO_LF,
                    },
                    line=2,
                ),
            ),
        ),
    ),
}


def json_lines(m: Made) -> tuple[bytes, Expected]:
    """A good frame, and below it every vector of the strict JSON reader as a frame of its own.

    Frames are read with lone surrogates and with at most 32 levels; what is JSON then has neither of their members.
    """
    lines, refusals = [m.good.encode()], []
    for case in json_cases.CASES:
        cause = case["exact"].get("refused", "")
        if "nest" in case:
            cause = "depth"
        for text in json_cases.bytes_of(case).split(b"\n"):
            lines.append(text)
            if text.strip():
                is_json = cause in ("", "surrogate")
                evidence = {"FRAME_SHAPE": NEITHER} if is_json else {"JSON_INVALID": {"cause": cause}}
                refusals.append(Refusal(evidence, len(lines)))
    return b"\n".join(lines) + b"\n", Expected(5, refusals=tuple(refusals))


def tampered(first: int) -> Iterator[Case]:
    """Every mutation, of journals `first`, `first` + 2, ..: no two share a namespace."""
    i = first
    for table, strict in ((JOURNALS, False), (STRICT, True)):
        for name, (make, expected) in table.items():
            yield case_of_journal(f"journal: {name}", make(Made(i)), _of(expected, i), strict=strict)
            i += 2
    for table, end in ((FRAMES, b"\n"), (CUT, b"")):
        for name, (make, expected) in table.items():
            yield case_of_frames(
                f"frame: {name}", _bytes(make(Made(i))) + end, Made(i).node, _of(expected, i)
            )
            i += 2
    data, expected = json_lines(Made(i))
    yield case_of_frames("frame: every vector of the strict JSON reader", data, Made(i).node, expected)


def _of(expected: Expected | Callable[[Made], Expected], i: int) -> Expected:
    return expected if isinstance(expected, Expected) else expected(Made(i))


def _bytes(given: Any) -> bytes:
    if isinstance(given, bytes):
        return given
    return (given if isinstance(given, str) else json.dumps(given)).encode()
