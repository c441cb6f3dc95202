"""Signed notes that state a tree: C2SP `signed-note` and `tlog-checkpoint`, and the proofs that go with them.

A note says that the log with this name had so many leaves with this root. The name is `<origin>/<namespace>`. Files
of proofs are those of C2SP `tlog-proof` (a record is in the tree) and `tlog-witness` (a tree continues another one).
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from strandline.core.ed25519 import Ed25519Key, verify_ed25519
from strandline.core.merkle import HASH_BYTES

MAX_NOTE_BYTES: Final = 64 * 1024
MAX_SIZE: Final = 2**63 - 1
ALGORITHM: Final = b"\x01"
"""Ed25519 in key ids and verifier keys of signed notes."""
KEY_ID_BYTES: Final = 4
ORIGIN_FORM: Final = r"[A-Za-z0-9][A-Za-z0-9._~/-]{0,252}"
"""An origin, which should begin with a domain of its operator: it has no blank and no `+`."""

_SIGNATURE: Final = re.compile(r"— (\S+) ([A-Za-z0-9+/]+={0,2})")
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,18}")


class NoteRefused(ValueError):  # noqa: N818 - what a reader of a note learns
    """A text is no note that states a tree and that the key signed. The message says why."""


@dataclass(frozen=True, slots=True)
class TreeHead:
    """What a note states: the name of the log, the number of leaves, and the root over them."""

    name: str
    size: int
    root: bytes


def log_name(origin: str, namespace: str) -> str:
    """Return the name of the log of a namespace, which is the name of its key, too.

    A name has neither blanks nor `+`. Namespaces of dialects of this package have none; of others they are encoded.
    """
    return f"{origin}/{quote(namespace, safe=':%')}"


def is_origin(text: str) -> bool:
    """Return whether a text can be an origin."""
    return re.fullmatch(ORIGIN_FORM, text) is not None


def key_id(name: str, key: bytes) -> bytes:
    """Return the 4 bytes by which a signature line names its key."""
    return hashlib.sha256(name.encode() + b"\n" + ALGORITHM + key).digest()[:KEY_ID_BYTES]


def verifier_key(name: str, key: bytes) -> str:
    """Return the key of a log as readers of signed notes take it: `<name>+<key id>+<base64>`."""
    return f"{name}+{key_id(name, key).hex()}+{_base64(ALGORITHM + key)}"


def sign(head: TreeHead, key: Ed25519Key) -> str:
    """Return the note of a tree, signed."""
    body = _body(head)
    signature = key_id(head.name, key.public) + key.sign(body.encode())
    return f"{body}\n— {head.name} {_base64(signature)}\n"


def open_note(note: str, name: str, key: bytes) -> TreeHead:
    """Return what a note states, after these checks:

    - it has at most 64 KiB; its text is the three lines of a tree, spelled in the one way that `sign` writes;
    - it states the log with this name;
    - a line has the name and id of the key, and all such lines verify; those of other keys are passed over.

    Raises: NoteRefused.
    """
    if len(note.encode("utf-8", "surrogatepass")) > MAX_NOTE_BYTES:
        raise NoteRefused(f"it has more than {MAX_NOTE_BYTES >> 10} KiB")
    body, blank, signatures = note.partition("\n\n")
    lines = body.split("\n")
    if not blank or len(lines) != 3:
        raise NoteRefused("it has not the three lines of a tree, then an empty line")
    found, size, root = lines
    head = TreeHead(found, _size(size), _root(root))
    if found != name:
        raise NoteRefused(f"it is of the log {found!r}, not of {name!r}")
    ours = [
        signature[KEY_ID_BYTES:]
        for signer, signature in _signatures(signatures)
        if signer == name and signature[:KEY_ID_BYTES] == key_id(name, key)
    ]
    if not ours:
        raise NoteRefused("this key did not sign it")
    if not all(verify_ed25519(key, _body(head).encode(), each) for each in ours):
        raise NoteRefused("its signature by this key is wrong")
    return head


def inclusion_file(index: int, path: Sequence[bytes], note: str) -> str:
    """Return the proof that a leaf is in the tree of a note: a file `.tlog-proof` of C2SP."""
    return "\n".join(["c2sp.org/tlog-proof@v1", f"index {index}", *map(_base64, path), "", note])


def consistency_file(old: int, path: Sequence[bytes], note: str) -> str:
    """Return the proof that the tree of a note continues one of `old` leaves: a request to a witness of C2SP."""
    return "\n".join([f"old {old}", *map(_base64, path), "", note])


def from_base64(text: str) -> bytes | None:
    """Return the bytes of padded base64, or None if the text is not their one spelling."""
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return found if _base64(found) == text else None


def _signatures(lines: str) -> list[tuple[str, bytes]]:
    """Return the name and the bytes of each line of signature. Raises: NoteRefused."""
    if not lines.endswith("\n"):
        raise NoteRefused("its last line does not end with a line feed")
    found = []
    for line in lines[:-1].split("\n"):
        matched = _SIGNATURE.fullmatch(line)
        if matched is None:
            raise NoteRefused("a line after the empty one is no signature")
        signature = from_base64(matched[2])
        if signature is None:
            raise NoteRefused("a signature is not in base64")
        found.append((matched[1], signature))
    return found


def _body(head: TreeHead) -> str:
    return f"{head.name}\n{head.size}\n{_base64(head.root)}\n"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _size(text: str) -> int:
    if _SIZE.fullmatch(text) is None or int(text) > MAX_SIZE:
        raise NoteRefused("its number of leaves is no number below 2^63")
    return int(text)


def _root(text: str) -> bytes:
    found = from_base64(text)
    if found is None or len(found) != HASH_BYTES:
        raise NoteRefused(f"its root is not {HASH_BYTES} bytes in base64")
    return found
