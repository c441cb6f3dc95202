"""The checker for third parties agrees with the code that writes proofs, and proves nothing of changed files."""

import ast
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

import strandline_check.proof as checker
from strandline.core.ed25519 import Ed25519Key
from strandline.core.merkle import consistency_path, inclusion_path, leaf_hash, root_of
from strandline.core.notes import TreeHead, consistency_file, inclusion_file, sign
from support.trees import flipped

KEY, OTHER = Ed25519Key(b"\x07" * 32), Ed25519Key(b"\x08" * 32)
LOG = "demo.example/node:abc"
CONTENTS = [b"line %d" % number for number in range(21)]
HASHES = [leaf_hash(hashlib.sha256(each).digest()) for each in CONTENTS]


def root(start, end):
    return root_of(HASHES[start:end])


def note(size, key=KEY, log=LOG):
    return sign(TreeHead(log, size, root(0, size)), key)


def check(tmp_path, what, *contents, log=LOG, key=KEY):
    paths = []
    for number, content in enumerate(contents):
        path = tmp_path / str(number)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        paths.append(str(path))
    return checker.main([what, *paths, "--log", log, "--key", key.public.hex()])


def record(index, size):
    return inclusion_file(index, inclusion_path(index, size, root), note(size))


def continued(old, size):
    return consistency_file(old, consistency_path(old, size, root), note(size))


@pytest.mark.parametrize("size", [1, 2, 3, 8, 13, 21])
def test_every_record_of_a_tree_is_proven_by_its_bytes_only(tmp_path, capsys, size):
    for index in range(size):
        assert check(tmp_path, "record", record(index, size), CONTENTS[index]) == 0
        said = capsys.readouterr().out
        assert (
            said
            == f"proven: the record {hashlib.sha256(CONTENTS[index]).hexdigest()} is at place {index} of the {size} "
            f"records of {LOG}\n"
        )
        assert check(tmp_path, "record", record(index, size), CONTENTS[index] + b"\n") == 1
        assert "is not at place" in capsys.readouterr().out


@pytest.mark.parametrize("size", [1, 2, 3, 8, 13, 21])
def test_every_older_tree_is_proven(tmp_path, capsys, size):
    for old in range(1, size + 1):
        assert check(tmp_path, "continued", note(old), continued(old, size)) == 0
        assert capsys.readouterr().out == (
            f"proven: the {size} records of {LOG} begin with the {old} of the older note\n"
        )


def test_a_note_alone_is_proven(tmp_path, capsys):
    assert check(tmp_path, "note", note(8)) == 0
    assert capsys.readouterr().out == f"proven: the key signed the tree of 8 records of {LOG}\n"


@pytest.mark.large
def test_no_byte_of_a_proof_can_be_changed(tmp_path):
    proof, old, newer = record(5, 13).encode(), note(6).encode(), continued(6, 13).encode()
    for at in range(len(proof)):
        assert check(tmp_path, "record", flipped(proof, 8 * at + at % 7), CONTENTS[5]) == 1, at
    for at in range(len(old)):
        assert check(tmp_path, "continued", flipped(old, 8 * at + at % 7), newer) == 1, at
    for at in range(len(newer)):
        assert check(tmp_path, "continued", old, flipped(newer, 8 * at + at % 7)) == 1, at


PROOF, OLD, NEWER = record(5, 13), note(6), continued(6, 13)
FIRST = PROOF.split("\n")[2]
CASES = {
    "another key": ("record", PROOF, CONTENTS[5], {"key": OTHER}, "did not sign"),
    "another log": ("record", PROOF, CONTENTS[5], {"log": f"{LOG}d"}, "of the log"),
    "another place": ("record", PROOF.replace("index 5", "index 4"), CONTENTS[5], {}, "not at place 4"),
    "a place behind the end": ("record", PROOF.replace("index 5", "index 13"), CONTENTS[5], {}, "no record 13"),
    "a place below the start": ("record", PROOF.replace("index 5", "index -1"), CONTENTS[5], {}, "no number"),
    "a place of many digits": ("record", PROOF.replace("index 5", f"index {'9' * 99}"), CONTENTS[5], {}, "no number"),
    "a hash less": ("record", PROOF.replace(f"{FIRST}\n", ""), CONTENTS[5], {}, "too few hashes|not at place"),
    "a hash more": ("record", PROOF.replace(FIRST, f"{FIRST}\n{FIRST}"), CONTENTS[5], {}, "too many|not at place"),
    "a cut hash": ("record", PROOF.replace(FIRST, FIRST[:40]), CONTENTS[5], {}, "not 32 bytes"),
    "no base64": ("record", PROOF.replace(FIRST, "*" * 44), CONTENTS[5], {}, "not in base64"),
    "another spelling": ("record", PROOF.replace(FIRST, f" {FIRST}"), CONTENTS[5], {}, "not in base64"),
    "version 2": ("record", PROOF.replace("@v1", "@v2"), CONTENTS[5], {}, "no tlog-proof"),
    "extra data": ("record", PROOF.replace("index", "extra AAAA\nindex"), CONTENTS[5], {}, "no tlog-proof"),
    "an empty proof": ("record", "", CONTENTS[5], {}, "no tlog-proof"),
    "no text": ("record", b"\xff", CONTENTS[5], {}, "no text"),
    "a newer old note": ("continued", note(7), NEWER, {}, "no proof from a tree of 7"),
    "an old note that is newer": ("continued", note(13), continued(6, 8), {}, "no proof from a tree of 13"),
    "an old note of another key": ("continued", note(6, OTHER), NEWER, {}, "did not sign"),
    "an old note of another log": ("continued", note(6, KEY, f"{LOG}d"), NEWER, {}, "of the log"),
    "a proof of another old size": ("continued", OLD, NEWER.replace("old 6", "old 5"), {}, "no proof from a tree of 6"),
    "another old tree": (
        "continued", sign(TreeHead(LOG, 6, root(1, 7)), KEY), NEWER, {}, "changed or removed",
    ),
    "an empty old tree": (
        "continued", sign(TreeHead(LOG, 0, root(0, 0)), KEY), NEWER.replace("old 6", "old 0"), {}, "tree of 0",
    ),
    "hashes for equal trees": ("continued", note(13), f"old 13\n{FIRST}\n\n{note(13)}", {}, "number of hashes"),
    "a note with more lines": ("note", OLD.replace("\n\n", "\nmore\n\n"), None, {}, "form of a signed tree"),
    "a note with a line below it": ("note", f"{OLD}\n", None, {}, "no signature"),
    "a note without a signature": ("note", OLD.partition("—")[0], None, {}, "form of a signed tree"),
    "a note with a changed size": ("note", OLD.replace("\n6\n", "\n7\n"), None, {}, "signature of the note is wrong"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_forged_file_proves_nothing(tmp_path, capsys, name):
    what, first, second, given, why = CASES[name]
    assert check(tmp_path, what, *(each for each in (first, second) if each is not None), **given) == 1
    said = capsys.readouterr().out
    assert said.startswith("not proven: "), said
    assert any(each in said for each in why.split("|")), said


def test_a_missing_file_and_a_wrong_key_are_told(tmp_path, capsys):
    assert checker.main(["note", str(tmp_path / "none"), "--log", LOG, "--key", "00" * 32]) == 1
    assert "cannot be read: No such file" in capsys.readouterr().out
    for key in ("", "00", "x" * 64, "00" * 33):
        with pytest.raises(SystemExit) as ended:
            checker.main(["note", str(tmp_path / "none"), "--log", LOG, "--key", key])
        assert ended.value.code == 2
        assert "32 bytes in hex" in capsys.readouterr().err


def test_a_file_that_is_too_large_is_not_read(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(checker, "MAX_BYTES", 10)
    assert check(tmp_path, "note", note(3)) == 1
    assert "is larger than" in capsys.readouterr().out


def test_the_checker_is_one_file_that_runs_alone(tmp_path):
    source = Path(checker.__file__)
    imported = {
        each
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in (
            [node.module] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
        )
    }
    assert {each.partition(".")[0] for each in imported if each} - set(sys.stdlib_module_names) == {"nacl"}
    alone = tmp_path / "proof.py"
    alone.write_bytes(source.read_bytes())
    (tmp_path / "note").write_text(note(3))
    asked = [sys.executable, "-I", str(alone), "note", str(tmp_path / "note"), "--log", LOG]
    ended = subprocess.run([*asked, "--key", KEY.public.hex()], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("proven: the key signed the tree of 3 records")
