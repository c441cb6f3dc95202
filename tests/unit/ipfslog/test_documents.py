"""Files of logs: lines, JSON documents, CARs; what is bad costs itself alone, and nothing raises."""

import json

import pytest

from strandline.core.encoding.varint import varint
from strandline.dialects.ipfslog.author import (
    Log,
    open_logs,
    to_blocks,
    to_car,
    to_json,
    to_lines,
    to_manifest,
    to_snapshot,
)
from strandline.dialects.ipfslog.codec import (
    car,
    cid_text,
    dag_cbor,
    dag_pb_block,
    identity_value,
    parse_cid,
    parse_dag_cbor,
    read_documents,
    signed_cbor,
)
from strandline.dialects.ipfslog.codec.documents import MAX_LINE_BYTES
from strandline.dialects.ipfslog.info import INFO
from strandline.dialects.ipfslog.types import (
    BlockDocument,
    JsonDocument,
    Manifest,
    Unreadable,
    record_id,
)
from strandline.dialects.ipfslog.verify import AcceptedRecords, Counts, Foreign, Refused, judge, read_element
from support.ipfslog_cases import dag, entry, who

DAG = dag("v2")
A1 = to_json(DAG["a1"])
LOG = Log("strand", DAG.values())
CID = DAG["a1"].cid


def read(data, form="lines"):
    return list(read_documents(data if isinstance(data, bytes) else data.encode(), form))


def told(data, form="lines"):
    """What each document is: its kind, or the reasons of what did not open."""
    return [
        ",".join(each.reasons) if isinstance(each, Unreadable) else type(each).__name__
        for each in read(data, form)
    ]


LINES = {
    "nothing": ("", []),
    "blank lines and a mark": ("\ufeff\n \r\n\t\n", []),
    "an entry with CR LF": (A1 + "\r\n", ["JsonDocument"]),
    "no LF at the end": (A1, ["JsonDocument"]),
    "no JSON between two entries": (f"{A1}\n{{\n{A1}\n", ["JsonDocument", "JSON_INVALID", "JsonDocument"]),
    "a cut last line": (A1 + "\n" + A1[:-1], ["JsonDocument", "JSON_INVALID,TRUNCATED"]),
    "a second mark": ("\n\ufeff" + A1 + "\n", ["JSON_INVALID"]),
    "an array": (f"[{A1}]\n", ["NOT_AN_ENTRY"]),
    "a number": ("1\n", ["NOT_AN_ENTRY"]),
    "an empty object": ("{}\n", ["NOT_AN_ENTRY"]),
    "a member twice": (A1.replace('"v":2', '"v":2,"v":2') + "\n", ["JSON_INVALID"]),
    "a lone surrogate": (A1.replace('"PUT"', '"\\ud800"') + "\n", ["JSON_INVALID"]),
    "payload of 128 levels": ('{"v":2,"payload":' + "[" * 128 + "]" * 128 + "}\n", ["JsonDocument"]),
    "payload of 129 levels": ('{"v":2,"payload":' + "[" * 129 + "]" * 129 + "}\n", ["JSON_INVALID"]),
    "a raw block": ('{"cid":"x","data":"YQ"}\n', ["BlockDocument"]),
    "a raw block of no base64": ('{"cid":"x","data":"Y"}\n', ["BASE64_MALFORMED"]),
    "a raw block that looks like a snapshot": ('{"cid":"","data":"","values":[]}\n', ["BlockDocument"]),
    "cid without data": ('{"cid":""}\n', ["NOT_AN_ENTRY"]),
    "an identity": (json.dumps(identity_value(who("alice").record)) + "\n", ["JsonDocument"]),
    "an identity and a member more": (
        json.dumps(identity_value(who("alice").record) | {"x": 1}) + "\n",
        ["NOT_AN_ENTRY"],
    ),
    "a manifest with its hash": (json.dumps({"id": "x", "heads": [], "hash": "x"}) + "\n", ["JsonDocument"]),
    "a line of 16 MiB": ("x" * MAX_LINE_BYTES + "\n", ["JSON_INVALID"]),
    "a line of 16 MiB and one": (f"{'x' * (MAX_LINE_BYTES + 1)}\n{A1}\n", ["LINE_TOO_LARGE", "JsonDocument"]),
    "a cut line of 16 MiB and one": ("x" * (MAX_LINE_BYTES + 1), ["LINE_TOO_LARGE,TRUNCATED"]),
    "a snapshot": (
        '{"id":"a","heads":["x"],"values":[{},' + A1 + "]}\n",
        ["HeadClaim", "NOT_AN_ENTRY", "JsonDocument"],
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_are_read_one_by_one(name):
    data, expected = LINES[name]
    assert told(data) == expected


FILES = {
    "nothing": ("", []),
    "blanks": (" \n", []),
    "an entry over many lines": (json.dumps(json.loads(A1), indent=2), ["JsonDocument"]),
    "an array": (f"[{A1} , {A1}]", ["JsonDocument"] * 2),
    "an empty array": (" [ ] ", []),
    "arrays in an array": (f"[[{A1}]]", ["NOT_AN_ENTRY"]),
    "a bad element": (f'[{A1},{{"a":1,"a":2}},{A1}]', ["JsonDocument", "JSON_INVALID", "JsonDocument"]),
    "brackets and commas in texts": (
        '["a]b,\\"[",{"v":2,"payload":"],["}]',
        ["NOT_AN_ENTRY", "JsonDocument"],
    ),
    "a comma too many": (f"[{A1},]", ["JsonDocument", "JSON_INVALID"]),
    "two values in one place": (f"[{A1} {A1}]", ["JSON_INVALID"]),
    "something after the array": (f"[{A1}] x", ["JsonDocument", "JSON_INVALID"]),
    "no end of the array": (f"[{A1}", ["JsonDocument", "JSON_INVALID"]),
    "an end of the other kind": (f"[{A1}}}", ["JsonDocument", "JSON_INVALID"]),
    "a snapshot with an end of the other kind": (
        f'{{"id":1,"values":[{A1}}}}}',
        ["JsonDocument", "JSON_INVALID"],
    ),
    "cut in an element": (f"[{A1},{A1[:-9]}", ["JsonDocument", "JSON_INVALID", "JSON_INVALID"]),
    "snapshots in an array": (f'[{{"values":[{A1}]}},{{"values":[]}}]', ["JsonDocument"]),
    "a snapshot in a snapshot": (f'{{"values":[{{"values":[{A1}]}}]}}', ["NOT_AN_ENTRY"]),
    "a bad element of a snapshot": (
        f'{{"id":"strand","values":[{A1},{{"a":1,"a":2}},{A1}]}}',
        ["JsonDocument", "JSON_INVALID", "JsonDocument"],
    ),
    "a member of a snapshot twice": (f'{{"id":1,"id":2,"values":[{A1}]}}', ["JsonDocument", "JSON_INVALID"]),
    "a cut snapshot": (
        f'{{"id":"strand","values":[{A1},{A1[:9]}',
        ["JsonDocument", "JSON_INVALID", "JSON_INVALID"],
    ),
    "heads of numbers": ('{"heads":[1],"values":[]}', ["NOT_AN_ENTRY"]),
    "an escaped name": (f'{{"\\u0076alues":[{A1}]}}', ["JsonDocument"]),
    "a raw block in a snapshot": ('{"values":[{"cid":"x","data":"YQ"}]}', ["BlockDocument"]),
}


@pytest.mark.parametrize("name", FILES)
def test_a_json_file_is_one_document_or_a_list_of_them(name):
    data, expected = FILES[name]
    assert told(data, "json") == expected


def test_an_entry_alone_is_read_in_the_format_of_messages():
    block = to_blocks([DAG["a1"]]).rstrip(b"\n")
    assert told(block, INFO.message_format) == ["BlockDocument"]
    assert told(A1, INFO.message_format) == ["JsonDocument"]


def test_the_raw_bytes_of_an_element_are_its_exact_slice():
    data = f'\ufeff {{"id": "strand", "values": [ {A1} , {{"a": 1 , "a":2}} ]}}'.encode()
    good, bad = read(data, "json")
    for each in (good, bad):
        assert data[each.offset : each.offset + len(each.raw)] == each.raw
    assert good.raw.decode() == A1
    assert bad.raw == b'{"a": 1 , "a":2}'


@pytest.mark.parametrize(
    ("log_id", "reasons"),
    [('"strand"', ()), ('"other"', ("LOG_ID_MISMATCH",)), ("1", ("LOG_ID_MISMATCH",)), (None, ())],
)
def test_an_entry_stands_in_a_snapshot_of_its_own_log(log_id, reasons):
    member = "" if log_id is None else f'"id":{log_id},'
    rows = judge(read(f'{{{member}"values":[{A1}]}}', "json")).quarantine
    assert tuple(reason for row in rows for reason in row.reasons) == reasons


def test_a_file_over_its_limit_is_one_record(monkeypatch):
    monkeypatch.setattr("strandline.dialects.ipfslog.codec.documents.MAX_FILE_BYTES", 9)
    assert told("[1,2,3,4,5]", "json") == ["FILE_TOO_LARGE"]


BLOCK = DAG["a1"].block
WHOLE = to_car([DAG["a1"]], [DAG["a1"], DAG["b1"]])
HEADER = len(to_car([DAG["a1"]], []))
FIRST = HEADER + len(varint(36 + len(BLOCK))) + 36 + len(BLOCK)


def header(value):
    data = dag_cbor(value)
    return varint(len(data)) + data


RAW_CID = b"\x01\x55\x12\x20" + bytes(32)
CARS = {
    "both blocks": (WHOLE, ["HeadClaim", "BlockDocument", "BlockDocument"]),
    "no section": (WHOLE[:HEADER], ["HeadClaim"]),
    "nothing": (b"", ["CAR_MALFORMED"]),
    "CARv2": (bytes.fromhex("0aa16776657273696f6e02") + bytes(40), ["CAR_MALFORMED"]),
    "version 2 with roots": (header({"roots": [], "version": 2}), ["CAR_MALFORMED"]),
    "no version": (header({"roots": []}), ["CAR_MALFORMED"]),
    "version true": (header({"roots": [], "version": True}), ["CAR_MALFORMED"]),
    "no roots": (header({"version": 1}), ["CAR_MALFORMED"]),
    "roots that are no links": (header({"roots": [1], "version": 1}), ["CAR_MALFORMED"]),
    "a member more": (header({"roots": [], "version": 1, "x": 1}), ["CAR_MALFORMED"]),
    "a header that claims 2^63 - 1 bytes": (b"\xff" * 8 + b"\x7f" + WHOLE, ["CAR_MALFORMED"]),
    "a header length over 9 bytes": (b"\xff" * 9 + b"\x01" + WHOLE, ["CAR_MALFORMED"]),
    "a section that claims 2^63 - 1 bytes": (
        WHOLE[:FIRST] + b"\xff" * 8 + b"\x7f",
        ["HeadClaim", "BlockDocument", "CAR_TRUNCATED"],
    ),
    "an empty section": (
        WHOLE[:FIRST] + b"\x00" + WHOLE[FIRST:],
        ["HeadClaim", "BlockDocument", "CAR_MALFORMED"],
    ),
    "a length that is not minimal": (
        WHOLE[:FIRST] + b"\x80\x00",
        ["HeadClaim", "BlockDocument", "CAR_MALFORMED"],
    ),
    "a length over 9 bytes": (
        WHOLE[:FIRST] + b"\x80" * 9 + b"\x01",
        ["HeadClaim", "BlockDocument", "CAR_MALFORMED"],
    ),
    "a CID of version 3": (
        WHOLE[:FIRST] + b"\x24\x03\x71\x12\x20" + bytes(32),
        ["HeadClaim", "BlockDocument", "CAR_MALFORMED"],
    ),
    "a CID longer than its section": (
        WHOLE[:FIRST] + b"\x04\x01\x71\x12\x20",
        ["HeadClaim", "BlockDocument", "CAR_MALFORMED"],
    ),
    "a section of a CID alone": (car([], [(RAW_CID, b"")]), ["BlockDocument"]),
    "CIDv0": (car([], [(b"\x12\x20" + record_id(BLOCK), BLOCK)]), ["BlockDocument"]),
    "an over-long block, then another": (
        car([], [(parse_cid(CID).raw, bytes(2**21 + 1)), (parse_cid(CID).raw, BLOCK)]),
        ["BLOCK_TOO_LARGE", "BlockDocument"],
    ),
    "an over-long foreign block": (car([], [(RAW_CID, bytes(2**21 + 1))]), ["BlockDocument"]),
    "a root of another codec": (car([RAW_CID], []), ["HeadClaim"]),
}


@pytest.mark.parametrize("name", CARS)
def test_a_car_is_read_up_to_its_first_damage(name):
    data, expected = CARS[name]
    assert told(data, "car") == expected


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("an empty section", "empty"),
        ("a length over 9 bytes", "varint"),
        ("a CID of version 3", "cid"),
        ("CARv2", "version"),
        ("no roots", "header"),
    ],
)
def test_a_damage_says_what_is_wrong(name, cause):
    damage = read(CARS[name][0], "car")[-1]
    assert damage.evidence["CAR_MALFORMED"]["cause"] == cause


def test_a_car_cut_at_any_byte_keeps_the_blocks_before_the_cut():
    for size in range(len(WHOLE)):
        found = read(WHOLE[:size], "car")
        blocks = [each.block for each in found if isinstance(each, BlockDocument)]
        assert blocks == [BLOCK, DAG["b1"].block][: (size >= FIRST) + (size >= len(WHOLE))]
        damages = [each for each in found if isinstance(each, Unreadable)]
        assert [each.reasons for each in damages] == (
            [] if size in (HEADER, FIRST) else [("CAR_MALFORMED",)] if size < HEADER else [("CAR_TRUNCATED",)]
        )
        assert all(each.raw == WHOLE[each.offset : size] for each in damages)


def test_a_car_with_a_bit_flipped_admits_nothing_that_it_did_not_hold():
    data = to_car([DAG["a1"]], [DAG["a1"]])
    for at in range(0, len(data), 3):
        flipped = data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :]
        held = judge(read(flipped, "car")).accepted
        assert set(held.entries) <= {DAG["a1"].record_id}


ALICE = who("alice", "core2").record
DATABASE = {"name": "strand", "type": "keyvalue", "accessController": "/ipfs/x"}
FOREIGN, ENTRY = "foreign", "entry"
KINDS = {
    "an identity": (ALICE.block, "identity"),
    "an identity in dag-pb": (dag_pb_block(json.dumps(identity_value(ALICE)).encode()), "identity"),
    "a database": (dag_cbor(DATABASE), "database"),
    "a database with meta": (dag_cbor(DATABASE | {"meta": {"x": 1.5}}), "database"),
    "a database in dag-pb": (dag_pb_block(json.dumps(DATABASE).encode()), "database"),
    "a database with a number": (dag_cbor(DATABASE | {"name": 1}), FOREIGN),
    "a controller": (dag_cbor({"type": "ipfs", "params": {"address": "x", "more": 1}}), "controller"),
    "a controller without address": (dag_cbor({"type": "ipfs", "params": {}}), FOREIGN),
    "a list of core": (dag_cbor({"type": "ipfs", "write": ["a"]}), "list"),
    "a list of 0.x": (dag_cbor({"write": '["a"]'}), "list"),
    "a list of 0.x that is no JSON": (dag_cbor({"write": "a"}), FOREIGN),
    "a list of 0.x of numbers": (dag_cbor({"write": "[1]"}), FOREIGN),
    "a legacy list": (dag_cbor({"admin": [], "write": ["04aa", "*"], "read": []}), "list"),
    "a log": (to_manifest(LOG), "log"),
    "a log with heads as numbers": (dag_cbor({"id": "x", "heads": [1]}), FOREIGN),
    "another map": (dag_cbor({"a": 1}), FOREIGN),
    "another map with a number of 64 bits": (dag_cbor({"a": 2**60}), FOREIGN),
    "a list of things": (dag_cbor([1]), FOREIGN),
    "a map with clock": (dag_cbor({"clock": 1}), ENTRY),
    "a byte string": (dag_cbor(b"x"), ENTRY),
    "bytes that do not decode": (b"\xff", ENTRY),
    "a file": (dag_pb_block(b"\x08\x02\x12\x01x"), FOREIGN),
    "a folder": (b"\x12\x02\x0a\x00\x0a\x00", FOREIGN),
    "JSON of an application in dag-pb": (dag_pb_block(b'{"a":1}'), FOREIGN),
    "JSON with v in dag-pb": (dag_pb_block(b'{"v":1}'), ENTRY),
}


def kind(element):
    if isinstance(element, Manifest):
        return element.kind
    names = {"Foreign": FOREIGN, "IdentityRecord": "identity", "Checked": ENTRY, "Refused": "refused"}
    return names[type(element).__name__]


def in_car(block):
    (found,) = read(car([], [(b"\x01\x71\x12\x20" + record_id(block), block)]), "car")
    return found


@pytest.mark.parametrize("name", KINDS)
def test_a_block_of_a_car_is_what_its_bytes_say(name):
    block, expected = KINDS[name]
    assert kind(read_element(in_car(block), "strict")) == expected


@pytest.mark.parametrize("name", [name for name, (_, expected) in KINDS.items() if expected != "identity"])
def test_a_raw_block_of_dag_cbor_is_judged_even_if_it_is_nobodys(name):
    block, expected = KINDS[name]
    element = read_element(BlockDocument(block, None, 0), "strict")
    is_file = expected == FOREIGN and block[:1] in (b"\x0a", b"\x12")
    assert kind(element) == (ENTRY if expected == FOREIGN and not is_file else expected)


def test_manifests_say_what_they_are():
    def manifest(name):
        return read_element(in_car(KINDS[name][0]), "strict")

    assert manifest("a legacy list").write == ("*", "key:04aa")
    assert manifest("a list of core").write == manifest("a list of 0.x").write == ("a",)
    assert manifest("a controller").access == "x"
    assert (manifest("a database").name, manifest("a database").type) == ("strand", "keyvalue")
    assert manifest("a log").heads == tuple(each.record_id for each in LOG.heads)
    assert manifest("a database in dag-pb").cid.startswith("Qm")


@pytest.mark.parametrize(
    ("block", "claimed", "reasons"),
    [
        (ALICE.block, CID, ("HASH_MISMATCH",)),
        (ALICE.block, "x", ("CID_MALFORMED",)),
        (dag_cbor(DATABASE | {"meta": 2**60}), None, ("NUMBER_OUT_OF_RANGE",)),
        (dag_cbor({"write": "[]"}), CID, ("HASH_MISMATCH",)),
    ],
)
def test_identities_and_manifests_pass_the_first_three_checks(block, claimed, reasons):
    element = read_element(BlockDocument(block, claimed, 0), "strict")
    assert isinstance(element, Refused)
    assert (element.reasons, element.raw, element.record_id) == (reasons, block, record_id(block))


def test_a_manifest_with_short_floats_is_one():
    block = dag_cbor(DATABASE | {"meta": 1.5}, "short")
    assert kind(read_element(BlockDocument(block, None, 0), "strict")) == "database"


JSON_RECORDS = {
    "an identity": (identity_value(ALICE), "identity"),
    "an identity with its hash": (identity_value(ALICE) | {"hash": who("alice", "core2").cid}, "identity"),
    "an identity with another's hash": (identity_value(ALICE) | {"hash": CID}, "refused"),
    "an identity of numbers": (identity_value(ALICE) | {"id": 1}, "refused"),
    "an identity whose hash is a number": (identity_value(ALICE) | {"hash": 1}, "refused"),
    "a log": ({"id": "strand", "heads": [each.cid for each in LOG.heads]}, "log"),
    "a log whose head is no address": ({"id": "strand", "heads": ["x"]}, "refused"),
    "a database": (DATABASE, "database"),
}


@pytest.mark.parametrize("name", JSON_RECORDS)
def test_identities_and_manifests_may_come_as_json(name):
    value, expected = JSON_RECORDS[name]
    (found,) = read(json.dumps(value) + "\n")
    assert isinstance(found, JsonDocument)
    element = read_element(found, "strict")
    assert kind(element) == expected
    if expected == "log":
        assert element.block == to_manifest(LOG)
    if expected == "identity":
        assert element == ALICE


def test_a_block_is_one_record_in_every_form_it_comes_in():
    one = DAG["a1"]
    forms = [
        (to_lines([one]), "lines"),
        (to_blocks([one]), "lines"),
        (to_car([], [one]), "car"),
        (b"[" + A1.encode() + b"]", "json"),
    ]
    for data, form in forms:
        assert open_logs([(data, form)]).accepted.entries == {one.record_id: one}
    opened = open_logs(forms)
    assert (opened.counts.new, opened.counts.known, opened.counts.rejected) == (1, 3, 0)


def test_heads_are_claims_and_what_is_claimed_is_counted():
    snapshot = json.loads(to_snapshot(LOG)) | {"heads": [CID, "x", json.loads(A1)]}
    counts = judge(read(json.dumps(snapshot), "json")).counts
    assert (counts.claims_known, counts.claims_missing, counts.read) == (2, 1, 10)
    alone = judge(read(to_car([DAG["b3"]], [DAG["a1"]]), "car")).counts
    assert (alone.claims_known, alone.claims_missing, alone.new) == (0, 1, 1)
    manifest = judge(
        read(car([], [(b"\x01\x71\x12\x20" + record_id(to_manifest(LOG)), to_manifest(LOG))]), "car")
    )
    assert manifest.counts == Counts(read=1, new=1, claims_missing=3)


def test_files_of_others_are_counted_and_left_alone():
    blocks = [(RAW_CID, b"x"), (b"\x01\x71\x12\x20" + record_id(dag_cbor(1)), dag_cbor(1))]
    counts = judge(read(car([], blocks), "car")).counts
    assert counts == Counts(foreign_blocks=2)
    assert isinstance(read_element(in_car(dag_cbor(1)), "strict"), Foreign)


def test_every_record_ends_in_one_place_and_a_second_run_knows_it():
    data = b"\n".join(
        [
            A1.encode(),
            b"{",
            b"{}",
            to_json(entry("x")).replace("PUT", "x").encode(),
            *to_blocks(dag("core2").values()).splitlines(),
            b"",
        ]
    )
    first = judge(read(data))
    counts = first.counts
    assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred == 13
    assert (counts.new, counts.rejected, counts.deferred) == (2, 2, 9)
    again = judge(read(data), first.accepted)
    assert (again.counts.new, again.counts.known, again.counts.identity_verifications) == (0, 2, 0)
    assert again.accepted == first.accepted
    with_identities = judge(
        read(to_blocks([], [who(name, "core2").record for name in ("alice", "bob", "carol")])), again.accepted
    )
    assert with_identities.counts == Counts(read=3, new=3, readmitted=9, identity_verifications=3)
    assert with_identities.accepted.waiting == {}


def test_an_identity_that_refutes_a_waiting_entry_rejects_it_outside_the_counts():
    made = entry("x", "core2")
    value = identity_value(ALICE) | {"signatures": {"id": ALICE.sig_id, "publicKey": ALICE.sig_id}}
    forged = dag_cbor(value)
    fields = parse_dag_cbor(made.block).value | {
        "identity": cid_text(b"\x01\x71\x12\x20" + record_id(forged))
    }
    fields["sig"] = who("alice", "core2").signing_key.sign(signed_cbor(dag_cbor(fields), fields)).hex()
    block = dag_cbor(fields)
    waiting = judge([BlockDocument(block, None, 0)])
    assert waiting.counts == Counts(read=1, deferred=1)
    refuted = judge([BlockDocument(forged, None, 0)], waiting.accepted)
    assert refuted.counts == Counts(read=1, new=1, identity_verifications=1)
    (row,) = refuted.quarantine
    assert (row.status, row.reasons, row.raw) == ("rejected", ("IDENTITY_INVALID",), block)
    assert (refuted.accepted.waiting, refuted.accepted.entries) == ({}, {})


def test_pruned_digests_are_known():
    held = AcceptedRecords(pruned=frozenset({DAG["a1"].record_id}))
    judged = judge(read(A1 + "\n"), held)
    assert judged.counts == Counts(read=1, known=1)
    assert judged.accepted.entries == {}
    claims = judge(read(to_car([DAG["a1"], DAG["b1"]], []), "car"), held).counts
    assert claims == Counts(claims_known=1, claims_missing=1)


def test_a_rejected_json_entry_keeps_its_slice_until_a_block_is_built():
    wrong = json.dumps(json.loads(A1) | {"next": None})
    forged = json.dumps(json.loads(A1) | {"payload": "forged"})
    rows = {row.reasons: row for row in judge(read(f"{wrong}\n{forged}\n")).quarantine}
    unbuilt, built = rows["TYPE_INVALID",], rows["HASH_MISMATCH", "SIGNATURE_INVALID"]
    assert (unbuilt.raw, unbuilt.record_id, unbuilt.namespace) == (wrong.encode(), None, "log:strand")
    assert (parse_dag_cbor(built.raw).value["payload"], built.record_id) == ("forged", record_id(built.raw))
