"""Checks a proof that `strandline prove` wrote. Needs Python and PyNaCl, not Strandline: this file can be copied alone.

    python proof.py record NAME.tlog-proof NAME.record --log ORIGIN/NAMESPACE --key HEX
    python proof.py continued OLD.checkpoint NAME.consistency --log ORIGIN/NAMESPACE --key HEX
    python proof.py note NAME.checkpoint --log ORIGIN/NAMESPACE --key HEX

`record`: the record whose bytes are in the second file is in the tree that the note of the first one states. Its id is
the SHA-256 of these bytes. `continued`: the tree of the newer note begins with all records of the older one. `note`:
the key signed the tree. Get the key from the operator of the log by another way than the files.

Formats: C2SP signed-note, tlog-checkpoint and tlog-proof; trees: RFC 9162, section 2.1. Prints one sentence. The exit
code is 0 for proven, 1 for not proven, 2 for a wrong call.
"""

import argparse
import base64
import hashlib
import re
import sys
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

MAX_BYTES: Final = 64 * 1024 * 1024
NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}")


class NotProven(Exception):  # noqa: N818 - what a reader learns
    """The files prove nothing. The message says why."""


class Tree(NamedTuple):
    """What a note states."""

    size: int
    root: bytes


def signed_tree(note: str, log: str, key: bytes) -> Tree:
    """Return the tree of a note after its signature was verified. Raises: NotProven."""
    text, blank, signatures = note.partition("\n\n")
    lines = text.split("\n")
    if not blank or len(lines) != 3 or not signatures.endswith("\n"):
        raise NotProven("the note has not the form of a signed tree")
    if lines[0] != log:
        raise NotProven(f"the note is of the log {lines[0]!r}")
    tree = Tree(number(lines[1]), digest(lines[2]))
    named = hashlib.sha256(log.encode() + b"\n\x01" + key).digest()[:4]
    ours = []
    for line in signatures[:-1].split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        if dash != "—" or not name:
            raise NotProven("a line below the note is no signature")
        signature = decoded(encoded)
        if name == log and signature[:4] == named:
            ours.append(signature[4:])
    if not ours:
        raise NotProven("the key did not sign the note")
    for signature in ours:
        try:
            VerifyKey(key).verify(f"{text}\n".encode(), signature)
        except (BadSignatureError, ValueError):
            raise NotProven("the signature of the note is wrong") from None
    return tree


def root_with(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """Return the root of a tree that has a leaf at an index, by the hashes beside its way up. Raises: NotProven."""
    if size == 1:
        if path:
            raise NotProven("the proof has too many hashes")
        return leaf
    if not path:
        raise NotProven("the proof has too few hashes")
    half = half_of(size)
    if index < half:
        return node(root_with(leaf, index, half, path[:-1]), path[-1])
    return node(path[-1], root_with(leaf, index - half, size - half, path[:-1]))


def roots_of(
    old: int, size: int, old_root: bytes, path: list[bytes], *, is_whole: bool
) -> tuple[bytes, bytes]:
    """Return the roots of an older tree and of the tree that continues it, by a proof. Raises: NotProven."""
    if old == size:
        known = [old_root] if is_whole else path
        if len(known) != 1 or (is_whole and path):
            raise NotProven("the proof has not the right number of hashes")
        return known[0], known[0]
    if not path:
        raise NotProven("the proof has too few hashes")
    half = half_of(size)
    if old <= half:
        before, after = roots_of(old, half, old_root, path[:-1], is_whole=is_whole)
        return before, node(after, path[-1])
    before, after = roots_of(old - half, size - half, old_root, path[:-1], is_whole=False)
    return node(path[-1], before), node(path[-1], after)


def check_record(proof: str, record: bytes, log: str, key: bytes) -> str:
    """Return a sentence that says what is proven. Raises: NotProven."""
    head, _, note = proof.partition("\n\n")
    version, _, below = head.partition("\n")
    place, *hashes = below.split("\n")
    if version != "c2sp.org/tlog-proof@v1" or not place.startswith("index "):
        raise NotProven("the first file is no tlog-proof of version 1 without extra data")
    index, path, tree = number(place[6:]), [digest(each) for each in hashes], signed_tree(note, log, key)
    record_id = hashlib.sha256(record).digest()
    if index >= tree.size:
        raise NotProven(f"a tree of {tree.size} records has no record {index}")
    if root_with(hashlib.sha256(b"\0" + record_id).digest(), index, tree.size, path) != tree.root:
        raise NotProven(f"the record {record_id.hex()} is not at place {index} of the tree")
    return f"the record {record_id.hex()} is at place {index} of the {tree.size} records of {log}"


def check_continued(old_note: str, proof: str, log: str, key: bytes) -> str:
    """Return a sentence that says what is proven. Raises: NotProven."""
    head, _, note = proof.partition("\n\n")
    place, *hashes = head.split("\n")
    old, tree = signed_tree(old_note, log, key), signed_tree(note, log, key)
    if not place.startswith("old ") or number(place[4:]) != old.size or not 1 <= old.size <= tree.size:
        raise NotProven(f"the second file is no proof from a tree of {old.size} records")
    path = [digest(each) for each in hashes]
    if roots_of(old.size, tree.size, old.root, path, is_whole=True) != (old.root, tree.root):
        raise NotProven("the newer tree does not continue the older one: records were changed or removed")
    return f"the {tree.size} records of {log} begin with the {old.size} of the older note"


def half_of(size: int) -> int:
    """Return the greatest power of two below a size."""
    return 1 << ((size - 1).bit_length() - 1)


def node(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node."""
    return hashlib.sha256(b"\1" + left + right).digest()


def number(text: str) -> int:
    """Return a number. Raises: NotProven."""
    if NUMBER.fullmatch(text) is None:
        raise NotProven(f"{text[:40]!r} is no number below 10^19")
    return int(text)


def digest(text: str) -> bytes:
    """Return a hash of 32 bytes. Raises: NotProven."""
    found = decoded(text)
    if len(found) != 32:
        raise NotProven("a hash has not 32 bytes")
    return found


def decoded(text: str) -> bytes:
    """Return the bytes of base64 in its one spelling. Raises: NotProven."""
    try:
        found = base64.b64decode(text.encode(), validate=True)
    except ValueError:
        raise NotProven("a hash or a signature is not in base64") from None
    if base64.b64encode(found).decode() != text:
        raise NotProven("a hash or a signature is not in base64")
    return found


def read(name: str) -> bytes:
    """Return the bytes of a file. Raises: NotProven."""
    try:
        with Path(name).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise NotProven(f"{name} cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise NotProven(f"{name} is larger than {MAX_BYTES >> 20} MiB")
    return content


def text_of(name: str) -> str:
    """Return the text of a file in UTF-8. Raises: NotProven."""
    try:
        return read(name).decode()
    except UnicodeDecodeError:
        raise NotProven(f"{name} is no text in UTF-8") from None


def main(argv: list[str] | None = None) -> int:
    """Check what the command line names; print one sentence and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    what = parser.add_subparsers(dest="what", required=True)
    for name, files in (
        ("record", ("proof", "record")),
        ("continued", ("old", "proof")),
        ("note", ("note",)),
    ):
        asked = what.add_parser(name)
        for each in files:
            asked.add_argument(each)
        asked.add_argument("--log", required=True, help="name of the log: ORIGIN/NAMESPACE")
        asked.add_argument("--key", required=True, help="public key of the log: 32 bytes in hex")
    given = parser.parse_args(argv)
    try:
        key = bytes.fromhex(given.key)
    except ValueError:
        key = b""
    if len(key) != 32:
        parser.error("--key is not 32 bytes in hex")
    try:
        if given.what == "record":
            proven = check_record(text_of(given.proof), read(given.record), given.log, key)
        elif given.what == "continued":
            proven = check_continued(text_of(given.old), text_of(given.proof), given.log, key)
        else:
            tree = signed_tree(text_of(given.note), given.log, key)
            proven = f"the key signed the tree of {tree.size} records of {given.log}"
    except NotProven as error:
        print(f"not proven: {error}")
        return 1
    print(f"proven: {proven}")
    return 0


def run() -> NoReturn:
    """Run as a program."""
    sys.exit(main())


if __name__ == "__main__":
    run()
