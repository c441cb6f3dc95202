"""Laws of node journals on random trees of lines, cut into frames and edited."""

import contextlib
import re
from dataclasses import fields
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import (
    batch,
    line_hash,
    parse_frame,
    parse_line,
    parse_source,
    profile_of,
    record_id,
    render,
    split,
)
from strandline.dialects.sdmp.reduce import forks, journal
from strandline.dialects.sdmp.types import Line
from strandline.dialects.sdmp.verify import judge
from support.laws import law
from support.reference import Counts, ReferenceLake

LAW = law(100)
MANY = law(200)
PROFILES = st.sampled_from(["0.9", "0.12"])
EDITS = ("delete", "alter", "insert", "duplicate", "empty", "foreign")


@st.composite
def trees(draw, profile=None):
    """The lines of one journal, possibly forked: each follows line 1 or any line made before it."""
    profile = draw(PROFILES) if profile is None else profile
    lines = [synthetic_id("node", 0, profile).encode()]
    for k in range(draw(st.integers(0, 9))):
        before = lines[-1] if draw(st.integers(0, 3)) else draw(st.sampled_from(lines))
        pair = (synthetic_id("author", k % 3, profile), synthetic_id("resource", k, profile))
        lines.append(next(append(before, [pair], profile)))
    return lines


def path_to(lines, end):
    """Line 1 and what leads from it to a line."""
    by_hash = {line_hash(line, profile_of(lines[0].decode())): line for line in lines}
    path = [end]
    while b"@" in path[-1]:
        path.append(by_hash[path[-1].partition(b"@")[0].decode()])
    return path[::-1]


def edited(draw, lines, tree):
    edit, at = draw(st.sampled_from(EDITS)), draw(st.integers(0, len(lines) - 1))
    if edit == "delete":
        return lines[:at] + lines[at + 1 :]
    if edit == "duplicate":
        return [*lines[: at + 1], *lines[at:]]
    if edit == "empty":
        return [*lines[:at], b"", *lines[at:]]
    if edit == "insert":
        return [*lines[:at], draw(st.sampled_from(tree)), *lines[at:]]
    if edit == "foreign":
        return [*lines[:at], draw(st.binary(max_size=9)).replace(b"\n", b""), *lines[at:]]
    where = draw(st.integers(0, max(0, len(lines[at]) - 1)))
    return [*lines[:at], lines[at][:where] + b"0" + lines[at][where + 1 :], *lines[at + 1 :]]


@st.composite
def deliveries(draw):
    """Files about one journal: whole branches as texts and stretches of them as frames, some edited."""
    tree = draw(trees())
    node = tree[0].decode()
    files = []
    for _ in range(draw(st.integers(1, 5))):
        branch = path_to(tree, draw(st.sampled_from(tree)))
        if draw(st.booleans()):
            branch = edited(draw, branch, tree) or branch
        if draw(st.booleans()):
            files.append(render(branch))
        else:
            start = draw(st.integers(0, len(branch) - 1))
            texts = [line.decode("utf-8", "replace").encode() for line in branch[start:]]
            files.append(batch(node, node, texts) + b"\n")
    return files


def ingested(runs):
    lake = ReferenceLake()
    for run in runs:
        counts = lake.ingest({f"{i:03}": data for i, data in enumerate(run)})
        assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred
    return lake


def same(one, other):
    return one.namespaces == other.namespaces and one.quarantine == other.quarantine


@LAW
@given(st.data(), deliveries())
def test_any_split_into_runs_order_and_duplication_gives_the_same_tables(data, files):
    whole = ingested([files])
    again = data.draw(st.permutations(files + data.draw(st.lists(st.sampled_from(files), max_size=3))))
    cuts = sorted({0, len(again), *data.draw(st.lists(st.integers(0, len(again)), max_size=3))})
    assert same(whole, ingested([again[start:end] for start, end in pairwise(cuts)]))


def accepted_by_the_letter(node, profile, frames):
    """Acceptance as it is defined, one line at a time until nothing changes: slow, and shares no code with judge."""
    form = rb"[0-9a-f]{64}" if profile == "0.9" else rb"[A-Za-z0-9_-]{86}"
    candidates = set()
    for frame in frames:
        claim = None
        for position, raw in enumerate(frame):
            is_first, is_link = re.fullmatch(form, raw), re.fullmatch(form + b"@" + form + b"/" + form, raw)
            if not (is_link or (is_first and position == 0 and raw == node)):
                claim = None
                continue
            if claim is None or is_first or raw.split(b"@")[0] == claim:
                candidates.add(raw)
            claim = line_hash(raw, profile).encode()
    accepted = {node}
    while True:
        hashes = {line_hash(line, profile).encode() for line in accepted}
        more = {line for line in candidates if line.split(b"@")[0] in hashes} - accepted
        if not more:
            return accepted if candidates & accepted else set()
        accepted |= more


@LAW
@given(deliveries())
def test_the_judge_accepts_what_the_definition_accepts(files):
    frames = {}
    for data in files:
        for _, frame in parse_source(data).frames:
            frames.setdefault(frame.node, []).append(frame)
    for node, of_node in frames.items():
        expected = accepted_by_the_letter(
            node.encode(), profile_of(node), [frame.elements for frame in of_node]
        )
        assert set(judge(node, of_node).lines.values()) == expected


@LAW
@given(deliveries())
def test_a_second_ingest_of_the_same_files_adds_nothing(files):
    lake = ingested([files])
    before = dict(lake.namespaces), dict(lake.quarantine)
    counts = lake.ingest({f"{i:03}": data for i, data in enumerate(files)})
    assert (counts.new, counts.readmitted) == (0, 0)
    assert (dict(lake.namespaces), dict(lake.quarantine)) == before


@LAW
@given(deliveries())
def test_the_row_of_a_journal_agrees_with_its_lines(files):
    lake = ingested([files])
    for state in lake.namespaces.values():
        row = state.journal
        numbers = [raw.partition(b"@")[0] for raw in state.lines.values() if b"@" in raw]
        assert row.fork_count == len(state.forks) == len({n for n in numbers if numbers.count(n) > 1})
        assert row.line_count == len(state.lines) == len(numbers) + 1
        assert row.tip_n == max(state.n.values()) == row.leaves[0].n
        assert row.pair_count + row.duplicate_pairs == len(numbers)


@LAW
@given(st.data(), PROFILES, st.integers(1, 12))
def test_what_append_writes_is_accepted_and_can_be_put_together_from_its_parts(data, profile, n):
    lines = list(synthetic(data.draw(st.integers(0, 3)), n, profile))
    assert judge(lines[0].decode(), [lines]).new == n
    for raw in lines:
        line = parse_line(raw, profile)
        assert isinstance(line, Line)
        if line.number is not None:
            assert f"{line.number}@{line.author}/{line.resource}".encode() == raw
    assert split(render(lines)) == split(render(lines), strict=True) == lines


@LAW
@given(st.lists(st.binary(max_size=5).filter(lambda line: b"\n" not in line), max_size=6))
def test_split_inverts_render_on_any_lines(lines):
    data = render(lines) + b"\n" if lines else b""
    if not data.startswith(b"\xef\xbb\xbf"):
        assert split(data, strict=True) == lines


def first_break(lake):
    """The least position that the evidence of any row names."""
    texts = [row.evidence for row in lake.quarantine.values()]
    return min(
        (int(found) for text in texts for found in re.findall(r'"position":(\d+)', text)), default=None
    )


@MANY
@given(st.data(), PROFILES, st.integers(2, 6))
def test_a_changed_byte_is_found_in_its_line_or_the_next(data, profile, n):
    lines = list(synthetic(0, n, profile))
    k = data.draw(st.integers(1, n - 1))
    at = data.draw(st.integers(0, len(lines[k - 1]) - 1))
    new = data.draw(st.integers(0, 255).filter(lambda value: value != lines[k - 1][at]))
    changed = lines[k - 1][:at] + bytes([new]) + lines[k - 1][at + 1 :]
    lake = ingested([[render([*lines[: k - 1], changed, *lines[k:]])]])
    if any(row.reasons[0] == "JSON_INVALID" for row in lake.quarantine.values()):
        assert (k, at, new) == (1, 0, ord("{"))
    else:
        assert first_break(lake) in (k, k + 1)


@MANY
@given(st.data(), PROFILES, st.integers(2, 6))
def test_a_changed_byte_of_the_tip_is_found_once_a_successor_is_held(data, profile, n):
    lines = list(synthetic(0, n + 1, profile))
    at = data.draw(st.integers(0, len(lines[n - 1]) - 1))
    new = data.draw(st.integers(0, 255).filter(lambda value: value != lines[n - 1][at]))
    changed = lines[n - 1][:at] + bytes([new]) + lines[n - 1][at + 1 :]
    lake = ingested([[render([*lines[: n - 1], changed])], [render(lines)]])
    state = lake.state(lines[0].decode())
    assert set(lines) <= set(state.lines.values())
    assert state.journal.fork_count == 1 or first_break(lake) in (n, n + 1)


@LAW
@given(st.data(), PROFILES, st.integers(2, 6))
def test_a_prefix_is_accepted_whole_and_a_cut_inside_a_line_loses_that_line_alone(data, profile, n):
    text = render(synthetic(0, n, profile))
    cut = data.draw(st.integers(len(synthetic_id("node", 0, profile)), len(text)))
    whole_lines = [line for line in synthetic(0, n, profile) if line in text[:cut].split(b"\n")]
    lake = ingested([[text[:cut]]])
    (state,) = lake.namespaces.values()
    assert set(state.lines.values()) == set(whole_lines)
    loose = text[:cut].split(b"\n")[-1]
    assert len(lake.quarantine) == (loose not in whole_lines and loose != b"")


@LAW
@given(trees(), st.randoms(use_true_random=False))
def test_a_state_does_not_depend_on_the_order_of_lines(lines, random):
    node, profile = lines[0].decode(), profile_of(lines[0].decode())
    shuffled = random.sample(lines, len(lines))
    one, other = ({record_id(raw): parse_line(raw, profile) for raw in order} for order in (lines, shuffled))
    assert journal(node, one) == journal(node, other)
    assert forks(node, one) == forks(node, other)


def mutated(draw, data):
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(st.binary(max_size=3)) + data[at + draw(st.integers(0, 3)) :]
    return data


@st.composite
def hostile(draw):
    """Random bytes, or a good file with a few bytes changed."""
    seed = draw(st.sampled_from([b"", b"{", b'{"node":"', *draw(deliveries())]))
    return mutated(draw, seed) + draw(st.binary(max_size=20))


@MANY
@given(hostile(), st.booleans())
def test_no_input_raises_and_every_record_ends_in_one_place(data, strict):
    lake = ReferenceLake(strict)
    counts = lake.ingest({"a": data})
    assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred
    assert all(getattr(counts, field.name) >= 0 for field in fields(Counts))
    assert all(row.reasons for row in lake.quarantine.values())
    assert all(len(row.evidence) <= 16 * 1024 for row in lake.quarantine.values())


JSON_TEXT = st.text(alphabet='{}[]",:\\/ud8e0.-+1tfnNaI \n\u0436', max_size=40).map(str.encode)


@MANY
@given(st.one_of(st.binary(max_size=40), JSON_TEXT), st.sampled_from(["exact", "js"]))
def test_the_json_reader_gives_a_value_or_refuses(raw, numbers):
    with contextlib.suppress(JsonRefused):
        strict_json(raw, numbers=numbers)


@MANY
@given(st.one_of(st.binary(max_size=60), JSON_TEXT), PROFILES)
def test_the_readers_of_lines_and_frames_never_raise(raw, profile):
    parse_frame(raw)
    parse_line(raw, profile)
    profile_of(raw.decode("utf-8", "surrogateescape"))
    node = synthetic_id("node", 0, profile)
    judgement = judge(node, [[raw, raw, node.encode()]], strict=True)
    assert judgement.read == 3
