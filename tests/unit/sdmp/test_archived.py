"""Archived journals: the whole chain of one node, read back; anything else is refused."""

import io

import pytest

from strandline.dialects.sdmp.codec import render
from strandline.dialects.sdmp.types import line_hash
from strandline.dialects.sdmp.verify import tip_of_text

NODES = {"0.9": "ab" * 32, "0.12": "x" * 85 + "A"}


def journal(profile, count=4):
    lines = [NODES[profile].encode()]
    while len(lines) < count:
        lines.append(f"{line_hash(lines[-1], profile)}@{NODES[profile]}/{NODES[profile]}".encode())
    return lines


def read(profile, text):
    return tip_of_text(NODES[profile], io.BytesIO(text))


@pytest.mark.parametrize("profile", NODES)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_whole_journal_has_its_lines_and_its_tip(profile, count):
    lines = journal(profile, count)
    found, tip = read(profile, render(lines))
    assert (found, tip.raw, tip.hash) == (count, lines[-1], line_hash(lines[-1], profile))


TAMPERED = {
    "nothing": lambda lines: b"",
    "a final newline": lambda lines: render(lines) + b"\n",
    "two final newlines": lambda lines: render(lines) + b"\n\n",
    "a lost line": lambda lines: render([*lines[:2], *lines[3:]]),
    "no first line": lambda lines: render(lines[1:]),
    "two first lines": lambda lines: render([lines[0], *lines]),
    "swapped lines": lambda lines: render([*lines[:2], lines[3], lines[2]]),
    "CR": lambda lines: b"\r\n".join(lines),
    "a byte order mark": lambda lines: b"\xef\xbb\xbf" + render(lines),
    "a long line": lambda lines: render([*lines, b"a" * 5000]),
    "another node": lambda lines: render([lines[0][:-1] + b"0", *lines[1:]]),
    "a changed byte in the middle": lambda lines: render(lines).replace(lines[2], lines[2][:-1] + b"g"),
}


@pytest.mark.parametrize("profile", NODES)
@pytest.mark.parametrize("name", TAMPERED)
def test_what_is_not_the_whole_chain_of_the_node_is_refused(profile, name):
    assert read(profile, TAMPERED[name](journal(profile))) is None


def test_a_name_that_is_no_fingerprint_has_no_journal():
    assert tip_of_text("nobody", io.BytesIO(b"nobody")) is None
