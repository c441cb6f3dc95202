"""One valid journal and one valid frame against named mutations, each with every row that it must yield."""

import json
from collections import Counter

import pytest

from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import MAX_FRAME_BYTES, line_hash, render
from support.reference import ReferenceLake

J = list(synthetic(0, 5))
K = list(synthetic(0, 5, "0.12"))
OTHER = list(synthetic(1, 5))
NODE = J[0].decode()

MALFORMED, MISPLACED, MISMATCH = "MALFORMED_LINE", "FIRST_LINE_MISPLACED", "LINE_NUMBER_MISMATCH"
WAITS, NON_CANONICAL, WHOLE_FILE = "PREDECESSOR_UNKNOWN", "NON_CANONICAL_ID", "FIRST_LINE_MALFORMED"


def with_third(line, journal=J):
    return render([*journal[:2], line, *journal[3:]])


def parts(line):
    number, _, pair = line.partition(b"@")
    author, _, resource = pair.partition(b"/")
    return number, author, resource


NUMBER, AUTHOR, RESOURCE = parts(J[2])
KNUMBER, KAUTHOR, KRESOURCE = parts(K[2])
ODD_RESOURCE = KRESOURCE[:-1] + b"B"
ODD_NODE = K[0][:-1] + b"B"
BROKEN_AT_3 = (2, {MALFORMED: 1, WAITS: 2})
TIP_OF_3_ALTERED = (3, {MISMATCH: 1, WAITS: 1})
NUMBER_OF_3_ALTERED = (2, {MISMATCH: 2, WAITS: 1})
UNREADABLE = (0, {WHOLE_FILE: 1})

# name: (file, (lines accepted, rows of quarantine by reasons))
JOURNALS = {
    "nothing altered": (render(J), (5, {})),
    "author of line 3 altered": (with_third(NUMBER + b"@" + b"0" * 64 + b"/" + RESOURCE), TIP_OF_3_ALTERED),
    "resource of line 3 altered": (with_third(NUMBER + b"@" + AUTHOR + b"/" + b"0" * 64), TIP_OF_3_ALTERED),
    "author and resource of line 3 exchanged": (with_third(NUMBER + b"@" + RESOURCE + b"/" + AUTHOR), TIP_OF_3_ALTERED),
    "line 3 with the number of line 4": (with_third(parts(J[3])[0] + J[2][64:]), NUMBER_OF_3_ALTERED),
    "line 3 with the fingerprint as number": (with_third(J[0] + J[2][64:]), NUMBER_OF_3_ALTERED),
    "line 3 numbered over line 2 with its newline": (
        with_third(line_hash(J[1] + b"\n").encode() + J[2][64:]),
        NUMBER_OF_3_ALTERED,
    ),
    "one hex digit in upper case": (with_third(b"F" + J[2][1:]), BROKEN_AT_3),
    "a letter that is no hex digit": (with_third(b"g" + J[2][1:]), BROKEN_AT_3),
    "separators exchanged": (with_third(NUMBER + b"/" + AUTHOR + b"@" + RESOURCE), BROKEN_AT_3),
    "no @": (with_third(NUMBER + AUTHOR + b"/" + RESOURCE), BROKEN_AT_3),
    "a blank for @": (with_third(NUMBER + b" " + AUTHOR + b"/" + RESOURCE), BROKEN_AT_3),
    "two slashes": (with_third(NUMBER + b"@" + AUTHOR + b"//" + RESOURCE), BROKEN_AT_3),
    "a third pair of parts": (with_third(J[2] + b"/" + RESOURCE), BROKEN_AT_3),
    "no resource": (with_third(NUMBER + b"@" + AUTHOR + b"/"), BROKEN_AT_3),
    "a number written 0x": (with_third(b"0x" + NUMBER[2:] + J[2][64:]), BROKEN_AT_3),
    "a blank before line 3": (with_third(b" " + J[2]), BROKEN_AT_3),
    "a TAB after line 3": (with_third(J[2] + b"\t"), BROKEN_AT_3),
    "a VT after line 3": (with_third(J[2] + b"\x0b"), BROKEN_AT_3),
    "a NUL after line 3": (with_third(J[2] + b"\x00"), BROKEN_AT_3),
    "a no-break space after line 3": (with_third(J[2] + "\u00a0".encode()), BROKEN_AT_3),
    "a next-line sign U+0085 after line 3": (with_third(J[2] + "\u0085".encode()), BROKEN_AT_3),
    "a line separator U+2028 after line 3": (with_third(J[2] + "\u2028".encode()), BROKEN_AT_3),
    "a byte order mark before line 3": (with_third(b"\xef\xbb\xbf" + J[2]), BROKEN_AT_3),
    "two CR after line 3": (with_third(J[2] + b"\r\r"), BROKEN_AT_3),
    "a CR inside line 3": (with_third(J[2][:70] + b"\r" + J[2][70:]), BROKEN_AT_3),
    "one CR after line 3": (with_third(J[2] + b"\r"), (5, {})),
    "full-width digits": (with_third("\uff11".encode() * 64 + J[2][64:]), BROKEN_AT_3),
    "a Cyrillic a": (with_third(NUMBER + b"@" + "\u0430".encode() + AUTHOR[1:] + b"/" + RESOURCE), BROKEN_AT_3),
    "a byte that is not UTF-8": (with_third(b"\xff" + J[2][1:]), BROKEN_AT_3),
    "line 3 of 1,025 bytes": (with_third(J[2] + b"0" * (1025 - len(J[2]))), BROKEN_AT_3),
    "line 3 in the other profile": (with_third(K[2]), BROKEN_AT_3),
    "lines 3 and 4 run together": (render([*J[:2], J[2] + J[3], J[4]]), (2, {MALFORMED: 1, WAITS: 1})),
    "line 3 broken in two": (with_third(J[2][:100] + b"\n" + J[2][100:]), (2, {MALFORMED: 2, WAITS: 2})),
    "line 3 broken after its number": (
        with_third(J[2][:64] + b"\n" + J[2][64:]),
        (2, {MALFORMED: 1, MISPLACED: 1, WAITS: 2}),
    ),
    "the fingerprint of another node for line 3": (with_third(OTHER[0]), (2, {MISPLACED: 1, WAITS: 2})),
    "a line of another journal before line 3": (
        render([*J[:2], OTHER[2], *J[2:]]),
        (2, {MISMATCH: 2, WAITS: 2}),
    ),
    "line 1 of another journal": (render([OTHER[0], *J[1:]]), (1, {MISMATCH: 1, WAITS: 3})),
    "line 1 of the other profile": (render([K[0], *J[1:]]), (1, {MALFORMED: 4})),
    "line 1 removed": (render(J[1:]), UNREADABLE),
    "line 1 with a blank": (render([J[0] + b" ", *J[1:]]), UNREADABLE),
    "line 1 with one character less": (render([J[0][:-1], *J[1:]]), UNREADABLE),
    "a second byte order mark": (b"\xef\xbb\xbf\xef\xbb\xbf" + render(J), UNREADABLE),
    "line 2 removed": (render([J[0], *J[2:]]), (1, {MISMATCH: 1, WAITS: 2})),
    "line 5 removed": (render(J[:4]), (4, {})),
    "line 2 twice": (render([*J[:2], *J[1:]]), (5, {MISMATCH: 1})),
    "line 5 twice": (render([*J, J[4]]), (5, {MISMATCH: 1})),
    "all but line 1 reversed": (render([J[0], *reversed(J[1:])]), (1, {MISMATCH: 4})),
    "a file that starts with a brace": (b"{" + render(J[:2]), (0, {"JSON_INVALID": 1, "JSON_INVALID,TRUNCATED": 1})),
    "0.12: base64 padding": (with_third(K[2] + b"==", K), BROKEN_AT_3),
    "0.12: the alphabet with +": (with_third(b"+" + K[2][1:], K), BROKEN_AT_3),
    "0.12: an impossible last character, read weakly": (with_third(K[2][:-1] + b"B", K), TIP_OF_3_ALTERED),
}  # fmt: skip


@pytest.mark.parametrize("name", JOURNALS)
def test_a_tampered_journal_yields_its_rows(name):
    data, (accepted, reasons) = JOURNALS[name]
    assert outcome(data) == (accepted, reasons)


STRICT = {
    "nothing altered": (render(K), (5, {})),
    "resource of line 3": (
        with_third(KNUMBER + b"@" + KAUTHOR + b"/" + ODD_RESOURCE, K),
        (2, {NON_CANONICAL: 1, MISMATCH: 1, WAITS: 1}),
    ),
    "number of line 3": (
        with_third(KNUMBER[:-1] + b"B" + K[2][86:], K),
        (2, {f"{MISMATCH},{NON_CANONICAL}": 1, MISMATCH: 1, WAITS: 1}),
    ),
    "line 1, the others chained to it": (
        render([ODD_NODE, *append(ODD_NODE, [(synthetic_id("author", 1, "0.12"),) * 2], "0.12")]),
        (2, {NON_CANONICAL: 1}),
    ),
    "0.9 has no impossible character": (render(J), (5, {})),
    "CR at the ends of lines": (render(J).replace(b"\n", b"\r\n"), UNREADABLE),
}  # fmt: skip


@pytest.mark.parametrize("name", STRICT)
def test_a_strict_reading_refuses_impossible_ids(name):
    data, (accepted, reasons) = STRICT[name]
    assert outcome(data, strict=True) == (accepted, reasons)


def journal_frame(**changes):
    return {"node": NODE, "journal": {"since": NODE, "entries": [line.decode() for line in J[1:]]}, **changes}


def batch_of(**changes):
    return journal_frame(journal={**journal_frame()["journal"], **changes})


def resources_frame(**changes):
    return {"node": NODE, "resources": [{"author": NODE, "resource": NODE}], **changes}


def without(frame, member):
    return {name: value for name, value in frame.items() if name != member}


def nested(levels):
    return json.loads("[" * levels + "]" * levels)


ACCEPTED = (5, {})
SHAPE = (0, {"FRAME_SHAPE": 1})
NOT_JSON = (0, {"JSON_INVALID": 1})
BAD_NODE = (0, {"BAD_NODE": 1})
GOOD = json.dumps(journal_frame())

FRAMES = {
    "nothing altered": (journal_frame(), ACCEPTED),
    "members that nobody knows": (journal_frame(seq="x", more={"a": [1.5, None]}), ACCEPTED),
    "32 levels in a member that nobody knows": (journal_frame(more=nested(31)), ACCEPTED),
    "33 levels in a member that nobody knows": (journal_frame(more=nested(32)), NOT_JSON),
    "no node": (without(journal_frame(), "node"), SHAPE),
    "node is a number": (journal_frame(node=1), SHAPE),
    "node is null": (journal_frame(node=None), SHAPE),
    "neither journal nor resources": (without(journal_frame(), "journal"), SHAPE),
    "both journal and resources": (journal_frame(resources=[]), SHAPE),
    "journal is null": (journal_frame(journal=None), SHAPE),
    "journal is an array": (journal_frame(journal=[]), SHAPE),
    "no since": (journal_frame(journal={"entries": []}), SHAPE),
    "since is null": (batch_of(since=None), SHAPE),
    "since of the other profile": (batch_of(since=K[0].decode()), SHAPE),
    "since in upper case": (batch_of(since=NODE.upper()), SHAPE),
    "since with a newline": (batch_of(since=NODE + "\n"), SHAPE),
    "no entries": (journal_frame(journal={"since": NODE}), SHAPE),
    "entries is a text": (batch_of(entries="x"), SHAPE),
    "an entry is a number": (batch_of(entries=[J[1].decode(), 2]), SHAPE),
    "an entry is an array": (batch_of(entries=[[]]), SHAPE),
    "entries is empty": (batch_of(entries=[]), (0, {})),
    "an entry with CR": (batch_of(entries=[J[1].decode() + "\r"]), (0, {MALFORMED: 1})),
    "an entry that is empty": (batch_of(entries=[""]), (0, {MALFORMED: 1})),
    "the first entry is line 1 of another node": (batch_of(entries=[OTHER[0].decode()]), (0, {MISPLACED: 1})),
    "the second entry is line 1": (batch_of(entries=[J[1].decode(), NODE]), (2, {MISPLACED: 1})),
    "50,000 entries": (batch_of(entries=["x"] * 50_000), (0, {MALFORMED: 1})),
    "50,001 entries": (batch_of(entries=["x"] * 50_001), (0, {"FRAME_TOO_MANY": 1})),
    "50,001 entries and no since": (
        journal_frame(journal={"entries": ["x"] * 50_001}),
        (0, {"FRAME_SHAPE,FRAME_TOO_MANY": 1}),
    ),
    "node of 63 characters": (journal_frame(node=NODE[:-1]), BAD_NODE),
    "node of 65 characters": (journal_frame(node=NODE + "0"), BAD_NODE),
    "node in upper case": (journal_frame(node=NODE.upper()), BAD_NODE),
    "node with a newline": (journal_frame(node=NODE + "\n"), BAD_NODE),
    "node is empty": (journal_frame(node=""), BAD_NODE),
    "node is a lone surrogate": (journal_frame(node="\ud800"), BAD_NODE),
    "node is a name of Hive": (journal_frame(node="__HIVE_DEFAULT_PARTITION__"), BAD_NODE),
    "a resource of a node that is not own": (resources_frame(), (0, {"NOT_OWN_NODE": 1})),
    "a resource of no form, of a node that is not own": (
        resources_frame(resources=[{"author": "", "resource": "\ud800"}]),
        (0, {"NOT_OWN_NODE": 1}),
    ),
    "no resource": (resources_frame(resources=[]), (0, {})),
    "resources is an object": (resources_frame(resources={}), SHAPE),
    "a resource is a text": (resources_frame(resources=["x"]), SHAPE),
    "a resource without author": (resources_frame(resources=[{"resource": NODE}]), SHAPE),
    "a resource whose author is a number": (resources_frame(resources=[{"author": 1, "resource": NODE}]), SHAPE),
    "seq at its least": (resources_frame(seq=0), (0, {"NOT_OWN_NODE": 1})),
    "seq at its greatest": (resources_frame(seq=2**64 - 1), (0, {"NOT_OWN_NODE": 1})),
    "seq one too great": (resources_frame(seq=2**64), SHAPE),
    "seq below 0": (resources_frame(seq=-1), SHAPE),
    "seq is 1.0": (resources_frame(seq=1.0), SHAPE),
    "seq is true": (resources_frame(seq=True), SHAPE),
    "seq is a text": (resources_frame(seq="1"), SHAPE),
    "seq is null": (resources_frame(seq=None), SHAPE),
    "seq is -0": (json.dumps(resources_frame(seq=0))[:-2] + "-0}", SHAPE),
    "a duplicate member": (GOOD[:-1] + ',"node":1}', NOT_JSON),
    "NaN in a member that nobody knows": (GOOD[:-1] + ',"more":NaN}', NOT_JSON),
    "a second object on the line": (GOOD + "{}", NOT_JSON),
    "a comma too many": (GOOD[:-1] + ",}", NOT_JSON),
    "not UTF-8": (GOOD.encode()[:-1] + b',"more":"\xff"}', NOT_JSON),
    "a blank line before and after": ("\n \t\r\n" + GOOD + "\n\r\n\n", ACCEPTED),
    "a byte order mark before a later frame": (
        GOOD.encode() + b"\n\xef\xbb\xbf" + GOOD.encode(),
        (5, {"JSON_INVALID": 1}),
    ),
    "an array on a later line": (GOOD + "\n[]", (5, {"JSON_INVALID": 1})),
    "over 16 MiB": (GOOD + " " * (MAX_FRAME_BYTES + 1 - len(GOOD)), (0, {"FRAME_TOO_LARGE": 1})),
    "16 MiB": (GOOD + " " * (MAX_FRAME_BYTES - len(GOOD)), ACCEPTED),
}  # fmt: skip


@pytest.mark.parametrize("name", FRAMES)
def test_a_tampered_frame_yields_its_rows(name):
    given, expected = FRAMES[name]
    data = (
        given
        if isinstance(given, bytes)
        else (given if isinstance(given, str) else json.dumps(given)).encode()
    )
    assert outcome(data + b"\n") == expected


@pytest.mark.parametrize("at", [1, len(GOOD) // 2, len(GOOD) - 1])
def test_a_last_frame_cut_before_its_end_is_truncated_too(at):
    assert outcome(GOOD.encode() + b"\n" + GOOD.encode()[:at]) == (5, {"JSON_INVALID,TRUNCATED": 1})


def test_a_last_frame_without_lf_that_is_json_is_not_truncated():
    assert outcome(b'{"node":1}') == SHAPE


def outcome(data, strict=False):
    lake = ReferenceLake(strict)
    counts = lake.ingest({"a": data})
    assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred
    reasons = Counter(",".join(row.reasons) for row in lake.quarantine.values())
    return sum(len(lake.state(node).lines) for node in lake.nodes), dict(reasons)
