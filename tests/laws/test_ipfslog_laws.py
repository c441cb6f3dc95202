"""Laws of logs on random DAGs, honest and lying, of random payloads and of mutated bytes."""

import functools
import json
import struct
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from strandline.core.encoding.strict_json import strict_json
from strandline.dialects.ipfslog.author import Log, sign_entry, to_blocks, to_car, to_json, to_snapshot
from strandline.dialects.ipfslog.codec import (
    address_text,
    dag_cbor,
    js_value,
    parse_cid,
    parse_dag_cbor,
    read_documents,
    signed_cbor,
    sorted_json,
)
from strandline.dialects.ipfslog.reduce import Dag, LogConfiguration, Node, forks, order_key, reduce_log
from strandline.dialects.ipfslog.verify import AcceptedRecords, judge, verify_block, verify_json
from support.ipfslog_cases import AUTHORS, book, dag, entry, who
from support.laws import law

LAW = law(30)
MANY = law(100)
VARIANTS = st.sampled_from(["v1", "v2", "core2"])
TEXTS = st.text('ab19"\\/\n\x01\x7fé\u2028\ufb01😀', max_size=6)
NUMBERS = st.integers(1 - 2**53, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
PAYLOADS = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def node_sets(draw, variants=("v2", "core2")):
    """Nodes of one log: each names some made before it or missing ones, with any clock of a few."""
    variant = draw(st.sampled_from(variants))
    nodes = []
    for number in range(draw(st.integers(0, 9))):
        id_ = bytes([number]) * 32
        parents = draw(st.lists(st.integers(0, number), max_size=3))
        # The greatest index is itself: it stands for a missing parent.
        named = tuple(bytes([parent if parent < number else 99 + number]) * 32 for parent in parents)
        time, key = draw(st.integers(0, 5)), draw(st.sampled_from("ab"))
        nodes.append(Node(id_, time, key, named, f"{draw(st.integers(0, 3))}{number}", variant))
    return nodes


def honest(nodes):
    """The same nodes with times above those of their parents."""
    times, made = {}, []
    for node in nodes:
        time = 1 + max((times.get(parent, 0) for parent in node.next), default=0)
        times[node.record_id] = time
        made.append(Node(node.record_id, time, node.clock_id, node.next, node.cid, node.variant))
    return made


def walked_by_the_letter(nodes, roots):
    """The walk as it is defined, with lists that are sorted at every step: slow, and shares no code with it."""
    held = {node.record_id: node for node in nodes}
    is_core = bool(nodes) and all(node.variant == "core2" for node in nodes)
    heap, seen, level, out = [held[root] for root in roots], set(), [], []
    while heap:
        heap.sort(key=lambda node: (node.clock_time, node.clock_id.encode("utf-16-be"), node.cid))
        node = heap.pop()
        if node in out:
            continue
        out.append(node)
        seen.add(node.record_id)
        parents = set(node.next)
        if is_core:
            parents |= {parent for before in level for parent in before.next}
        level = [held[parent] for parent in parents if parent in held and parent not in seen]
        seen |= {each.record_id for each in level}
        heap += level
    return [node.record_id for node in out]


@MANY
@given(node_sets())
def test_a_walk_is_the_one_that_is_defined(nodes):
    found = Dag(nodes)
    walked = walked_by_the_letter(nodes, found.heads)
    assert found.walk(found.heads) == walked
    keys = {node.record_id: order_key(node) for node in nodes}
    edges = {(id_, parent) for id_, node in found.nodes.items() for parent in node.next if parent in keys}
    inverted = {(id_, parent) for id_, parent in edges if keys[parent] >= keys[id_]}
    assert set(found.inverted()) == inverted
    assert found.mode == ("walk" if inverted else "sort")
    assert list(found.values) == (walked[::-1] if inverted else sorted(keys, key=lambda id_: keys[id_]))


@LAW
@given(node_sets())
def test_both_walks_reversed_are_the_sort_where_no_edge_is_inverted(nodes):
    found = Dag(honest(nodes))
    assert found.mode == "sort"
    assert list(found.values) == list(reversed(found.walk(found.heads)))
    assert [order_key(found.nodes[id_]) for id_ in found.values] == sorted(
        map(order_key, found.nodes.values())
    )


@LAW
@given(st.data(), node_sets())
def test_order_and_repetition_of_a_set_change_nothing(data, nodes):
    again = data.draw(st.permutations(nodes + nodes[:2]))
    one, other = Dag(nodes), Dag(again)
    assert (one.values, one.heads, one.tails, one.missing, one.mode) == (
        other.values, other.heads, other.tails, other.missing, other.mode,
    )  # fmt: skip


@LAW
@given(st.data(), node_sets())
def test_heads_of_a_union_are_heads_of_a_part_and_only_the_empty_log_has_no_tail(data, nodes):
    sides = data.draw(st.lists(st.integers(1, 3), min_size=len(nodes), max_size=len(nodes)))
    a = Dag(node for node, side in zip(nodes, sides, strict=True) if side & 1)
    b = Dag(node for node, side in zip(nodes, sides, strict=True) if side & 2)
    whole = Dag(nodes)
    assert set(whole.heads) <= set(a.heads) | set(b.heads)
    for each in (a, b, whole):
        assert bool(each.tails) == bool(each.heads) == bool(each.nodes)
    partial = {id_ for id_ in whole.nodes if whole.missing_of(id_)}
    assert partial == {id_ for id_ in whole.tails if whole.nodes[id_].next}


@st.composite
def signed_logs(draw):
    """Entries of one log by up to three writers, each over some of those before it, honest or not."""
    variant = draw(VARIANTS)
    made = []
    for number in range(draw(st.integers(1, 5))):
        parents = (
            draw(st.lists(st.sampled_from(made), max_size=2, unique_by=lambda each: each.cid)) if made else []
        )
        name = draw(st.sampled_from(list(AUTHORS.values())))
        payload = {
            "op": draw(st.sampled_from(["PUT", "DEL"])),
            "key": draw(st.sampled_from("xy")),
            "value": number,
        }
        time = draw(st.integers(0, 4))
        made.append(entry(payload, variant, name, time=time, parents=[each.cid for each in parents]))
    return variant, made


@functools.cache
def identities(variant):
    return tuple(who(name, variant).record for name in AUTHORS.values())


def spelled(data, made):
    """One entry in one of the forms a file may have."""
    log = Log(made.log_id, [made])
    forms = [("json", to_snapshot(log)), ("lines", to_blocks([made])), ("car", to_car([made], [made]))]
    value = json.loads(to_json(made))
    cid = parse_cid(made.cid).raw
    forms.append(("lines", json.dumps(value | {"hash": address_text(cid)}, indent=None).encode()))
    forms.append(("json", json.dumps({"more": 1} | value, sort_keys=True, indent=1).encode()))
    return data.draw(st.sampled_from(forms))


@LAW
@given(st.data(), signed_logs())
def test_any_split_order_duplication_and_form_gives_equal_tables(data, log):
    variant, made = log
    files = [spelled(data, each) for each in data.draw(st.permutations(made + made[:1]))]
    if variant == "core2":
        at = data.draw(st.integers(0, len(files)))
        files.insert(at, ("lines", to_blocks([], identities(variant))))
    cuts = sorted({0, len(files), *data.draw(st.lists(st.integers(0, len(files)), max_size=3))})
    held = AcceptedRecords()
    for start, end in pairwise(cuts):
        run = judge([each for form, raw in files[start:end] for each in read_documents(raw, form)], held)
        counts = run.counts
        assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred
        held = run.accepted
    assert held.entries == {each.record_id: each for each in made}
    assert held.waiting == {}
    told = LogConfiguration("keyvalue")
    assert reduce_log(held.entries.values(), told) == reduce_log(made, told)
    assert forks(held.entries.values()) == forks(made)


@LAW
@given(signed_logs(), signed_logs())
def test_merging_is_a_semilattice(one, other):
    a, b = Log("strand", one[1]), Log("strand", other[1])
    both = a.join(b)
    assert both == b.join(a) == both.join(a) == both.join(both)
    assert both.state_hash == b.join(a).state_hash
    assert both.length == len({each.record_id for each in (*a, *b)})
    assert list(both.iterator()) == list(reversed(both.values))


BLOCKS = [dag(variant)["b2"].block for variant in ("v2", "core2")] + [entry("x", "v1").block]


@MANY
@given(st.sampled_from(BLOCKS), st.integers(0, 10**6), st.binary(max_size=2), st.integers(0, 2))
def test_a_mutated_block_is_not_accepted_under_its_new_address(block, at, piece, cut):
    at %= len(block) + 1
    mutated = block[:at] + piece + block[at + cut :]
    if mutated != block:
        assert verify_block(mutated, None, "strict", book()).status != "accepted"


FEW = st.recursive(
    st.sampled_from([None, True, 0, 1, 1.5, "0", "1", "null", "", "[]"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["0", "1", "/"]), inner, max_size=2)
    ),
    max_leaves=2,
)


@MANY
@given(FEW, FEW)
def test_payloads_that_sign_alike_are_one(one, other):
    a, b = js_value(one), js_value(other)
    assert (sorted_json(a) == sorted_json(b)) == (dag_cbor(a) == dag_cbor(b))


@LAW
@given(VARIANTS, PAYLOADS)
def test_an_authored_entry_is_accepted_and_its_json_is_its_block(variant, payload):
    made = sign_entry(who("alice", variant), "strand", payload, time=1, variant=variant)
    verdict = verify_block(made.block, made.cid, "strict", book())
    assert (verdict.status, verdict.entry) == ("accepted", made)
    value = strict_json(to_json(made).encode(), numbers="js")
    assert verify_json(value, "strict", book()).entry == made
    if variant == "core2":
        fields = parse_dag_cbor(made.block).value
        six = {name: fields[name] for name in ("v", "id", "next", "refs", "clock", "payload")}
        assert signed_cbor(made.block, fields) == dag_cbor(six)


@MANY
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_sorted_json_of_a_double_reads_back_as_it(number):
    text = sorted_json(js_value(number))
    assert struct.pack(">d", float(text)) == struct.pack(">d", number + 0.0 if number else 0.0)
    assert strict_json(text.encode(), numbers="js") == js_value(number)


@LAW
@given(st.lists(TEXTS, max_size=5, unique=True))
def test_names_are_sorted_as_javascript_sorts_them(names):
    found = list(json.loads(sorted_json(dict.fromkeys(names, 0))))
    assert found == sorted(names, key=units)


def units(text):
    """The UTF-16 code units of a text, as numbers."""
    raw = text.encode("utf-16-be")
    return struct.unpack(f">{len(raw) // 2}H", raw)


FILES = [
    ("car", to_car([dag("v2")["a1"]], [dag("v2")["a1"], dag("core2")["a1"]], identities("core2")[:1])),
    ("json", to_snapshot(Log("strand", [dag("v2")["a1"], dag("v2")["b1"]]))),
    ("lines", to_blocks([dag("v2")["a1"]]) + to_json(dag("v2")["b1"]).encode()),
]
GENUINE = {each.record_id for variant in ("v2", "core2") for each in dag(variant).values()}


@LAW
@given(st.sampled_from(FILES), st.data())
def test_no_bytes_raise_and_garbled_files_admit_what_is_genuine_alone(file, data):
    form, raw = file
    for _ in range(data.draw(st.integers(1, 3))):
        at, cut = data.draw(st.integers(0, len(raw))), data.draw(st.integers(0, 3))
        raw = raw[:at] + data.draw(st.binary(max_size=3)) + raw[at + cut :]
    for profile in ("strict", "compat"):
        run = judge(read_documents(raw, form), None, profile)
        assert run.accepted.entries.keys() <= GENUINE
        counts = run.counts
        assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred


@MANY
@given(
    st.binary(max_size=40), st.sampled_from(["strict", "compat"]), st.none() | TEXTS | st.binary(max_size=9)
)
def test_whatever_the_bytes_a_verdict_comes_back(block, profile, claimed):
    assert verify_block(block, claimed, profile).status == "rejected"
    for form in ("lines", "json", "car"):
        assert judge(read_documents(block, form), None, profile).accepted.entries == {}
