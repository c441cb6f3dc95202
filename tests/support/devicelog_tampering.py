"""What a third party, or a member, may do to entries and messages, each with the reasons that it must give."""

import base64
import json
from dataclasses import replace
from hashlib import sha256

from strandline.core.ed25519 import ORDER, Ed25519Key
from strandline.dialects.devicelog.codec import (
    author_name,
    message_name,
    signature_name,
    ssb_id,
    ssb_text,
    write_entry,
)
from strandline.dialects.devicelog.types import KeyStatement, RemoveStatement
from support.devicelog_cases import (
    PC,
    PHONE,
    TABLET,
    Log,
    compact,
    entry,
    example,
    feed,
    signed,
    ssb_value,
)

STRANGER = Ed25519Key(b"\x04" * 32)
WEAK_KEYS = (bytes(32), b"\x01" + bytes(31), b"\xec" + b"\xff" * 30 + b"\x7f", b"\xee" + b"\xff" * 31)
"""Points of order 4, 1 and 2, and an encoding that is not canonical."""


def of_phone(kind="msg", statement=b"x", prev="phone 5", **changed):
    """An entry that the phone signed and that may follow `prev`."""
    made = example()
    return entry(PHONE, kind, statement, group=made["phone 0"].group, prev=made[prev], **changed)


def plus_order(sig):
    """A second signature of the same message: S + L in place of S."""
    return sig[:32] + (int.from_bytes(sig[32:], "little") + ORDER).to_bytes(32, "little")


def with_log(key):
    """An entry under a key that nobody needs to sign for."""
    made = of_phone(log=key)
    return replace(made, sig=b"\x01" + bytes(63))


SIGNATURES = {
    "signed by another key": (lambda: replace(of_phone(), sig=PC.sign(of_phone().record_id)), "SIGNATURE_INVALID"),
    "S + L": (lambda: replace(of_phone(), sig=plus_order(of_phone().sig)), "SIGNATURE_INVALID"),
    "altered with a new id": (
        lambda: replace(of_phone(statement=b"y"), sig=of_phone().sig), "SIGNATURE_INVALID",
    ),
    **{f"weak key {number}": (lambda key=key: with_log(key), "KEY_WEAK") for number, key in enumerate(WEAK_KEYS)},
}  # fmt: skip
"""By name: an entry whose form and id are right, and its reason."""


def in_another_log():
    made = example()
    return entry(PHONE, "msg", b"x", group=made["phone 0"].group, prev=made["pc 3"])


def without_grant(key, grant):
    return entry(key, "key", KeyStatement("x"), group=grant.group, deps=[grant])


def spelled_in_labels():
    """A group whose labels spell logs, which start on the entries with these labels: only the last one is named."""
    founder, member, named = (Log(name) for name in (b"founder", b"member", b"named"))
    founder.found(named.key.public.hex(), (member.key.public, named.key.public))
    member.join(founder.entries[0], TABLET.public.hex())
    named.join(founder.entries[0])
    other = Log(b"other")
    other.found(STRANGER.public.hex())
    refused = [without_grant(TABLET, member.entries[0]), without_grant(STRANGER, other.entries[0])]
    return [*founder.entries, *member.entries, *named.entries, *other.entries], refused


def removal(log, last, **changed):
    return of_phone("remove-log", RemoveStatement(log, *last), deps=[example()["pc 3"]], **changed)


FOLLOWING = {
    "prev of another log": (in_another_log, ("PREV_OTHER_LOG",)),
    "a place skipped": (lambda: of_phone(seq=7), ("SEQ_GAP",)),
    "a place taken again": (lambda: of_phone(seq=5), ("SEQ_GAP",)),
    "a clock 10^9 ahead": (lambda: of_phone(lamport=10**9), ("LAMPORT_MISMATCH",)),
    "a clock one too low": (lambda: of_phone(lamport=4), ("LAMPORT_MISMATCH",)),
    "a clock of the log alone": (lambda: of_phone("ack", lamport=5, statement=None, deps=[example()["pc 4"]]),
                                 ("LAMPORT_MISMATCH",)),
    "place and clock": (lambda: of_phone(seq=9, lamport=9), ("LAMPORT_MISMATCH", "SEQ_GAP")),
    "a log that nobody admitted": (lambda: without_grant(STRANGER, example()["phone 0"]), ("NOT_GRANTED",)),
    "a message as grant": (lambda: without_grant(PC, example()["phone 1"]), ("NOT_GRANTED",)),
    "the key entry of another log as grant": (lambda: without_grant(TABLET, example()["pc 0"]), ("NOT_GRANTED",)),
    "the clock of a key entry": (
        lambda: replace_clock(without_grant(PC, example()["phone 0"])), ("LAMPORT_MISMATCH",),
    ),
    "a last entry at another place": (lambda: removal(PC.public, (2, example()["pc 3"].record_id)),
                                      ("LAST_MISMATCH",)),
    "a last entry of another log": (lambda: removal(TABLET.public, (3, example()["pc 3"].record_id)),
                                    ("LAST_MISMATCH",)),
}  # fmt: skip
"""By name: an entry beside those of the example, and its reasons."""


def replace_clock(made):
    return entry(PC, "key", made.statement, group=made.group, deps=[example()["phone 0"]], lamport=5)


ABSENT = b"\xab" * 32


def naming(prev=None, deps=()):
    """An entry of the phone that names any ids."""
    before = example()["phone 5"]
    return of_phone(prev="phone 5", lamport=9, prev_id=prev or before.record_id, dep_ids=tuple(deps))


WAITING = {
    "before its log": (lambda: naming(ABSENT), ("PREV_MISSING",)),
    "before another log": (lambda: naming(deps=[ABSENT]), ("DEP_MISSING",)),
    "before both": (lambda: naming(ABSENT, [ABSENT]), ("DEP_MISSING", "PREV_MISSING")),
    "before the last of a removed log": (lambda: removal(PC.public, (9, ABSENT)), ("LAST_MISSING",)),
}
"""By name: an entry beside those of the example that names one which is not there, and the reasons why it waits."""


def first(**changed):
    """Message 1 of the vectors with other members, signed again; a member that is `...` is left out."""
    value = {name: each for name, each in (feed()[0] | changed).items() if each is not ...}
    return signed(TABLET, value) if list(value)[-1] == "signature" else value


def sized(units):
    """A message of so many UTF-16 units."""
    around = len(ssb_text(first(content={"type": "post", "text": ""})))
    return first(content={"type": "post", "text": "x" * (units - around)})


def typed(text):
    return first(content={"type": text})


def moved(name):
    """Message 1 with a member moved to the end."""
    value = dict(feed()[0])
    return value | {name: value.pop(name)}


def sig_of(value):
    """The signature of a message, 64 bytes."""
    return base64.b64decode(value["signature"].removesuffix(".sig.ed25519"))


AUTHOR = author_name(TABLET.public)
BAD_SIGNATURES = ("", "AAAA.sig.ed25519", signature_name(bytes(64))[:-1], signature_name(bytes(63)))
SSB = {
    "a number": (5, ("SSB_NOT_OBJECT",)),
    "an array": ([1], ("SSB_NOT_OBJECT",)),
    "an extra member": (first() | {"extra": 1}, ("SSB_FIELD_ORDER",)),
    "an extra index": ({"0": 1} | first(), ("SSB_FIELD_ORDER",)),
    "a member left out": (first(hash=...), ("SSB_FIELD_ORDER",)),
    "a moved member": (moved("content"), ("SSB_FIELD_ORDER",)),
    "a previous of the first": (first(previous=message_name(bytes(32))), ("SSB_PREVIOUS",)),
    "no previous of the second": (first(sequence=2), ("SSB_PREVIOUS",)),
    "another name as previous": (first(sequence=2, previous=AUTHOR), ("SSB_PREVIOUS",)),
    "a short previous": (first(sequence=2, previous=message_name(bytes(31))), ("SSB_PREVIOUS",)),
    "author of other padding": (first(author=AUTHOR.replace("=.", "==.")), ("SSB_AUTHOR",)),
    "author with stray bits": (first(author=AUTHOR.replace("E=.", "F=.")), ("SSB_AUTHOR",)),
    "no author": (first(author=None), ("SSB_AUTHOR",)),
    "sequence 0": (first(sequence=0), ("SSB_PREVIOUS", "SSB_SEQUENCE")),
    "sequence 1.5": (first(sequence=1.5), ("SSB_PREVIOUS", "SSB_SEQUENCE")),
    "sequence 2^31": (first(sequence=2**31, previous=message_name(bytes(32))), ("SSB_SEQUENCE",)),
    "sequence true": (first(sequence=True), ("SSB_PREVIOUS", "SSB_SEQUENCE")),
    "timestamp a text": (first(timestamp="1"), ("SSB_TIMESTAMP",)),
    "timestamp null": (first(timestamp=None), ("SSB_TIMESTAMP",)),
    "another hash": (first(hash="sha512"), ("SSB_HASH",)),
    "content an array": (first(content=[]), ("SSB_CONTENT",)),
    "content null": (first(content=None), ("SSB_CONTENT",)),
    "no type": (first(content={}), ("SSB_TYPE",)),
    "type of 2 units": (typed("ab"), ("SSB_TYPE",)),
    "type of 53 units": (typed("x" * 53), ("SSB_TYPE",)),
    "type of 27 pairs": (typed("\U0001f600" * 27), ("SSB_TYPE",)),
    "type a number": (typed(3), ("SSB_TYPE",)),
    "content hello": (first(content="hello"), ("SSB_BOX",)),
    "content of other padding": (first(content="aab.box"), ("SSB_BOX",)),
    "content with a line end": (first(content="AAAA.box\n"), ("SSB_BOX",)),
    "content with a line separator": (first(content="AAAA.box\u2028"), ("SSB_BOX",)),
    **{
        f"signature {text!r:.20}": (feed()[0] | {"signature": text}, ("SSB_SIGNATURE_FORM",))
        for text in BAD_SIGNATURES
    },
    "one unit too large": (sized(8193), ("SSB_TOO_LARGE",)),
    "too large": (first(content={"type": "post", "text": "€" * 8200}), ("SSB_TOO_LARGE",)),
    "another text": (
        feed()[0] | {"content": {"type": "post", "text": "Land"}}, ("SIGNATURE_INVALID",),
    ),
    "S + L": (feed()[0] | {"signature": signature_name(plus_order(sig_of(feed()[0])))}, ("SIGNATURE_INVALID",)),
    "a weak author": (feed()[0] | {"author": author_name(bytes(32))}, ("KEY_WEAK",)),
    "several at once": (
        first(author=None, hash=None, content=[]), ("SSB_AUTHOR", "SSB_CONTENT", "SSB_HASH"),
    ),
}  # fmt: skip
"""By name: the value of a message, and its reasons."""


def keyed(key, value):
    """A message beside its key."""
    return {"key": key, "value": value}


SSB_KEYS = {
    "the key of another": (keyed(message_name(bytes(32)), feed()[0]), ("SSB_KEY_MISMATCH",)),
    "a key that is no text": (keyed(None, feed()[0]), ("SSB_KEY_MISMATCH",)),
    "the hash of its UTF-8": (
        keyed(message_name(sha256(ssb_text(feed()[0]).encode()).digest()), feed()[0]), ("SSB_KEY_MISMATCH",),
    ),
    "a value that is none": (keyed(message_name(bytes(32)), None), ("SSB_NOT_OBJECT",)),
}  # fmt: skip
GOOD_SSB = {
    "type of 3 units": typed("abc"),
    "type of 52 units": typed("x" * 52),
    "author after the sequence": ssb_value(TABLET, None, 1, 1, {"type": "post"}, author_first=False),
    "an empty box": first(content=".box"),
    "a box with a recipient": first(content="AAAA.box2 x"),
    "negative time": first(timestamp=-1.5),
    "a name of an object": first(content={"type": "post", "__proto__": 1}),
    "the largest": sized(8192),
}
"""Messages that are valid although they look odd."""


def tampered():
    """Every artefact as a line, with its reasons."""
    entries = {**SIGNATURES, **FOLLOWING, **WAITING}
    made = [
        (write_entry(make()), reasons if isinstance(reasons, tuple) else (reasons,))
        for make, reasons in entries.values()
    ]
    made += [
        (compact(value if isinstance(value, dict) and "value" in value else {"value": value}), reasons)
        for value, reasons in (*SSB.values(), *SSB_KEYS.values())
    ]
    return made


def name_of(value):
    """The id of a message, as Scuttlebutt spells it."""
    return message_name(ssb_id(ssb_text(value)))


def respelled(line):
    """The same JSON with its members in another order and with blanks."""
    return json.dumps(dict(reversed(json.loads(line).items())), indent=None).encode()
