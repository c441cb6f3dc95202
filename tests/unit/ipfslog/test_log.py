"""`Log`: merging, reading parts, appending; the DAG at its edges; nothing recurses."""

import dataclasses
import doctest
import hashlib
import importlib
import json

import pytest

from strandline.core.encoding.cbor_heads import has_more_items
from strandline.core.errors import NamespaceMismatch, UsageError
from strandline.core.limits import MAX_VALUES
from strandline.dialects.ipfslog.author import ClockSaturated, GSet, Identity, Log, sign_entry, to_json
from strandline.dialects.ipfslog.codec import canonical_cid, dag_cbor, parse_cid, parse_dag_cbor
from strandline.dialects.ipfslog.reduce import (
    Dag,
    LogConfiguration,
    Node,
    UnknownEntry,
    decode_skeleton,
    encode_skeleton,
    forks,
    node_of,
    reduce_log,
)
from strandline.dialects.ipfslog.types import MAX_BLOCK_BYTES
from strandline.dialects.ipfslog.verify import verify_block, verify_identity
from support.ipfslog_cases import book, dag, entry, lies, names, who

DAG = dag("v2")
LOG = Log("strand", DAG.values())
CID = {name: each.cid for name, each in DAG.items()}


@pytest.mark.parametrize("module", ["gset", "log"])
def test_the_examples_of_the_documentation_are_true(module):
    found = doctest.testmod(importlib.import_module(f"strandline.dialects.ipfslog.author.{module}"))
    assert found.attempted > 1
    assert found.failed == 0


def test_a_grow_only_set_counts_what_is_new():
    one = GSet(["a"])
    assert one.append("b") == "b"
    assert one.merge(GSet(["b", "c"])) == 1
    assert (one.get("c"), one.get("d"), one.has("a"), one.length, len(one)) == ("c", None, True, 3, 3)
    assert one == GSet("cba")
    assert one != GSet("ab")
    assert one != {"a", "b", "c"}


def told(found):
    return names(DAG, [each.record_id for each in found])


def test_a_log_is_a_grow_only_set_of_its_entries():
    log = Log("strand", [DAG["a1"]])
    assert isinstance(log, GSet)
    assert (log.has(DAG["a1"]), log.has(DAG["b1"]), log.get(DAG["a1"])) == (True, False, DAG["a1"])
    assert (log.merge(LOG), log.merge(LOG), log.length) == (8, 0, 9)
    assert log == LOG
    assert log.entry(CID["c1"]) == DAG["c1"]
    assert (log.entry("x"), log.entry(entry("x").cid)) == (None, None)
    assert told(log.values) == told(LOG.values)


def test_entries_of_another_log_do_not_get_in():
    other = entry("x", log_id="other")
    with pytest.raises(NamespaceMismatch) as wrong:
        Log("strand", [other])
    assert (wrong.value.expected, wrong.value.actual) == ("log:strand", "log:other")
    assert (wrong.value.code, wrong.value.exit_code) == ("NAMESPACES_DIFFER", 2)
    for refused in (lambda log: log.merge(Log("other", [other])), lambda log: log.join(Log("other"))):
        log = Log("strand", DAG.values())
        with pytest.raises(NamespaceMismatch):
            refused(log)
        assert log == LOG


READS = {
    "all": ({}, "b3 a4 c2 b2 a3 a2 b1 a1 c1"),
    "two newest": ({"amount": 2}, "b3 a4"),
    "none": ({"amount": 0}, ""),
    "more than there are": ({"amount": 99}, "b3 a4 c2 b2 a3 a2 b1 a1 c1"),
    "gt": ({"gt": CID["b2"]}, "b3 a4 c2"),
    "gte": ({"gte": CID["b2"]}, "b3 a4 c2 b2"),
    "gt, two nearest": ({"gt": CID["c1"], "amount": 2}, "b1 a1"),
    "gt, none": ({"gt": CID["c1"], "amount": 0}, ""),
    "gt the newest": ({"gt": CID["b3"]}, ""),
    "gte the oldest": ({"gte": CID["c1"], "amount": 1}, "c1"),
    "lte two": ({"lte": [CID["a3"], CID["b1"]]}, "a3 a2 b1 a1"),
    "lt two, one below the other": ({"lt": [CID["a3"], CID["a2"]]}, "a1"),
    "lte, two newest": ({"lte": CID["c2"], "amount": 2}, "c2 b2"),
    "lower bound outside what is reachable": ({"lte": CID["c2"], "gt": CID["a3"]}, "c2 b2"),
    "lower above upper": ({"lte": CID["a2"], "gt": CID["b3"]}, ""),
    "bound in base16": ({"gt": "f" + parse_cid(CID["c2"]).raw.hex()}, "b3 a4"),
}


@pytest.mark.parametrize("name", READS)
def test_an_iterator_reads_between_its_bounds(name):
    bounds, expected = READS[name]
    assert told(LOG.iterator(**bounds)) == expected


@pytest.mark.parametrize(
    ("bounds", "code"),
    [
        ({"gt": CID["a1"], "gte": CID["a1"]}, "BOUNDS_CONFLICT"),
        ({"lt": CID["a1"], "lte": CID["a1"]}, "BOUNDS_CONFLICT"),
        ({"gt": "x"}, "UNKNOWN_ENTRY"),
        ({"lte": [CID["a1"], canonical_cid(bytes(32))]}, "UNKNOWN_ENTRY"),
    ],
)
def test_wrong_bounds_are_wrong_usage(bounds, code):
    with pytest.raises(UsageError) as wrong:
        list(LOG.iterator(**bounds))
    assert wrong.value.code == code
    assert isinstance(wrong.value, UnknownEntry) == (code == "UNKNOWN_ENTRY")


def test_traversing_goes_from_roots_to_an_end():
    assert told(LOG.traverse()) == "b3 a4 c2 b2 a3 a2 b1 a1 c1"
    assert told(LOG.traverse(amount=3)) == "b3 a4 c2"
    assert told(LOG.traverse(amount=0)) == ""
    assert told(LOG.traverse([CID["c2"], CID["a3"]], end=CID["a2"])) == "c2 b2 a3 a2"
    assert told(LOG.traverse([CID["c2"], CID["c2"]], amount=2)) == "c2 b2"
    with pytest.raises(UnknownEntry):
        list(LOG.traverse(["x"]))


def test_a_sized_join_keeps_the_newest():
    a, b = Log("strand", [DAG[name] for name in ("a1", "a2", "a3")]), Log("strand", [DAG["b1"], DAG["c1"]])
    assert told(a.join(b).values) == "c1 a1 b1 a2 a3"
    assert told(a.join(b, 2).values) == "a2 a3"
    assert a.join(b, 0).length == 0
    assert (a.length, b.length) == (3, 2)
    assert told(LOG.last(0).values) == ""
    assert LOG.last(-1) == LOG.last(99) == LOG


def test_a_partial_log_says_where_reading_would_go_on():
    part = Log("strand", [DAG["b2"], DAG["c2"]])
    state = part.reduce()
    assert [(row.record_id, row.kind, row.missing) for row in state.tails] == [
        (DAG["b2"].record_id, "partial", tuple(sorted([DAG["a2"].record_id, DAG["b1"].record_id]))),
        (DAG["c2"].record_id, "partial", (DAG["c1"].record_id,)),
    ]
    assert (
        part.tail_hashes == state.missing == tuple(sorted(DAG[name].record_id for name in ("a2", "b1", "c1")))
    )
    assert Log("strand").tails == ()


@pytest.mark.parametrize("variant", ["v1", "v2", "core2"])
def test_an_append_is_accepted_and_then_the_only_head(variant):
    log = Log("strand", dag(variant).values() if variant != "v1" else [], who("alice", variant), variant)
    for number in range(3):
        before = log.heads
        made = log.append({"number": number}, 4, 2)
        assert log.heads == (made,)
        assert made.clock_time == 1 + max((head.clock_time for head in before), default=0)
        expected = [head.record_id for head in before]
        assert list(made.next) == (expected if variant == "core2" else expected[::-1])
        verdict = verify_block(made.block, made.cid, "strict", book())
        assert (verdict.status, verdict.entry) == ("accepted", made)
    assert made.refs if variant != "v1" else not made.refs


@pytest.mark.parametrize(("variant", "expected"), [("v2", "A"), ("core2", "A B")])
def test_an_append_over_lying_clocks_reaches_back_as_its_library_walks(variant, expected):
    made = lies(variant)
    log = Log("strand", made.values(), who("alice", variant), variant)
    assert names(made, log.append("x", 4, 4).refs) == expected


def test_what_nobody_should_write_is_refused():
    alice = who("alice")
    with pytest.raises(UsageError, match="no identity") as refused:
        Log("strand").append("x")
    assert refused.value.code == "NO_IDENTITY"
    with pytest.raises(UsageError, match="v0") as refused:
        Log("strand", identity=alice, variant="v0").append("x")
    assert refused.value.code == "VARIANT_WEAK"
    with pytest.raises(UsageError, match="orbitdb"):
        Log("strand", identity=alice, variant="core2").append("x")
    poisoned = Log("strand", [entry("x", time=2**53 - 1)], alice)
    with pytest.raises(ClockSaturated) as saturated:
        poisoned.append("y")
    assert saturated.value.head == poisoned.heads[0].cid
    last = Log("strand", [entry("x", time=2**53 - 2)], alice)
    assert last.append("y").clock_time == 2**53 - 1


PAYLOADS = {
    "a number that is not finite": float("inf"),
    "no number": float("nan"),
    "an integer beyond doubles": 2**53,
    "bytes": b"x",
    "a set": {1},
    "a name that is no text": {1: 2},
    "a lone surrogate": "\ud800",
    "a lone surrogate as name": {"\udc00": 1},
    "129 levels": [],
}
for _ in range(128):
    PAYLOADS["129 levels"] = [PAYLOADS["129 levels"]]


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_that_no_peer_could_read_is_refused(name):
    log = Log("strand", identity=who("alice"))
    with pytest.raises(ValueError):
        log.append(PAYLOADS[name])
    assert log.length == 0


@pytest.mark.parametrize(
    "told", [{"log_id": ""}, {"log_id": "x" * 1025}, {"time": -1}, {"time": 2**53}, {"next": ["x"]}]
)
def test_what_no_entry_can_carry_is_refused(told):
    with pytest.raises(ValueError):
        sign_entry(who("alice"), **({"log_id": "strand", "payload": 0, "time": 1} | told))


def values_of(made):
    """How many values the block of an entry has."""
    return next(most for most in range(200) if not has_more_items(made.block, most))


@pytest.mark.large
@pytest.mark.parametrize("variant", ["v1", "v2", "core2"])
def test_an_entry_that_no_reader_takes_is_not_written(variant):
    def written(payload):
        log = Log("strand", identity=who("alice", variant), variant=variant)
        try:
            return log.append(payload)
        except ValueError:
            assert log.length == 0
            return None

    def is_accepted(made):
        return verify_block(made.block, made.cid, identities=book()).status == "accepted"

    most = MAX_VALUES - values_of(written([]))
    longest = written([0] * most)
    assert is_accepted(longest)
    assert written([0] * (most + 1)) is None
    # Signatures have 70 to 72 bytes, so texts around the longest one are tried.
    longest = MAX_BLOCK_BYTES - len(written("d" * 2**16).block) + 2**16
    made = [written("d" * (longest + more)) for more in range(-5, 6)]
    sizes = [len(each.block) for each in made if each is not None]
    assert (max(sizes), made[-1]) == (MAX_BLOCK_BYTES, None)
    assert is_accepted(next(each for each in made if each and len(each.block) == MAX_BLOCK_BYTES))


def test_core_may_sign_bytes_but_json_cannot_hold_them():
    made = sign_entry(who("alice", "core2"), "strand", b"x", time=1, variant="core2")
    with pytest.raises(ValueError, match="blocks"):
        to_json(made)


def test_an_identity_needs_two_keys():
    for wrong in (b"", b"\x00" * 32):
        with pytest.raises(ValueError):
            Identity.from_keys(wrong, b"\x01" * 32, "orbitdb")
    dora = Identity.from_keys(b"\x05" * 32, b"\x06" * 32, "orbitdb")
    assert verify_identity(dora.record).is_valid
    assert (dora.id, dora.public_key) == (dora.record.id, dora.record.public_key)


def skeleton(made):
    return decode_skeleton(encode_skeleton(made))


def test_a_skeleton_stands_for_its_entry():
    whole = reduce_log(DAG.values(), LogConfiguration("keyvalue"))
    kept = [each for name, each in DAG.items() if name not in ("a1", "a2")]
    pruned = reduce_log(kept, LogConfiguration("keyvalue"), [skeleton(DAG["a1"]), skeleton(DAG["a2"])])
    assert pruned == whole
    assert reduce_log(kept).state_hash != reduce_log(DAG.values()).state_hash
    assert reduce_log(DAG.values(), None, [skeleton(DAG["a1"])]) == reduce_log(DAG.values())


def test_a_skeleton_is_four_members_in_canonical_cbor():
    made = DAG["b2"]
    assert encode_skeleton(made) == encode_skeleton(node_of(made)) == encode_skeleton(skeleton(made))
    assert parse_dag_cbor(encode_skeleton(made)).value == [3, made.clock_id, list(made.next), made.cid]
    assert skeleton(made) == dataclasses.replace(node_of(made), variant=None)
    assert decode_skeleton(encode_skeleton(entry("x", time=2**53 - 1))).clock_time == 2**53 - 1


@pytest.mark.parametrize(
    "value",
    [[], [1, "k", []], [1, "k", [], "x"], ["1", "k", [], CID["a1"]], [1, "k", ["x"], CID["a1"]], {"a": 1}],
)
def test_what_is_no_skeleton_is_refused(value):
    with pytest.raises(ValueError):
        decode_skeleton(dag_cbor(value))
    with pytest.raises(ValueError):
        decode_skeleton(dag_cbor(value) + b"x")


def test_a_pruned_log_stays_in_mode_sort():
    made = lies("v2")
    assert reduce_log(made.values()).mode == "walk"
    state = reduce_log([made["B"], made["C"], made["D"]], None, [skeleton(made["A"])])
    assert (state.mode, names(made, state.values)) == ("sort", "B C A D")
    assert Dag([skeleton(made["A"])]).is_core is False


def test_twins_and_v0_entries_accuse_nobody():
    p, q = entry("p"), entry("q")
    twin = dataclasses.replace(q, record_id=bytes(32))
    weak = [entry("a", "v0"), entry("b", "v0")]
    assert forks([p, *weak]) == ()
    assert forks([q, twin]) == ()
    (row,) = forks([p, q, twin, *weak])
    assert row.kind == "IPFSLOG_CLOCK_FORK"
    assert row.members == tuple(sorted([p.record_id, bytes(32)]))
    assert forks([q, p, twin]) == (row,)
    assert forks([entry("x", time=1), entry("y", time=2), entry("x", name="bob")]) == ()


def test_a_clock_is_right_if_it_is_above_that_of_every_parent_held():
    parent = entry("parent", time=3)
    children = [entry(number, time=number, parents=[parent.cid]) for number in (2, 3, 4)]
    state = reduce_log([parent, *children])
    right = {row.record_id: row.clock_ok for row in state.view}
    assert [right[each.record_id] for each in (parent, *children)] == [True, False, False, True]
    assert [row.clock_ok for row in reduce_log(children).view] == [True] * 3


def test_of_many_in_conflict_the_two_of_least_id_are_the_evidence():
    made = sorted((entry(number) for number in range(4)), key=lambda each: each.record_id)
    (row,) = forks(made[::-1])
    assert (row.member_count, row.members) == (4, tuple(each.record_id for each in made))
    assert (row.bytes_a, row.bytes_b) == (made[0].block, made[1].block)
    assert [each["id"] for each in json.loads(row.evidence)["records"]] == [
        each.record_id.hex() for each in made[:2]
    ]


def test_times_beyond_32_bits_are_ordered_as_numbers():
    made = [entry(number, time=number) for number in (2**53 - 1, 2**31, 9, 10)]
    assert [each.payload for each in Log("strand", made).values] == [9, 10, 2**31, 2**53 - 1]


def chain(size):
    """Nodes as one chain; no signatures, since only links count here."""
    ids = [number.to_bytes(32, "big") for number in range(size)]
    return [
        Node(id_, number, "key", tuple(ids[number - 1 : number]), f"{number:049}", "v2")
        for number, id_ in enumerate(ids)
    ]


@pytest.mark.large
def test_a_chain_of_100_000_is_read_without_recursion_and_in_linear_time():
    deep = Dag(chain(100_000))
    assert (deep.mode, len(deep.heads), len(deep.tails), deep.missing) == ("sort", 1, 1, ())
    assert deep.values == tuple(reversed(deep.walk(deep.heads)))
    assert len(deep.reachable(deep.heads)) == 100_000


@pytest.mark.large
def test_a_fan_of_20_000_heads_is_read_in_linear_time():
    ids = [number.to_bytes(32, "big") for number in range(20_000)]
    fan = Dag(
        Node(id_, 1, "key", (ids[0],) if at else (), f"{at:049}", "core2") for at, id_ in enumerate(ids)
    )
    assert (len(fan.heads), len(fan.tails), fan.is_core) == (19_999, 1, True)
    assert len(fan.walk(fan.heads)) == 20_000


def test_the_order_of_a_long_log_is_hashed_in_blocks(monkeypatch):
    monkeypatch.setattr("strandline.dialects.ipfslog.reduce.state.ORDER_BLOCK", 4)
    state = reduce_log(DAG.values(), LogConfiguration("keyvalue"))
    assert (len(state.order_blocks), len(state.document_groups)) == (3 * 32, 256 * 32)
    assert state.order_blocks == b"".join(
        hashlib.sha256(b"".join(state.values[start : start + 4])).digest() for start in (0, 4, 8)
    )
    short = reduce_log([DAG[name] for name in ("a1", "a2", "a3", "a4")], LogConfiguration("keyvalue"))
    assert (short.order_blocks, short.document_groups) == (None, None)
