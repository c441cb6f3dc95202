import re
import tracemalloc

import pytest

from strandline.core.limits import MAX_VALUES
from strandline.dialects.sdmp import codec
from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.types import Announcement, Frame, Unreadable

J = list(synthetic(0, 3))
K = list(synthetic(0, 3, "0.12"))
NODE = J[0].decode()
ID_LENGTHS = [("0.9", 64, 194), ("0.12", 86, 260)]


@pytest.mark.parametrize(("profile", "id_chars", "line_bytes"), ID_LENGTHS)
def test_the_patterns_of_a_profile_take_its_lines_whole_and_nothing_more(profile, id_chars, line_bytes):
    first, second, _ = J if profile == "0.9" else K
    assert (codec.ID_CHARS[profile], codec.LINE_BYTES[profile]) == (id_chars, line_bytes)
    assert (len(first), len(second)) == (id_chars, line_bytes)
    assert codec.FORMS[profile].fullmatch(first)
    assert not codec.LINES[profile].fullmatch(first)
    assert codec.LINES[profile].fullmatch(second)
    assert not codec.FORMS[profile].fullmatch(second)
    for tail in (b"\n", b"\r\n", "\u0085".encode(), "\u2028".encode()):
        assert not codec.FORMS[profile].fullmatch(first + tail)
        assert not codec.LINES[profile].fullmatch(second + tail)


def test_the_rules_of_a_node_are_those_of_its_profile():
    for journal, profile in ((J, "0.9"), (K, "0.12")):
        rules = codec.rules_of(journal[0].decode())
        assert rules.profile == profile
        assert rules.first(journal[0])
        assert rules.link(journal[1])
        assert rules.canonical(journal[1])
        assert journal[2][: rules.id_chars].decode() == rules.hash(journal[1])
        for tail in (b"\n", b"\r", b" ", "\u2028".encode()):
            assert not rules.link(journal[1] + tail)
            assert not rules.first(journal[0] + tail)
            assert not rules.link(tail + journal[1])
    for node in (None, "", "../../x"):
        rules = codec.rules_of(node)
        assert not any(test(line) for test in (rules.link, rules.first) for line in (b"", *J, *K))


def test_only_a_0_12_id_can_end_impossibly_and_each_field_is_named():
    odd = re.sub(rb".(?=[@/]|$)", b"B", K[1])
    fields = codec.non_canonical_fields(codec.parse_line(odd, "0.12"))
    assert fields == ("number", "author", "resource")
    assert codec.non_canonical_fields(codec.parse_line(K[0][:-1] + b"B", "0.12")) == ("fingerprint",)
    assert not codec.rules_of(K[0].decode()).canonical(odd)
    for journal, profile in ((J, "0.9"), (K, "0.12")):
        assert all(not codec.non_canonical_fields(codec.parse_line(line, profile)) for line in journal)


@pytest.mark.parametrize("end", "AQgw")
def test_four_last_characters_are_possible(end):
    line = codec.parse_line(K[0][:-1] + end.encode(), "0.12")
    assert not codec.non_canonical_fields(line)


def test_a_line_falls_into_its_parts():
    line = codec.parse_line(J[1], "0.9")
    assert f"{line.number}@{line.author}/{line.resource}".encode() == line.raw == J[1]
    assert not line.is_first
    assert codec.parse_line(J[0], "0.9").is_first
    assert codec.parse_line(J[1], "0.12") == codec.parse_line(K[1], "0.9") == "MALFORMED_LINE"


@pytest.mark.parametrize(
    ("data", "weak", "strict"),
    [
        (b"", [], []),
        (b"\xef\xbb\xbf", [], []),
        (b"\n", [b""], [b""]),
        (b"a", [b"a"], [b"a"]),
        (b"a\nb\n", [b"a", b"b"], [b"a", b"b"]),
        (b"a\n\nb", [b"a", b"", b"b"], [b"a", b"", b"b"]),
        (b"a\r\nb\r", [b"a", b"b"], [b"a\r", b"b\r"]),
        (b"a\r\r\nb\rc", [b"a\r", b"b\rc"], [b"a\r\r", b"b\rc"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", [b"\xef\xbb\xbfa"], [b"\xef\xbb\xbfa"]),
    ],
)
def test_a_text_journal_splits_at_lf_alone(data, weak, strict):
    assert codec.split(data) == weak
    assert codec.split(data, strict=True) == strict


@pytest.mark.parametrize(
    ("raw", "cause"), [(b"", "empty"), (b"x" * 1025, "too_long"), (b"x" * 1024, "form"), (b"\xff", "form")]
)
def test_a_malformed_line_has_a_cause(raw, cause):
    assert codec.malformed_cause(len(raw)) == cause


@pytest.mark.parametrize(
    ("head", "form"),
    [
        (b"{", "frames"),
        (b"\xef\xbb\xbf \t\r\n\x0b\x0c{", "frames"),
        (b"a{", "text"),
        (b"\xc2\xa0{", "text"),
        (b" ", None),
        (b"", None),
    ],
)
def test_the_first_byte_that_is_no_white_space_tells_frames_from_text(head, form):
    assert codec.form_of(head) == form


def test_a_file_of_white_space_is_a_journal_without_line_1():
    content = codec.parse_source(b" \n\n")
    assert [damage.reasons for damage in content.damages] == [("FIRST_LINE_MALFORMED",)]
    assert content.damages[0].raw == b" \n\n"


def test_frames_and_damages_know_their_offset_in_the_file():
    frame = codec.batch(NODE, NODE, J[1:])
    content = codec.parse_source(b"\xef\xbb\xbf" + frame + b"\n\n[]\n" + frame)
    assert [offset for offset, _ in content.frames] == [3, 3 + len(frame) + 5]
    assert [damage.offset for damage in content.damages] == [3 + len(frame) + 2]


def test_a_first_line_that_is_none_leaves_the_mark_out_and_reads_its_head_alone():
    damage = codec.parse_source(b"\xef\xbb\xbfx\r\nrest").damages[0]
    assert (damage.raw, damage.offset) == (b"x\r\nrest", 3)
    evidence = damage.evidence["FIRST_LINE_MALFORMED"]
    assert (evidence["cause"], evidence["actual"]) == ("form", "x\r")
    long = codec.first_line_malformed(b"y" * 5000)
    assert long.evidence == codec.first_line_malformed(b"y" * 9000).evidence
    assert long.evidence["FIRST_LINE_MALFORMED"]["cause"] == "too_long"


def test_a_batch_is_read_back_as_it_was_written():
    frame = codec.parse_frame(codec.batch(NODE, NODE, J[1:]))
    assert frame == Frame(NODE, "0.9", NODE, tuple(J[1:]))


@pytest.mark.parametrize("seq", [None, 0, 2**64 - 1])
def test_an_announcement_is_read_back_as_it_was_written(seq):
    pairs = [(synthetic_id("author", 1), synthetic_id("resource", 1))]
    assert codec.parse_frame(codec.announce(NODE, pairs, seq)) == Announcement(NODE, "0.9", tuple(pairs), seq)
    assert codec.announced_element(*pairs[0]) in codec.announce(NODE, pairs, seq)


@pytest.mark.parametrize(
    "call",
    [
        lambda: codec.batch("x", NODE, []),
        lambda: codec.batch(NODE, K[0].decode(), []),
        lambda: codec.batch(NODE, NODE, [b"\xff"]),
        lambda: codec.announce("x", []),
        lambda: codec.announce(NODE, [("x", NODE)]),
        lambda: codec.announce(NODE, [], seq=-1),
    ],
)
def test_writing_a_frame_of_no_ids_is_a_wrong_call(call):
    with pytest.raises(ValueError):
        call()


def test_a_refused_frame_names_the_member_what_was_expected_and_what_was_found():
    raw = b'{"node":"%s","journal":{"since":"%s","entries":["a",2]}}' % (J[0], J[0])
    damage = codec.parse_frame(raw)
    assert isinstance(damage, Unreadable)
    assert damage.raw == raw
    assert damage.evidence == {
        "FRAME_SHAPE": {"field": "journal.entries[1]", "expected": "text", "actual": "integer"}
    }


def crowded(unit: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    """The largest frame that is nothing but `unit`, as often as it fits between the two."""
    return before + unit * ((codec.MAX_FRAME_BYTES - len(before) - len(after)) // len(unit)) + after


ENTRIES = codec.batch(NODE, NODE, [])[:-3]
MANY = "FRAME_TOO_MANY"
# Largest frames of small values, and how they are refused: by their marks, before an object is built of them.
CROWDED = {
    "values with nothing around them": (b"[],", b"", b"", "JSON_INVALID"),
    "arrays in an array": (b"[],", b"[", b"[]]", "JSON_INVALID"),
    "arrays for entries": (b"[],", ENTRIES, b"[]]}}", MANY),
    "objects for entries": (b"{},", ENTRIES, b"{}]}}", MANY),
    "numbers for entries": (b"1.0,", ENTRIES, b"1]}}", MANY),
    "texts for entries": (b'"aa",', ENTRIES, b'""]}}', MANY),
    "values in an ignored member": (b"[],", ENTRIES + b']},"x":[', b"1]}", MANY),
    "arrays in arrays": (b"[", b"", b"", "JSON_INVALID"),
    "objects in objects": (b'{"a":', b"", b"", "JSON_INVALID"),
    "brackets that close": (b"] ", b"{", b"", "JSON_INVALID"),
    "texts and no comma": (b'""', b"{", b"", "JSON_INVALID"),
}


@pytest.mark.parametrize(("unit", "before", "after", "reason"), CROWDED.values(), ids=CROWDED.keys())
@pytest.mark.large
def test_a_frame_of_nothing_but_small_values_is_refused_in_bounded_memory(unit, before, after, reason):
    raw = crowded(unit, before, after)
    tracemalloc.start()
    try:
        damage = codec.parse_frame(raw)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert damage.reasons == (reason,)
    assert damage.raw == raw
    assert peak < 3 * codec.MAX_FRAME_BYTES


@pytest.mark.large
def test_the_most_values_of_a_frame_are_opened_and_one_more_is_not():
    def frame(values: int) -> bytes:
        members = b",".join(b'"%06x":1.0' % number for number in range(values))
        return codec.batch(NODE, NODE, J[:1])[:-1] + b',"x":{' + members + b"}}"

    # Around them: three objects, an array, three commas between members; between them one comma less than there are.
    most = MAX_VALUES - 6
    tracemalloc.start()
    try:
        assert codec.parse_frame(frame(most)).elements == (J[0],)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 << 20
    damage = codec.parse_frame(frame(most + 1))
    assert damage.reasons == ("FRAME_TOO_MANY",)
    assert damage.evidence["FRAME_TOO_MANY"]["field"] == "values"


def test_marks_inside_texts_are_no_values():
    entries = [b"[{," * 100, b'\\"[,' * 100] * 1500
    assert codec.parse_frame(codec.batch(NODE, NODE, entries)).elements == tuple(entries)


@pytest.mark.large
def test_what_comes_first_decides_between_too_deep_and_too_many():
    deep, wide = b"[" * 40 + b"]" * 40, b"[" + b"[]," * MAX_VALUES + b"[]]"
    for first, second, reason in ((deep, wide, "JSON_INVALID"), (wide, deep, "FRAME_TOO_MANY")):
        damage = codec.parse_frame(b'{"x":' + first + b',"y":' + second + b"}")
        assert damage.reasons == (reason,)
    assert damage.evidence["FRAME_TOO_MANY"]["expected"] == MAX_VALUES
