"""The published vectors: every content address, read, hash and file is what others found it to be."""

import hashlib
import json

import pytest

from strandline.dialects.ipfslog.author import (
    Log,
    open_logs,
    sign_entry,
    to_car,
    to_json,
    to_manifest,
    to_snapshot,
)
from strandline.dialects.ipfslog.codec import (
    MAX_ROOTS_WRITTEN,
    canonical_cid,
    dag_cbor,
    identity_value,
    js_value,
    json_fitness,
    link,
    parse_cid,
    read_documents,
    signed_json,
    sorted_json,
    stored_entry,
)
from strandline.dialects.ipfslog.reduce import LogConfiguration, forks, reduce_log
from strandline.dialects.ipfslog.reduce.dag import Dag, node_of
from strandline.dialects.ipfslog.reduce.state import order_blocks
from strandline.dialects.ipfslog.reduce.stores import document_groups
from strandline.dialects.ipfslog.types import log_namespace, record_id
from strandline.dialects.ipfslog.verify import Counts, judge, verify_block, verify_json
from strandline.dialects.ipfslog.verify.checks import check_json
from strandline.dialects.ipfslog.verify.signature import signed_text
from support.ipfslog_cases import AUTHORS, book, dag, document, entry, lies, names, who

DOCUMENT = document()
READS = DOCUMENT["dag"]["reads"]


def accepted(made, **changes):
    verdict = verify_block(made.block, made.cid, changes.get("profile", "strict"), book())
    return verdict.status == "accepted" and verdict.entry == made


@pytest.mark.parametrize("name", DOCUMENT["identities"])
def test_an_identity_has_its_published_address(name):
    expected = DOCUMENT["identities"][name]
    assert who(name, "v2").cid == expected["orbitdb"]
    assert who(name, "core2").cid == expected["publickey"]
    if "id" in expected:
        assert who(name).id == expected["id"]
        assert who(name, "core2").public_key == expected["compressed_signing_key"]


@pytest.mark.parametrize(
    "vector",
    DOCUMENT["payloads"],
    ids=lambda vector: vector["json"].encode("unicode_escape").decode().replace("\\", "/"),
)
def test_a_payload_has_its_spellings_and_its_entries_their_addresses(vector):
    value = js_value(vector["value"])
    assert sorted_json(value) == vector["json"]
    assert sorted_json(value, plain=json_fitness(value) == "plain") == vector["json"]
    assert dag_cbor(value).hex() == vector["cbor"]
    for variant in ("v1", "v2", "core2"):
        if variant in vector:
            made = entry(vector["value"], variant)
            assert made.cid == vector[variant]
            assert accepted(made)


def test_zeros_and_integral_doubles_are_integers():
    assert [sorted_json(js_value(number)) for number in (-0.0, 0.0, 1.0)] == ["0", "0", "1"]


@pytest.mark.parametrize("variant", ["v2", "core2"])
def test_the_entries_of_the_dag_have_their_published_addresses(variant):
    made = dag(variant)
    assert {name: each.cid for name, each in made.items()} == {
        each["name"]: each[variant] for each in DOCUMENT["dag"]["entries"]
    }
    assert all(map(accepted, made.values()))


@pytest.mark.parametrize("variant", ["v2", "core2"])
def test_the_dag_is_read_as_published(variant):
    made = dag(variant)
    log, cid = Log("strand", made.values()), {name: each.cid for name, each in made.items()}

    def told(entries):
        return names(made, [each.record_id for each in entries])

    part = log.last(4)
    found = {
        "heads": told(log.heads),
        "values": told(log.values),
        "tails": told(log.tails),
        "missing": names(made, log.tail_hashes),
        "last 4": told(part.values),
        "heads of last 4": told(part.heads),
        "tails of last 4": told(part.tails),
        "missing of last 4": names(made, part.tail_hashes),
        "lte c2": told(log.iterator(lte=cid["c2"])),
        "lt c2": told(log.iterator(lt=cid["c2"])),
        "gt a2, amount 2": told(log.iterator(gt=cid["a2"], amount=2)),
        "lte c2, gte a3": told(log.iterator(lte=cid["c2"], gte=cid["a3"])),
    }
    # Published in an order of names; digests are ascending.
    expected = READS[variant] | {"missing of last 4": ordered(made, READS[variant]["missing of last 4"])}
    assert found == expected
    assert told(log.join(Log("strand"), 4).values) == READS[variant]["last 4"]


def ordered(made, published):
    return names(made, sorted(made[name].record_id for name in published.split()))


@pytest.mark.parametrize("variant", ["v2", "core2"])
def test_the_keys_of_the_store_have_their_published_entries(variant):
    made = dag(variant)
    rows = reduce_log(made.values(), LogConfiguration("keyvalue")).documents
    assert {row.document_key: [names(made, [row.record_id]), row.deleted] for row in rows} == (
        DOCUMENT["dag"]["documents"][variant]
    )


def test_a_log_of_two_of_three_writers_is_partial_as_published():
    made, expected = dag("v2"), DOCUMENT["dag"]["only bob, carol"]
    told = LogConfiguration("keyvalue", tuple(sorted([who("bob").id, who("carol").id])))
    state = reduce_log(made.values(), told)
    assert names(made, [row.record_id for row in state.heads]) == expected["heads"]
    assert names(made, state.values) == expected["values"]
    assert names(made, [row.record_id for row in state.tails]) == expected["tails"]
    assert names(made, state.missing) == expected["missing"]
    assert {row.kind for row in state.tails if row.missing} == {"partial"}
    assert state.state_hash.hex() == DOCUMENT["dag"]["hashes"]["v2 only bob, carol"]
    assert (state.count, state.record_count, len(state.denied)) == (5, 9, 4)


def test_order_documents_and_states_have_their_published_hashes():
    hashes, everyone = DOCUMENT["dag"]["hashes"], LogConfiguration("keyvalue")
    state = reduce_log(dag("v2").values(), everyone)
    order = order_blocks(Dag(map(node_of, dag("v2").values())).values)
    assert hashlib.sha256(b"".join(order)).hexdigest() == hashes["v2 O"]
    assert hashlib.sha256(b"".join(document_groups(state.documents))).hexdigest() == hashes["v2 D"]
    assert state.state_hash.hex() == hashes["v2 keyvalue"]
    assert reduce_log(dag("v2").values()).state_hash.hex() == hashes["v2 none"]
    assert reduce_log(dag("core2").values(), everyone).state_hash.hex() == hashes["core2 keyvalue"]


@pytest.mark.parametrize(("store", "write", "expected"), DOCUMENT["reducer_versions"])
def test_a_reducer_is_named_by_what_it_was_told(store, write, expected):
    ids = tuple(sorted(who(name).id if name in AUTHORS.values() else name for name in write))
    assert LogConfiguration(store, ids).reducer_version == expected
    assert LogConfiguration(store, ids[::-1] + ids).reducer_version == expected


def test_the_dag_as_a_snapshot_is_read_as_published():
    opened = open_logs([(to_snapshot(Log("strand", dag("v2").values())), "json")])
    assert opened.counts == Counts(
        read=12, new=9, known=3, claims_known=3, identities_embedded=3, identity_verifications=3
    )
    assert opened.logs["strand"] == Log("strand", dag("v2").values())


def test_the_car_has_its_published_bytes_and_admits_both_blocks():
    a1, alice = dag("core2")["a1"], who("alice", "core2").record
    data = to_car([a1], [a1], [alice])
    assert (len(data), hashlib.sha256(data).hexdigest()) == (
        DOCUMENT["car"]["bytes"],
        DOCUMENT["car"]["sha256"],
    )
    opened = open_logs([(data, "car")])
    assert opened.counts == Counts(read=2, new=2, claims_known=1, identity_verifications=1)


@pytest.mark.large
def test_a_car_of_more_roots_than_a_header_holds_is_read():
    a1 = dag("v2")["a1"]
    few, many = (to_car([a1] * count, [a1]) for count in (MAX_ROOTS_WRITTEN, 2 * MAX_ROOTS_WRITTEN))
    assert many == few
    opened = open_logs([(many, "car")])
    assert (opened.counts.new, opened.quarantine) == (1, ())


def test_an_entry_of_core2_waits_for_its_identity_in_any_order_and_split():
    a1, alice = dag("core2")["a1"], who("alice", "core2").record
    alone, identity = to_car([], [a1]), to_car([], [], [alice])
    waiting = judge(read_documents(alone, "car"))
    (row,) = waiting.quarantine
    assert (row.status, row.reasons, row.waits_for) == (
        "deferred", ("IDENTITY_MISSING",), (f"identity:{alice.digest.hex()}",),
    )  # fmt: skip
    later = judge(read_documents(identity, "car"), waiting.accepted)
    assert later.counts == Counts(read=1, new=1, readmitted=1, identity_verifications=1)
    together = judge([*read_documents(alone, "car"), *read_documents(identity, "car")])
    first = judge(read_documents(alone, "car"), judge(read_documents(identity, "car")).accepted)
    again = judge([*read_documents(identity, "car"), *read_documents(alone, "car")], waiting.accepted)
    assert again.counts == Counts(read=2, new=1, known=1, readmitted=1, identity_verifications=1)
    for held in (later.accepted, together.accepted, first.accepted, again.accepted):
        assert (held.entries, held.waiting) == ({a1.record_id: a1}, {})


@pytest.mark.parametrize("variant", ["v2", "core2"])
def test_entries_with_lying_clocks_have_their_published_addresses(variant):
    at = 2 if variant == "v2" else 3
    assert {name: each.cid for name, each in lies(variant).items()} == {
        name: vector[at] for name, vector in DOCUMENT["lie"].items()
    }


@pytest.mark.parametrize(("variant", "members", "values", "heads"), DOCUMENT["lie_reads"])
def test_a_lying_clock_turns_its_log_to_the_walk(variant, members, values, heads):
    made = lies(variant)
    state = reduce_log([made[name] for name in members.split()])
    assert (state.mode, names(made, state.values)) == ("walk", values)
    assert names(made, [row.record_id for row in state.heads]) == heads
    assert {
        name
        for name in made
        for row in state.view
        if row.record_id == made[name].record_id and not row.clock_ok
    } == {"B"}


def test_manifests_and_lists_have_their_published_addresses():
    ids, lie = [who("alice").id], lies("v2")
    blocks = {
        "core list": dag_cbor({"type": "ipfs", "write": ids}),
        "core database": dag_cbor(
            {"name": "strand", "type": "keyvalue",
             "accessController": "/ipfs/" + DOCUMENT["manifests"]["core list"]}
        ),
        "0.x list": dag_cbor({"write": json.dumps(ids, indent=2)}),
        "log D, C": to_manifest(Log("strand", [lie[name] for name in "ABCD"])),
    }  # fmt: skip
    assert {name: record_id(block) for name, block in blocks.items()} == {
        name: parse_cid(cid).digest for name, cid in DOCUMENT["manifests"].items()
    }


@pytest.mark.parametrize("variant", ["v2", "core2"])
def test_two_entries_of_one_key_and_time_are_one_fork_with_its_published_evidence(variant):
    made = [entry(name, variant) for name in "pq"]
    if variant == "v2":
        assert [each.cid for each in made] == [DOCUMENT["tie"]["p"], DOCUMENT["tie"]["q"]]
    state = reduce_log(made)
    assert list(state.values) == [each.record_id for each in sorted(made, key=lambda each: each.cid)]
    assert [each.payload for each in made] == ["p", "q"]
    assert [row.tied for row in state.view] == [True, True]
    (row,) = forks(made)
    size, digest = DOCUMENT["tie"][f"{variant} evidence"]
    assert (len(row.evidence), hashlib.sha256(row.evidence.encode()).hexdigest()) == (size, digest)
    assert (row.key, row.position, row.attributable) == (who("alice", variant).public_key, "1", True)
    assert row.members == tuple(sorted(each.record_id for each in made))


@pytest.mark.parametrize("variant", ["v2", "core2"])
def test_appends_reach_back_as_published(variant):
    log = Log("strand", identity=who("alice", variant), variant=variant)
    made = [log.append(payload, 4, 4) for payload in range(6)]
    address, refs = DOCUMENT["refs"][variant]
    index = {each.record_id: at for at, each in enumerate(made)}
    assert [[index[ref] for ref in each.refs] for each in made] == refs
    assert made[5].cid == address


def test_floats_have_two_widths_and_json_finds_the_claimed_one():
    vector, alice = DOCUMENT["floats"], who("alice")
    wide = entry(vector["payload"])
    assert wide.cid == vector["wide"]
    assert accepted(wide)
    short = stored_entry("v2", fields_of(wide), {"next": [], "refs": []}, "short")
    assert record_id(short.block) == parse_cid(vector["short"]).digest
    assert verify_block(short.block, vector["short"]).reasons == ("FLOAT_WIDTH",)
    lenient = verify_block(short.block, vector["short"], "compat")
    assert (lenient.status, lenient.flags) == ("accepted", ("FLOAT_SHORT",))
    claimed = verify_json(fields_of(wide) | {"hash": vector["short"]}, "compat")
    assert (claimed.entry, claimed.flags) == (lenient.entry, ("FLOAT_SHORT",))
    assert verify_json(fields_of(wide) | {"hash": vector["short"]}).reasons == ("FLOAT_WIDTH",)
    assert verify_json(fields_of(wide) | {"hash": vector["wide"]}).entry == wide
    assert verify_json(fields_of(wide) | {"hash": alice.cid}).reasons == ("HASH_MISMATCH",)


def test_core_has_no_second_width_to_try():
    made = entry(DOCUMENT["floats"]["payload"], "core2")
    value = fields_of(made)
    short = stored_entry("core2", value, {"next": [], "refs": []}, "short")
    claimed = value | {"hash": canonical_cid(record_id(short.block))}
    for profile in ("strict", "compat"):
        assert verify_json(claimed, profile, book()).reasons == ("HASH_MISMATCH",)
        assert verify_block(short.block, None, profile, book()).reasons == (
            "FLOAT_WIDTH",
            "SIGNATURE_INVALID",
        )


def fields_of(made):
    """The members of an entry without links, as JSON has them."""
    (found,) = read_documents(b"[" + to_json(made).encode() + b"]", "json")
    return found.value


def signed_by_hand(variant, payload):
    """An entry of alice whose payload JSON cannot hold, signed over what JavaScript would sign."""
    alice = who("alice", variant)
    fields = {"v": 2, "id": "strand", "key": alice.public_key, "next": [], "refs": [],
              "clock": {"id": alice.public_key, "time": 1}, "payload": payload}  # fmt: skip
    text = signed_json(fields, [], [], plain=False)
    fields |= {"sig": alice.signing_key.sign(text.encode()).hex(), "identity": identity_value(alice.record)}
    return stored_entry(variant, fields, {"next": [], "refs": []}).block


def test_payloads_that_json_cannot_tell_have_their_published_addresses():
    data = bytes.fromhex(DOCUMENT["bytes"]["hex"])
    core = sign_entry(who("alice", "core2"), "strand", data, time=1, variant="core2")
    assert core.cid == DOCUMENT["bytes"]["core2"]
    assert accepted(core)
    one = parse_cid(DOCUMENT["published"]["entries"][0]["hash"])
    made = {"bytes": signed_by_hand("v2", data), "link": signed_by_hand("v2", {"see": link(one.raw)})}
    for name, block in made.items():
        assert record_id(block) == parse_cid(DOCUMENT[name]["v2"]).digest
        assert verify_block(block).reasons == ("PAYLOAD_NOT_JSON",)
        lenient = verify_block(block, None, "compat")
        assert (lenient.status, lenient.flags) == ("accepted", ("PAYLOAD_NOT_JSON",))


def test_one_v0_signature_covers_every_entry_of_its_log():
    made = {name: entry(name, "v0", log_id="A", time=time) for name, (time, _) in DOCUMENT["v0"].items()}
    assert {name: each.cid for name, each in made.items()} == {
        name: v[1] for name, v in DOCUMENT["v0"].items()
    }
    assert made["hello"].sig == made["forged"].sig
    for each in made.values():
        assert verify_block(each.block, each.cid).reasons == ("SIGNATURE_WEAK",)
        assert verify_block(each.block, each.cid, "compat").flags == ("SIGNATURE_WEAK",)


def test_an_address_has_many_spellings_and_one_digest():
    vector = DOCUMENT["one_cid"]
    first, *others = [parse_cid(text) for text in vector["same address"]]
    assert all(other == first for other in others)
    assert {parse_cid(text).digest for text in vector["same digest"]} == {first.digest}


@pytest.mark.parametrize(("log_id", "expected"), DOCUMENT["namespaces"])
def test_a_log_has_its_namespace(log_id, expected):
    assert log_namespace(log_id) == expected


@pytest.mark.parametrize("at", [0, 1])
def test_a_published_entry_is_accepted_in_both_profiles(at):
    vector = DOCUMENT["published"]
    each = vector["entries"][at]
    for profile in ("strict", "compat"):
        verdict = verify_json(each, profile)
        assert (verdict.status, verdict.reasons, verdict.flags) == ("accepted", (), ())
        assert verdict.entry.cid == each["hash"]
        assert verify_block(verdict.block, each["hash"], profile).entry == verdict.entry
    assert len(verdict.block) == vector["block_bytes"][at]
    text = signed_text(check_json(each, "strict").shaped).encode()
    assert (len(text), hashlib.sha256(text).hexdigest()) == (
        vector["signed_bytes"][at],
        vector["signed_sha256"][at],
    )
    assert verdict.entry.identity_digest == parse_cid(vector["identity"]).digest


def test_the_published_log_has_one_head_and_one_root():
    data = json.dumps(DOCUMENT["published"]["entries"]).encode()
    log = open_logs([(data, "json")]).logs["example-log"]
    one, two = DOCUMENT["published"]["entries"]
    assert [each.cid for each in log.heads] == [two["hash"]]
    assert [each.cid for each in log.tails] == [one["hash"]]
    assert log.tail_hashes == ()
