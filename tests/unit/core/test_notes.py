"""Signed notes of trees: the published vector, and every change of one that must not open."""

import base64

import pytest

from strandline.core.ed25519 import ORDER, Ed25519Key
from strandline.core.notes import (
    MAX_NOTE_BYTES,
    NoteRefused,
    TreeHead,
    consistency_file,
    inclusion_file,
    is_origin,
    key_id,
    log_name,
    open_note,
    sign,
    verifier_key,
)
from support.trees import LEAVES, flipped, tree_root

KEY = Ed25519Key(b"\x07" * 32)
OTHER = Ed25519Key(b"\x08" * 32)
NAME = log_name("demo.example/strandline", f"group:{'0' * 64}")
HEAD = TreeHead(NAME, 8, tree_root(LEAVES))
NOTE = sign(HEAD, KEY)
BODY, _, SIGNATURES = NOTE.partition("\n\n")


def test_the_published_note():
    signature = "HK7dDFEZCvdozzPllgdB2NOoEwFMDeGhItWryGqigT8bJ0GLDJB0MvSbU5AVaPMxmF/DKeNphdJ4QG4LcqbuD1E+pgQ="
    root = base64.b64encode(HEAD.root).decode()
    assert f"{NAME}\n8\n{root}\n\n— {NAME} {signature}\n" == NOTE
    assert key_id(NAME, KEY.public).hex() == "1caedd0c"
    encoded = base64.b64encode(b"\x01" + KEY.public).decode()
    assert verifier_key(NAME, KEY.public) == f"{NAME}+1caedd0c+{encoded}"


def test_a_note_opens_with_its_key_beside_signatures_of_others():
    assert open_note(NOTE, NAME, KEY.public) == HEAD
    theirs = sign(HEAD, OTHER).partition("\n\n")[2]
    foreign = "— witness.example/w aGVsbG8=\n"
    for lines in (theirs + SIGNATURES, SIGNATURES + theirs, foreign + SIGNATURES):
        assert open_note(f"{BODY}\n\n{lines}", NAME, KEY.public) == HEAD


def _with_high_s() -> str:
    line = base64.b64decode(SIGNATURES.split(" ")[2])
    higher = int.from_bytes(line[36:], "little") + ORDER
    return base64.b64encode(line[:36] + higher.to_bytes(32, "little")).decode()


def _changed(line: str) -> str:
    return f"{BODY}\n\n— {NAME} {line}\n"


ENCODED = SIGNATURES.split(" ")[2].strip()
LINE = base64.b64decode(ENCODED)
REFUSED = {
    "nothing": ("", "three lines"),
    "no signature": (f"{BODY}\n\n", "line feed"),
    "an empty signature": (f"{BODY}\n\n\n", "no signature"),
    "no empty line": (NOTE.replace("\n\n", "\n"), "three lines"),
    "an extension line": (NOTE.replace("\n\n", "\nmore\n\n"), "three lines"),
    "two lines": (f"{NAME}\n8\n\n{SIGNATURES}", "three lines"),
    "another log": (NOTE.replace("demo.example", "demo.sample"), "of the log"),
    "another size": (NOTE.replace("\n8\n", "\n9\n"), "signature by this key is wrong"),
    "a size with a zero": (NOTE.replace("\n8\n", "\n08\n"), "number"),
    "a size with a sign": (NOTE.replace("\n8\n", "\n+8\n"), "number"),
    "a size in other digits": (NOTE.replace("\n8\n", "\n٨\n"), "number"),
    "a size above 2^63": (NOTE.replace("\n8\n", "\n9223372036854775808\n"), "number"),
    "an endless size": (NOTE.replace("\n8\n", f"\n{'9' * 5000}\n"), "number"),
    "another root": (
        NOTE.replace(BODY.split("\n")[2], base64.b64encode(flipped(HEAD.root, 1)).decode()),
        "signature by this key is wrong",
    ),
    "a root of 31 bytes": (NOTE.replace(BODY.split("\n")[2], base64.b64encode(b"x" * 31).decode()), "root"),
    "a root in another spelling": (NOTE.replace("7hx61VpXQ=", "7hx61VpXR="), "root"),
    "a root without padding": (NOTE.replace("7hx61VpXQ=\n", "7hx61VpXQ\n"), "root"),
    "no line feed at the end": (NOTE[:-1], "line feed"),
    "an empty line after it": (f"{NOTE}\n", "no signature"),
    "a hyphen": (NOTE.replace("—", "-"), "no signature"),
    "a tab": (NOTE.replace(f"— {NAME} ", f"— {NAME}\t"), "no signature"),
    "carriage returns": (NOTE.replace("\n", "\r\n"), "three lines"),
    "a changed signature": (
        _changed(base64.b64encode(flipped(LINE, 100)).decode()),
        "signature by this key is wrong",
    ),
    "a changed key id": (_changed(base64.b64encode(flipped(LINE, 3)).decode()), "did not sign"),
    "a cut signature": (
        _changed(base64.b64encode(LINE[:-1]).decode()),
        "signature by this key is wrong",
    ),
    "a longer signature": (
        _changed(base64.b64encode(LINE + b"x").decode()),
        "signature by this key is wrong",
    ),
    "a signature with S + L": (_changed(_with_high_s()), "signature by this key is wrong"),
    "a second signature that is wrong": (
        f"{BODY}\n\n{SIGNATURES}— {NAME} {base64.b64encode(flipped(LINE, 100)).decode()}\n",
        "signature by this key is wrong",
    ),
    "only bits of the key id": (_changed("AAA="), "did not sign"),
    "a signature in another spelling": (_changed(f"{ENCODED[:-2]}R="), "not in base64"),
    "another key": (sign(HEAD, OTHER), "did not sign"),
    "lone surrogates": (NOTE.replace("demo", "\ud800"), "of the log"),
    "too many signatures": (f"{BODY}\n\n{SIGNATURES * (MAX_NOTE_BYTES // len(SIGNATURES))}", "64 KiB"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_changed_note_does_not_open(name):
    note, why = REFUSED[name]
    assert note != NOTE
    with pytest.raises(NoteRefused, match=why):
        open_note(note, NAME, KEY.public)


def test_the_name_that_is_asked_for_decides():
    with pytest.raises(NoteRefused, match="of the log"):
        open_note(NOTE, f"{NAME}0", KEY.public)


def test_files_of_proofs_are_those_of_c2sp():
    path = [b"\x01" * 32, b"\x02" * 32]
    lines = [base64.b64encode(each).decode() for each in path]
    head = "c2sp.org/tlog-proof@v1\nindex 3"
    assert inclusion_file(3, path, NOTE) == f"{head}\n{lines[0]}\n{lines[1]}\n\n{NOTE}"
    assert inclusion_file(3, [], NOTE) == f"{head}\n\n{NOTE}"
    assert consistency_file(5, path, NOTE) == f"old 5\n{lines[0]}\n{lines[1]}\n\n{NOTE}"


@pytest.mark.parametrize("text", ["demo.example", "demo.example/strandline", "a", "x" * 253])
def test_origins(text):
    assert is_origin(text)


@pytest.mark.parametrize(
    "text", ["", " ", "a b", "a+b", "/a", "a\n", "ä", "x" * 254, "a:b", "—", "https://demo.example"]
)
def test_texts_that_are_no_origins(text):
    assert not is_origin(text)
