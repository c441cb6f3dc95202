"""Device logs and Scuttlebutt feeds made in plain Python: the entries of the vectors, and any others."""

import hashlib
from functools import cache

from strandline.core.ed25519 import Ed25519Key
from strandline.core.encoding.js_json import stringified
from strandline.dialects.devicelog.codec import (
    author_name,
    entry_id,
    message_name,
    read_value,
    signature_name,
    signed_bytes,
    ssb_id,
    ssb_text,
    write_body,
    write_entry,
)
from strandline.dialects.devicelog.types import (
    AddStatement,
    Entry,
    KeyStatement,
    RemoveStatement,
    ScrewStatement,
)

PHONE, PC, TABLET = (Ed25519Key(bytes([number]) * 32) for number in (1, 2, 3))
HOUR = 3_600_000
PHONE_SCREW = (
    (3, "c5b379fefe37cecd533724b968fa31e2bcc540a80f6ef0deedf86a7f1e2ccc10"),
    (5, "3cd982e6d552da67c975895b597dc80e03d07cc6e0efd78586504f216a1cc4e4"),
    (8, "c00b006de697ce70c427c018c1dfa28f7c27bc4c290dbb85b400a5f57ae99434"),
)
PC_SCREW = (
    PHONE_SCREW[0],
    (6, "70489bd8480b05ccd7d3dc77d72976f12ba9f55c5fc8dbdcefd064c0d3d46c45"),
    PHONE_SCREW[2],
)


def entry(
    key, kind, statement=None, *, group=None, prev=None, deps=(), utc=0, prev_id=None, dep_ids=None, **changed
):
    """A signed entry of a log after `prev`; any member can be changed before it is hashed and signed."""
    body = statement if isinstance(statement, bytes) else b"" if statement is None else write_body(statement)
    before = [each.lamport for each in (*deps, *([] if prev is None else [prev]))]
    fields = {
        "log": key.public, "seq": 0 if prev is None else prev.seq + 1, "kind": kind,
        "lamport": 1 + max(before) if before else -1, "utc": utc, "prev": None if prev is None else prev.record_id,
        "deps": tuple(sorted(each.record_id for each in deps)),
    } | changed  # fmt: skip
    fields["prev"], fields["deps"] = prev_id or fields["prev"], dep_ids or fields["deps"]
    size, digest = len(body), hashlib.sha256(body).digest()
    record_id = entry_id(group=group, body_size=size, body_hash=digest, **fields)
    return Entry(
        record_id=record_id, profile="native", group=group or record_id, body=body, body_size=size, body_hash=digest,
        sig=key.sign(record_id), statement=None if isinstance(statement, bytes) else statement, **fields,
    )  # fmt: skip


class Log:
    """One device that writes, whether it may or not. `entries` are its own."""

    def __init__(self, seed):
        self.key = seed if isinstance(seed, Ed25519Key) else Ed25519Key(hashlib.sha256(seed).digest())
        self.entries = []
        self.group = None

    def found(self, label="", initial=(), utc=0):
        first = entry(self.key, "key", KeyStatement(label, tuple(initial)), utc=utc)
        self.group = first.record_id
        self.entries.append(first)
        return first

    def join(self, grant, label="", utc=0):
        self.group = grant.group
        self.entries.append(
            entry(self.key, "key", KeyStatement(label), group=self.group, deps=[grant], utc=utc)
        )
        return self.entries[-1]

    def write(self, kind, statement=None, deps=(), utc=0, **changed):
        given = {"group": self.group, "prev": self.entries[-1], "deps": deps, "utc": utc}
        self.entries.append(entry(self.key, kind, statement, **(given | changed)))
        return self.entries[-1]

    def say(self, text, deps=(), utc=0, **changed):
        return self.write("msg", text.encode(), deps, utc, **changed)

    def add(self, log, **more):
        return self.write("add-log", AddStatement(log), **more)

    def remove(self, log, last, **more):
        last_seq, last_id = (-1, None) if last is None else (last.seq, last.record_id)
        return self.write("remove-log", RemoveStatement(log, last_seq, last_id), **more)


def _screw(numbers, heads):
    flat = [each for number, digest in numbers for each in (number, bytes.fromhex(digest))]
    return ScrewStatement(*flat, tuple(heads))


@cache
def example():
    """The published example: phone 0 to 6 and pc 0 to 4, by name."""
    phone, pc = Log(PHONE), Log(PC)
    phone.found("phone", (PC.public,))
    for number, hour in enumerate((6, 7, 10)):
        phone.say(f"Message {number}", utc=hour * HOUR)
    pc.join(phone.entries[0], "pc", 10 * HOUR + 60_000)
    phone.say("Message 3 (phone)", utc=11 * HOUR)
    phone.say("Message 4 (phone)", utc=int(18.5 * HOUR))
    pc.say("Message 5 (pc)", [phone.entries[3]], 18 * HOUR)
    pc.say("Message 6 (pc)", utc=19 * HOUR)
    pc.say("Message 7 (pc)", utc=20 * HOUR)
    heads = phone.entries[-1], pc.entries[-1]
    phone.write("screw", _screw(PHONE_SCREW, [heads[0].record_id]), [heads[1]], 21 * HOUR)
    pc.write("screw", _screw(PC_SCREW, [heads[1].record_id]), [heads[0]], 21 * HOUR)
    names = {f"phone {number}": each for number, each in enumerate(phone.entries)}
    return names | {f"pc {number}": each for number, each in enumerate(pc.entries)}


@cache
def edited():
    """The second phone 5 of the vectors: a fork."""
    made = example()
    return entry(
        PHONE, "msg", b"Message 4 (edited)", group=made["phone 0"].group, prev=made["phone 4"],
        utc=int(18.5 * HOUR),
    )  # fmt: skip


def ssb_value(key, previous, sequence, timestamp, content, *, author_first=True, hmac_key=None):
    """The value of a signed message; `previous` is the value before it or None."""
    named = None if previous is None else message_name(ssb_id(ssb_text(previous)))
    author = {"author": author_name(key.public)}
    number = {"sequence": sequence}
    value = {"previous": named, **(author | number if author_first else number | author)}
    value |= {"timestamp": timestamp, "hash": "sha256", "content": content}
    return signed(key, value, hmac_key)


def signed(key, value, hmac_key=None):
    """A value with its signature, whatever it says."""
    text = ssb_text(value | {"signature": ""})
    return value | {"signature": signature_name(key.sign(signed_bytes(text, hmac_key)))}


@cache
def feed():
    """The three messages of the vectors, as values."""
    first = ssb_value(TABLET, None, 1, 1, {"type": "post", "text": "Sea ☃ 😀 \u0007"})
    content = read_value(b'{"type":"test","b":0.1,"10":1e21,"2":1e-7,"a":[null,true,{},[]],"n":-0}')
    second = ssb_value(TABLET, first, 2, 1441065600123.5, content, author_first=False)
    third = ssb_value(TABLET, second, 3, 3, "AAAA.box")
    return first, second, third


def compact(value):
    """A value as a line."""
    return stringified(value).encode()


def lines(*made):
    """Entries and values of messages as a file of lines."""
    return b"".join(
        (write_entry(each) if isinstance(each, Entry) else compact(each)) + b"\n" for each in made
    )
