"""Named mutations of one valid entry of each variant, each with what both profiles must say of it."""

import json

from cbor2 import dumps

from strandline.core.encoding.base_n import base32, base58
from strandline.core.signatures import SECP256K1_N, der_of
from strandline.dialects.ipfslog.codec import (
    cid_text,
    dag_cbor,
    go_escaped,
    identity_value,
    link,
    parse_cid,
    parse_dag_cbor,
    signed_cbor,
    signed_json,
)
from support.ipfslog_cases import entry, who

PARENT = entry("parent")
MADE = {
    "v1": entry({"n": 1}, "v1"),
    "v2": entry({"n": 1}, "v2", parents=[PARENT.cid], time=2),
    "core2": entry({"n": 1}, "core2", parents=[entry("parent", "core2").cid], time=2),
}
ACCEPTED = ("accepted", ())


def flagged(*flags):
    return ("accepted", flags)


def rejected(*reasons):
    return ("rejected", reasons)


def fields(variant):
    return parse_dag_cbor(MADE[variant].block).value


def changed(variant, **members):
    """The block with members in place of its own, or without those that are `...`; the signature stays."""
    found = fields(variant) | members
    return dag_cbor({name: member for name, member in found.items() if member is not ...})


def signed(variant, name="alice", signer=None, escape=str, **members):
    """The block with members in place of its own, signed anew by `signer`: a liar, not an accident."""
    found = fields(variant) | members
    key = who(signer or name, variant).signing_key
    if variant == "core2":
        der = key.sign(signed_cbor(dag_cbor(found), found))
    else:
        texts = [[cid_text(each.value[1:]) for each in found.get(links, [])] for links in ("next", "refs")]
        der = key.sign(escape(signed_json(found, *texts, plain=False)).encode())
    return dag_cbor(found | {"sig": der.hex()})


def sig_as(variant, spell):
    """The block with the same r and s in another spelling."""
    der = bytes.fromhex(MADE[variant].sig)
    r = int.from_bytes(der[4 : 4 + der[3]], "big")
    s = int.from_bytes(der[6 + der[3] :], "big")
    return changed(variant, sig=spell(r, s, MADE[variant].sig))


def unpadded(r, s, _):
    parts = [number.to_bytes(32, "big").lstrip(b"\x00") for number in (r, s)]
    body = b"".join(b"\x02" + bytes([len(part)]) + part for part in parts)
    return (b"\x30" + bytes([len(body)]) + body).hex()


def high_r():
    """An entry of v2 whose r has its high bit, so that unpadded DER differs."""
    for number in range(40):
        made = entry({"try": number})
        if made.sig.startswith(("30450221", "30460221")):
            return made
    raise AssertionError("no signature of forty has a padded r")


UNPADDED = high_r()
ALICE, BOB = who("alice"), who("bob")
LOOSE, MALFORMED = flagged("SIGNATURE_FORM"), rejected("SIGNATURE_MALFORMED")
INVALID = rejected("SIGNATURE_INVALID")


def both(verdict):
    return (verdict, verdict)


def clock(variant, time, **more):
    return {"id": MADE[variant].key, "time": time, **more}


def identity(variant="v2", **members):
    return identity_value(who("alice", variant).record) | members


# name: (variant, block, (strict, compat))
BLOCKS = {
    "nothing altered": ("v1 v2 core2", lambda v: MADE[v].block, both(ACCEPTED)),
    "payload altered": ("v1 v2 core2", lambda v: changed(v, payload={"n": 2}), both(INVALID)),
    "log id altered": ("v1 v2 core2", lambda v: changed(v, id="other"), both(INVALID)),
    "time altered": ("v1 v2 core2", lambda v: changed(v, clock=clock(v, 9)), both(INVALID)),
    "links removed": ("v2 core2", lambda v: changed(v, next=[]), both(INVALID)),
    "v 1 for 2, without refs": ("v2", lambda v: changed(v, v=1, refs=...), both(INVALID)),
    "clock id of bob": (
        "v1 v2 core2",
        lambda v: signed(v, clock={"id": who("bob", v).public_key, "time": 2}),
        (rejected("CLOCK_ID_MISMATCH"), flagged("CLOCK_ID_MISMATCH")),
    ),
    "bob signs with alice's identity": (
        "v1 v2 core2",
        lambda v: signed(
            v, "bob", key=who("bob", v).public_key, clock={"id": who("bob", v).public_key, "time": 2}
        ),
        both(rejected("KEY_IDENTITY_MISMATCH")),
    ),
    "bob signs as alice": ("v1 v2 core2", lambda v: signed(v, signer="bob"), both(INVALID)),
    "n - s for s": (
        "v1 v2 core2",
        lambda v: sig_as(v, lambda r, s, _: der_of(r, SECP256K1_N - s).hex()),
        both(INVALID),
    ),
    "r and s as 64 bytes": (
        "v1 v2",
        lambda v: sig_as(v, lambda r, s, _: f"{r:064x}{s:064x}"),
        (MALFORMED, LOOSE),
    ),
    "r and s as 64 bytes, core": (
        "core2",
        lambda v: sig_as(v, lambda r, s, _: f"{r:064x}{s:064x}"),
        both(MALFORMED),
    ),
    "64 bytes with n - s": (
        "v1 v2",
        lambda v: sig_as(v, lambda r, s, _: f"{r:064x}{SECP256K1_N - s:064x}"),
        (MALFORMED, INVALID),
    ),
    "signature in upper case": ("v1 v2", lambda v: changed(v, sig=MADE[v].sig.upper()), (MALFORMED, LOOSE)),
    "signature in upper case, core": (
        "core2",
        lambda v: changed(v, sig=MADE[v].sig.upper()),
        both(MALFORMED),
    ),
    "junk after the signature": ("v1 v2", lambda v: changed(v, sig=MADE[v].sig + "zz"), (MALFORMED, LOOSE)),
    "half a byte after the signature": (
        "v1 v2",
        lambda v: changed(v, sig=MADE[v].sig + "0"),
        (MALFORMED, LOOSE),
    ),
    "junk after the signature, core": (
        "core2",
        lambda v: changed(v, sig=MADE[v].sig + "zz"),
        both(MALFORMED),
    ),
    "a byte after the signature": (
        "v1 v2 core2",
        lambda v: changed(v, sig=MADE[v].sig + "00"),
        both(MALFORMED),
    ),
    "signature cut": ("v1 v2 core2", lambda v: changed(v, sig=MADE[v].sig[:-2]), both(MALFORMED)),
    "empty signature": ("v1 v2 core2", lambda v: changed(v, sig=""), both(MALFORMED)),
    "64 bytes of zero": (
        "v1 v2",
        lambda v: changed(v, sig="00" * 64),
        (MALFORMED, rejected("SIGNATURE_INVALID")),
    ),
    "identity of type ethereum": (
        "v1 v2",
        lambda v: changed(v, identity=identity(type="ethereum")),
        both(rejected("IDENTITY_TYPE_UNSUPPORTED")),
    ),
    "identity of type publickey": (
        "v1 v2",
        lambda v: changed(v, identity=identity(type="publickey")),
        both(rejected("IDENTITY_TYPE_UNSUPPORTED")),
    ),
    "identity with bob's id": (
        "v1 v2",
        lambda v: changed(v, identity=identity(id=BOB.id)),
        both(rejected("IDENTITY_INVALID")),
    ),
    "identity whose id is in upper case": (
        "v1 v2",
        lambda v: changed(v, identity=identity(id=ALICE.id.upper())),
        both(rejected("IDENTITY_INVALID")),
    ),
    "identity with bob's signing key": (
        "v1 v2",
        lambda v: changed(v, identity=identity(publicKey=BOB.public_key)),
        both(rejected("IDENTITY_INVALID", "KEY_IDENTITY_MISMATCH")),
    ),
    "bob's whole identity": (
        "v1 v2",
        lambda v: changed(v, identity=identity_value(BOB.record)),
        both(rejected("KEY_IDENTITY_MISMATCH")),
    ),
    "identity with a member more": (
        "v1 v2",
        lambda v: changed(v, identity=identity(more="")),
        both(rejected("TYPE_INVALID")),
    ),
    "identity with a number": (
        "v1 v2",
        lambda v: changed(v, identity=identity(id=1)),
        both(rejected("TYPE_INVALID")),
    ),
    "identity null": ("v1 v2 core2", lambda v: changed(v, identity=None), both(rejected("VARIANT_UNKNOWN"))),
    "identity absent": ("v1 v2", lambda v: changed(v, identity=...), both(rejected("FIELD_MISSING"))),
    "v1 with an identity by address": (
        "v1",
        lambda v: changed(v, identity=who("alice", "core2").cid),
        both(rejected("VARIANT_UNKNOWN")),
    ),
    "identity address in base32": (
        "core2",
        lambda v: changed(v, identity="b" + b32(who("alice", v).record.digest)),
        both(rejected("CID_NOT_CANONICAL")),
    ),
    "identity address of dag-pb": (
        "core2",
        lambda v: changed(v, identity=base58(b"\x12\x20" + bytes(32))),
        both(rejected("CID_NOT_CANONICAL")),
    ),
    "identity address cut": ("core2", lambda v: changed(v, identity="zdpu"), both(rejected("CID_MALFORMED"))),
    "identity not held": (
        "core2",
        lambda v: changed(v, identity=who("dora", v).cid),
        both(("deferred", ("IDENTITY_MISSING",))),
    ),
    "identity not held, signature bad": (
        "core2",
        lambda v: changed(v, identity=who("dora", v).cid, payload=0),
        both(INVALID),
    ),
    "core names an identity of type orbitdb": (
        "core2",
        lambda v: changed(v, identity=ALICE.cid),
        both(rejected("IDENTITY_TYPE_UNSUPPORTED", "KEY_IDENTITY_MISMATCH")),
    ),
    "clock with a member more": (
        "v1 v2 core2",
        lambda v: changed(v, clock=clock(v, 2, more=1)),
        both(rejected("TYPE_INVALID")),
    ),
    "clock without time": (
        "v1 v2 core2",
        lambda v: changed(v, clock={"id": ""}),
        both(rejected("TYPE_INVALID")),
    ),
    "clock time true": (
        "v1 v2 core2",
        lambda v: changed(v, clock=clock(v, True)),
        both(rejected("TYPE_INVALID")),
    ),
    "clock null": ("v1 v2 core2", lambda v: changed(v, clock=None), both(rejected("TYPE_INVALID"))),
    "clock absent": ("v1 v2 core2", lambda v: changed(v, clock=...), both(rejected("NOT_AN_ENTRY"))),
    "payload absent": ("v1 v2 core2", lambda v: changed(v, payload=...), both(rejected("NOT_AN_ENTRY"))),
    "v absent": ("v1 v2 core2", lambda v: changed(v, v=...), both(rejected("NOT_AN_ENTRY"))),
    "v 3": ("v1 v2 core2", lambda v: changed(v, v=3), both(rejected("VARIANT_UNKNOWN"))),
    "v -1": ("v1 v2 core2", lambda v: changed(v, v=-1), both(rejected("VARIANT_UNKNOWN"))),
    "v 0 in dag-cbor": ("v1 v2 core2", lambda v: changed(v, v=0), both(rejected("VARIANT_UNKNOWN"))),
    "v true": ("v1 v2 core2", lambda v: changed(v, v=True), both(rejected("VARIANT_UNKNOWN"))),
    "v a text": ("v1 v2 core2", lambda v: changed(v, v="2"), both(rejected("VARIANT_UNKNOWN"))),
    "id absent": ("v1 v2 core2", lambda v: changed(v, id=...), both(rejected("FIELD_MISSING"))),
    "key absent, sig a number, a member more": (
        "v1 v2 core2",
        lambda v: changed(v, key=..., sig=1, more=0),
        both(rejected("FIELD_MISSING", "FIELD_UNKNOWN", "TYPE_INVALID")),
    ),
    "a member more": ("v1 v2 core2", lambda v: changed(v, more=0), both(rejected("FIELD_UNKNOWN"))),
    "v1 with refs": ("v1", lambda v: changed(v, refs=[]), both(rejected("FIELD_UNKNOWN"))),
    "v2 without refs": ("v2", lambda v: changed(v, refs=...), both(rejected("FIELD_MISSING"))),
    "core with hash": ("core2", lambda v: changed(v, hash=None), both(rejected("FIELD_UNKNOWN"))),
    "hash a text": ("v1 v2", lambda v: changed(v, hash=MADE[v].cid), both(rejected("TYPE_INVALID"))),
    "hash absent": ("v1 v2", lambda v: changed(v, hash=...), both(rejected("FIELD_MISSING"))),
    "next null": ("v1 v2 core2", lambda v: changed(v, next=None), both(rejected("TYPE_INVALID"))),
    "next of numbers": ("v1 v2 core2", lambda v: changed(v, next=[1]), both(rejected("TYPE_INVALID"))),
    "links as texts": ("v1 v2", lambda v: changed(v, next=[PARENT.cid]), both(rejected("TYPE_INVALID"))),
    "texts as links": (
        "core2",
        lambda v: changed(v, next=[link(parse_cid(PARENT.cid).raw)]),
        both(rejected("TYPE_INVALID")),
    ),
    "link of another codec": (
        "v1 v2",
        lambda v: changed(v, next=[link(b"\x01\x55\x12\x20" + bytes(32))]),
        both(rejected("CID_UNSUPPORTED")),
    ),
    "link of nothing": ("v1 v2", lambda v: changed(v, next=[link(b"")]), both(rejected("CID_MALFORMED"))),
    "link cut": (
        "v1 v2",
        lambda v: changed(v, next=[link(b"\x01\x71\x12\x20" + bytes(31))]),
        both(rejected("CID_UNSUPPORTED")),
    ),
    "two bad links": (
        "v1 v2",
        lambda v: changed(v, next=[link(b"\x02\x71\x12\x20"), link(b"\x01\x71\x13\x20")]),
        both(rejected("CID_MALFORMED", "CID_UNSUPPORTED")),
    ),
    "text of no address": ("core2", lambda v: changed(v, refs=["zdpu!"]), both(rejected("CID_MALFORMED"))),
    "a link twice": (
        "v1 v2",
        lambda v: signed(v, next=[link(parse_cid(PARENT.cid).raw)] * 2),
        both(flagged("DUPLICATE_LINK")),
    ),
    "a link twice in two spellings": (
        "core2",
        lambda v: signed(v, refs=[PARENT.cid, "b" + b32(PARENT.record_id)]),
        both(flagged("DUPLICATE_LINK")),
    ),
    "id empty": ("v1 v2 core2", lambda v: signed(v, id=""), both(rejected("ID_INVALID"))),
    "id of 1,024 bytes": ("v1 v2 core2", lambda v: signed(v, id="é" * 512), both(ACCEPTED)),
    "id of 1,025 bytes": (
        "v1 v2 core2",
        lambda v: signed(v, id="é" * 512 + "x"),
        both(rejected("ID_INVALID")),
    ),
    "member cid": ("v1 v2 core2", lambda v: changed(v, cid=""), both(rejected("VARIANT_UNSUPPORTED"))),
    "member additional_data": (
        "v2",
        lambda v: changed(v, additional_data={}),
        both(rejected("VARIANT_UNSUPPORTED")),
    ),
    "members of encrypted links": (
        "v2",
        lambda v: changed(v, enc_links="", enc_links_nonce=""),
        both(rejected("VARIANT_UNSUPPORTED")),
    ),
    "time 0": ("v1 v2 core2", lambda v: signed(v, clock=clock(v, 0)), both(ACCEPTED)),
    "time -1": (
        "v1 v2 core2",
        lambda v: signed(v, clock=clock(v, -1)),
        (rejected("CLOCK_OUT_OF_RANGE"), flagged("CLOCK_NEGATIVE")),
    ),
    "time -(2^53-1)": (
        "v1 v2 core2",
        lambda v: signed(v, clock=clock(v, 1 - 2**53)),
        (rejected("CLOCK_OUT_OF_RANGE"), flagged("CLOCK_NEGATIVE")),
    ),
    "time -2^53": (
        "v1 v2 core2",
        lambda v: signed(v, clock=clock(v, -(2.0**53))),
        both(rejected("CLOCK_OUT_OF_RANGE")),
    ),
    "time 1.5": (
        "v1 v2 core2",
        lambda v: signed(v, clock=clock(v, 1.5)),
        both(rejected("CLOCK_OUT_OF_RANGE")),
    ),
    "time 2^53 - 2": ("v1 v2 core2", lambda v: signed(v, clock=clock(v, 2**53 - 2)), both(ACCEPTED)),
    "time 2^53 - 1": (
        "v1 v2 core2",
        lambda v: signed(v, clock=clock(v, 2**53 - 1)),
        both(flagged("CLOCK_SATURATED")),
    ),
    "time 2^53": (
        "v1 v2 core2",
        lambda v: signed(v, clock=clock(v, 2.0**53)),
        both(flagged("CLOCK_SATURATED")),
    ),
    "time 2^53 + 2": (
        "v1 v2 core2",
        lambda v: signed(v, clock=clock(v, 2.0**53 + 2)),
        both(rejected("CLOCK_OUT_OF_RANGE")),
    ),
    "time 2^53 as an integer": (
        "v1 v2 core2",
        lambda v: signed(v, clock=clock(v, 2**53)),
        both(rejected("NUMBER_OUT_OF_RANGE")),
    ),
    "payload of 2^53 as an integer": (
        "v1 v2",
        lambda v: signed(v, payload=2**53),
        both(rejected("NUMBER_OUT_OF_RANGE")),
    ),
    "core payload of 2^64-1": ("core2", lambda v: signed(v, payload=[2**64 - 1, -(2**64)]), both(ACCEPTED)),
    "payload null": ("v1 v2 core2", lambda v: signed(v, payload=None), both(ACCEPTED)),
    "payload of 128 levels": ("v1 v2 core2", lambda v: signed(v, payload=nested(128)), both(ACCEPTED)),
    "payload of 129 levels": (
        "v1 v2 core2",
        lambda v: changed(v, payload=nested(129)),
        both(rejected("CBOR_INVALID")),
    ),
    "key 06": (
        "v1 v2",
        lambda v: changed(v, key="06" + MADE[v].key[2:]),
        (
            rejected("CLOCK_ID_MISMATCH", "KEY_IDENTITY_MISMATCH", "KEY_MALFORMED"),
            rejected("KEY_IDENTITY_MISMATCH", "KEY_MALFORMED"),
        ),
    ),
    "key in upper case": (
        "v1 v2",
        lambda v: signed(v, key=MADE[v].key.upper(), clock={"id": MADE[v].key.upper(), "time": 2}),
        (rejected("KEY_IDENTITY_MISMATCH", "KEY_MALFORMED"), flagged("KEY_FORM")),
    ),
    "key with junk after it": (
        "v1 v2",
        lambda v: signed(v, key=MADE[v].key + "zz", clock={"id": MADE[v].key + "zz", "time": 2}),
        (rejected("KEY_IDENTITY_MISMATCH", "KEY_MALFORMED"), flagged("KEY_FORM")),
    ),
    "the key compressed": (
        "v1 v2",
        lambda v: signed(v, key=compressed(), clock={"id": compressed(), "time": 2}),
        (rejected("KEY_IDENTITY_MISMATCH"), flagged("KEY_FORM")),
    ),
    "the key uncompressed, core": (
        "core2",
        lambda v: signed(v, key=ALICE.public_key, clock={"id": ALICE.public_key, "time": 2}),
        both(rejected("KEY_MALFORMED")),
    ),
    "key in upper case, core": (
        "core2",
        lambda v: signed(v, key=MADE[v].key.upper(), clock={"id": MADE[v].key.upper(), "time": 2}),
        both(rejected("KEY_MALFORMED")),
    ),
    "signed as Go spells it": (
        "v1 v2",
        lambda v: signed(v, escape=go_escaped, payload="<&>\u2028"),
        (INVALID, flagged("GO_ESCAPES")),
    ),
    "a member of two signed as Go spells it, core": (
        "core2",
        lambda v: changed(v, payload="<&>\u2028"),
        both(INVALID),
    ),
    "floats rewritten short": (
        "v1 v2",
        lambda v: short(signed(v, payload=[1.5])),
        (rejected("FLOAT_WIDTH"), flagged("FLOAT_SHORT")),
    ),
    "floats rewritten short, core": (
        "core2",
        lambda v: short(signed(v, payload=[1.5])),
        both(rejected("FLOAT_WIDTH", "SIGNATURE_INVALID")),
    ),
    "bytes for the map that prints alike": (
        "v1 v2",
        lambda v: dag_cbor(
            parse_dag_cbor(signed(v, payload={"0": 0, "1": 1})).value | {"payload": b"\x00\x01"}
        ),
        (rejected("PAYLOAD_NOT_JSON"), flagged("PAYLOAD_NOT_JSON")),
    ),
    "a link for the map that prints alike": (
        "v1 v2",
        lambda v: dag_cbor(
            parse_dag_cbor(signed(v, payload={"/": "b" + b32(PARENT.record_id)})).value
            | {"payload": link(parse_cid(PARENT.cid).raw)}
        ),
        (rejected("PAYLOAD_NOT_JSON"), flagged("PAYLOAD_NOT_JSON")),
    ),
    "bytes and links in core": (
        "core2",
        lambda v: signed(v, payload=[b"\x00", link(parse_cid(PARENT.cid).raw)]),
        both(ACCEPTED),
    ),
    "a longer integer": (
        "v1 v2 core2",
        lambda v: MADE[v].block.replace(
            b"\x61v" + bytes([fields(v)["v"]]), b"\x61v\x18" + bytes([fields(v)["v"]])
        ),
        both(rejected("CBOR_NOT_CANONICAL")),
    ),
    "another order of names": (
        "v1 v2 core2",
        lambda v: dumps(dict(reversed(fields(v).items()))),
        both(rejected("CBOR_NOT_CANONICAL")),
    ),
    "indefinite length": (
        "v1 v2 core2",
        lambda v: b"\xbf" + MADE[v].block[1:] + b"\xff",
        both(rejected("CBOR_NOT_CANONICAL")),
    ),
    "a trailing byte": ("v1 v2 core2", lambda v: MADE[v].block + b"\x00", both(rejected("CBOR_INVALID"))),
    "a byte less": ("v1 v2 core2", lambda v: MADE[v].block[:-1], both(rejected("CBOR_INVALID"))),
    "a name twice": (
        "v1 v2 core2",
        lambda v: bytes([MADE[v].block[0] + 1]) + b"\x61v\x02" + MADE[v].block[1:],
        both(rejected("CBOR_INVALID")),
    ),
    "a shared reference": (
        "v1 v2 core2",
        lambda v: dag_pieces(v, b"\xd8\x1c\x81\xd8\x1d\x00"),
        both(rejected("CBOR_INVALID")),
    ),
    "a claimed length of 2^63": (
        "v1 v2 core2",
        lambda v: dag_pieces(v, b"\x5b\x80" + bytes(7)),
        both(rejected("CBOR_INVALID")),
    ),
    "a nesting bomb": (
        "v1 v2 core2",
        lambda v: dag_pieces(v, b"\x81" * 100_000 + b"\x00"),
        both(rejected("CBOR_INVALID")),
    ),
    "a byte string": ("v2", lambda v: dag_cbor(MADE[v].block), both(rejected("ENTRY_ENCRYPTED"))),
    "a list": ("v2", lambda v: dag_cbor([MADE[v].block]), both(rejected("NOT_AN_ENTRY"))),
    "nothing": ("v2", lambda _: b"", both(rejected("CBOR_INVALID"))),
    "over 2 MiB": ("v2", lambda v: changed(v, payload="x" * 2**21), both(rejected("BLOCK_TOO_LARGE"))),
}


def b32(digest):
    return base32(b"\x01\x71\x12\x20" + digest)


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def compressed():
    return who("alice", "core2").public_key


def short(block):
    return dag_cbor(parse_dag_cbor(block).value, "short")


def dag_pieces(variant, piece):
    """The block with raw CBOR in place of its payload."""
    return MADE[variant].block.replace(b"\x67payload\xa1\x61n\x01", b"\x67payload" + piece)


CASES = [(name, variant) for name, (variants, *_) in BLOCKS.items() for variant in variants.split()]


CLAIMS = {
    "as it is": (lambda cid: cid, ()),
    "as bytes": (lambda cid: parse_cid(cid).raw, ()),
    "in base32": (lambda cid: "b" + b32(parse_cid(cid).digest), ()),
    "in base16": (lambda cid: "f" + parse_cid(cid).raw.hex(), ()),
    "as CIDv0, with the same digest": (lambda cid: b"\x12\x20" + parse_cid(cid).digest, ()),
    "another's": (lambda _: PARENT.cid, ("HASH_MISMATCH",)),
    "empty": (lambda _: "", ("CID_MALFORMED",)),
    "cut": (lambda cid: "f" + parse_cid(cid).raw.hex()[:-2], ("CID_UNSUPPORTED",)),
    "with a blank": (lambda cid: cid + " ", ("CID_MALFORMED",)),
    "raw codec": (lambda cid: b"\x01\x55\x12\x20" + parse_cid(cid).digest, ("CID_UNSUPPORTED",)),
    "bytes of nothing": (lambda _: b"", ("CID_MALFORMED",)),
    "version 2": (lambda _: b"\x02\x71\x12\x20" + bytes(32), ("CID_MALFORMED",)),
}


V0 = entry("hello", "v0", log_id="A")
V0_JSON = json.loads(V0.block[2 + (len(V0.block) > 130) :])
WEAK = ("SIGNATURE_WEAK",)
V0_CASES = {
    "nothing altered": ({}, ("rejected", WEAK), flagged(*WEAK)),
    "payload altered": ({"payload": "forged"}, ("rejected", WEAK), flagged(*WEAK)),
    "id altered": ({"id": "B"}, rejected("SIGNATURE_INVALID", "SIGNATURE_WEAK"), INVALID),
    "refs": ({"refs": []}, rejected("FIELD_UNKNOWN"), rejected("FIELD_UNKNOWN")),
    "hash a text": ({"hash": V0.cid}, rejected("TYPE_INVALID"), rejected("TYPE_INVALID")),
    "v 1": ({"v": 1}, rejected("VARIANT_UNKNOWN"), rejected("VARIANT_UNKNOWN")),
    "clock of another": (
        {"clock": {"id": "x", "time": 1}},
        rejected("CLOCK_ID_MISMATCH", "SIGNATURE_WEAK"),
        flagged("CLOCK_ID_MISMATCH", "SIGNATURE_WEAK"),
    ),
    "signature in upper case": (
        {"sig": V0.sig.upper()},
        rejected("SIGNATURE_MALFORMED", "SIGNATURE_WEAK"),
        flagged("SIGNATURE_FORM", "SIGNATURE_WEAK"),
    ),
    "next of another log": ({"next": [PARENT.cid]}, ("rejected", WEAK), flagged(*WEAK)),
    "next no address": ({"next": ["x"]}, rejected("CID_MALFORMED"), rejected("CID_MALFORMED")),
}


JSON_CASES = {
    "as exported": ({}, ()),
    "without hash": ({"hash": ...}, ()),
    "hash null": ({"hash": None}, ()),
    "hash of another": ({"hash": PARENT.cid}, ("HASH_MISMATCH",)),
    "hash no address": ({"hash": "x"}, ("CID_MALFORMED",)),
    "hash a number": ({"hash": 1}, ("TYPE_INVALID",)),
    "members of an application": ({"_local": {}}, ()),
    "member cid": ({"cid": ""}, ("VARIANT_UNSUPPORTED",)),
    "next null": ({"next": None}, ("TYPE_INVALID",)),
    "links in other bases": ({"next": ["b" + b32(PARENT.record_id)]}, ()),
    "payload altered": ({"payload": 0}, ("HASH_MISMATCH", "SIGNATURE_INVALID")),
    "no clock": ({"clock": ...}, ("NOT_AN_ENTRY",)),
    "too large": ({"payload": "x" * 2**21}, ("BLOCK_TOO_LARGE",)),
}
