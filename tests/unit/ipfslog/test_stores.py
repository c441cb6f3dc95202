"""Stores: what payloads say to them, and what they leave alone; store and writers as a log commits to them."""

import dataclasses
import hashlib
import json

import pytest

from strandline.core.errors import UsageError
from strandline.dialects.ipfslog.author import Log
from strandline.dialects.ipfslog.codec import canonical_cid, cid_text, dag_cbor, manifest_kind, manifest_of
from strandline.dialects.ipfslog.reduce import (
    LogConfiguration,
    Op,
    configuration_of,
    counter,
    document_rows,
    feed,
    list_digest,
    ops_of,
    parse_log_config,
    payload_json,
    reduce_log,
    value_json,
)
from strandline.dialects.ipfslog.reduce.configuration import Whence
from strandline.dialects.ipfslog.types import record_id
from support.ipfslog_cases import dag, entry, who

BASE = entry(0)
TARGET = BASE.cid
V0_TARGET = entry(0, "v0").cid


def with_payload(payload, variant="v2", number=0):
    """An entry as a reducer sees it: its signature plays no part there."""
    made = dataclasses.replace(BASE, payload=payload, variant=variant, record_id=bytes([number]) * 32)
    return dataclasses.replace(made, cid=canonical_cid(made.record_id))


OPS = {
    "no map": ([1], []),
    "no op": ({"value": 1}, []),
    "another op": ({"op": "put", "key": "a", "value": 1}, []),
    "op a list": ({"op": ["PUT"], "key": "a"}, []),
    "ADD": ({"op": "ADD", "key": None, "value": {"b": 1.5}}, [("ADD", None, '{"b":1.5}', 0, None)]),
    "ADD of nothing": ({"op": "ADD"}, [("ADD", None, None, 0, None)]),
    "PUT": ({"op": "PUT", "key": "a", "value": None}, [("PUT", "a", "null", 0, None)]),
    "PUT without value": ({"op": "PUT", "key": "a"}, [("PUT", "a", None, 0, None)]),
    "PUT without key": ({"op": "PUT", "value": 1}, [("PUT", "undefined", "1", 0, None)]),
    "PUT with key null": ({"op": "PUT", "key": None, "value": 1}, [("PUT", "null", "1", 0, None)]),
    "PUT with a number as key": ({"op": "PUT", "key": 1e21, "value": 1}, [("PUT", "1e+21", "1", 0, None)]),
    "PUT with true as key": ({"op": "PUT", "key": True, "value": 1}, [("PUT", "true", "1", 0, None)]),
    "PUT with a map as key": ({"op": "PUT", "key": {}, "value": 1}, []),
    "PUT with bytes as key": ({"op": "PUT", "key": b"a", "value": 1}, []),
    "PUT __proto__": ({"op": "PUT", "key": "__proto__", "value": 1}, [("PUT", "__proto__", "1", 0, None)]),
    "DEL": ({"op": "DEL", "key": "a"}, [("DEL", "a", None, 0, None)]),
    "DEL of an address": (
        {"op": "DEL", "key": None, "value": TARGET},
        [("DEL", "null", f'"{TARGET}"', 0, TARGET)],
    ),
    "DEL of a v0 address": (
        {"op": "DEL", "key": [], "value": V0_TARGET},
        [("DEL", None, f'"{V0_TARGET}"', 0, V0_TARGET)],
    ),
    "DEL of an address in base16": (
        {"op": "DEL", "key": [], "value": "f01711220" + "00" * 32},
        [],
    ),
    "PUTALL": (
        {"op": "PUTALL", "docs": [{"key": "a", "value": 1}, 2, {"key": "b"}]},
        [("PUTALL", "a", "1", 0, None), ("PUTALL", "b", None, 2, None)],
    ),
    "PUTALL of no list": ({"op": "PUTALL", "docs": {}}, []),
    "COUNTER": (
        {"op": "COUNTER", "value": {"id": "x", "counters": {"a": 2, "b": 0.5, "c": "1", "d": True, "e": -1}}},
        [("COUNTER", "a", "2", 0, None), ("COUNTER", "b", "0.5", 0, None), ("COUNTER", "e", "-1", 0, None)],
    ),
    "COUNTER of no map": ({"op": "COUNTER", "value": {"counters": [1]}}, []),
    "COUNTER without value": ({"op": "COUNTER"}, []),
}


@pytest.mark.parametrize("name", OPS)
def test_a_payload_has_its_effects(name):
    payload, expected = OPS[name]
    assert ops_of(with_payload(payload)) == tuple(Op(*each) for each in expected)


def test_core_has_no_putall_and_counts_no_integer_beyond_doubles():
    docs = {"op": "PUTALL", "docs": [{"key": "a", "value": 1}]}
    assert [len(ops_of(with_payload(docs, variant))) for variant in ("v0", "v1", "v2", "core2")] == [
        1,
        1,
        1,
        0,
    ]
    counts = {"op": "COUNTER", "value": {"counters": {"a": 2**60, "b": 2**53 - 1}}}
    assert [op.op_key for op in ops_of(with_payload(counts, "core2"))] == ["b"]


def test_bytes_and_links_have_a_form_in_json_columns():
    made = with_payload({"value": [b"\x00\xff", 2**64 - 1]}, "core2")
    assert value_json(made) == '[{"/":{"bytes":"AP8"}},18446744073709551615]'
    assert payload_json(made) == '{"value":' + value_json(made) + "}"
    assert value_json(with_payload("x")) is None
    assert payload_json(with_payload("x")) == '"x"'


def entries(*payloads, variant="v2"):
    return [with_payload(payload, variant, number) for number, payload in enumerate(payloads)]


def effects(*payloads, variant="v2"):
    return [(each.record_id, ops_of(each)) for each in entries(*payloads, variant=variant)]


def rows(store, *payloads, variant="v2"):
    found = document_rows(store, effects(*payloads, variant=variant))
    return {key: (row.record_id[0], row.item, row.deleted, row.value_json) for key, row in found.items()}


def put(key, value):
    return {"op": "PUT", "key": key, "value": value}


def test_of_a_key_the_value_of_greatest_position_counts():
    told = (put("a", 1), put("b", 1), {"op": "DEL", "key": "a"}, put("b", 2), {"op": "other", "key": "b"})
    assert rows("keyvalue", *told) == {"a": (2, 0, True, None), "b": (3, 0, False, "2")}
    assert rows("documents", *told) == rows("keyvalue", *told)


def test_a_put_after_a_delete_brings_the_key_back():
    assert rows("keyvalue", put("a", 1), {"op": "DEL", "key": "a", "value": 5}, put("a", 3)) == {
        "a": (2, 0, False, "3")
    }


def test_of_equal_keys_in_one_entry_the_first_counts_and_only_documents_know_putall():
    docs = {
        "op": "PUTALL",
        "docs": [{"key": "a", "value": 1}, {"key": "a", "value": 2}, {"key": "b", "value": 3}],
    }
    assert rows("documents", put("a", 0), docs) == {"a": (1, 0, False, "1"), "b": (1, 2, False, "3")}
    assert rows("keyvalue", put("a", 0), docs) == {"a": (0, 0, False, "0")}


def count(**counters):
    return {"op": "COUNTER", "value": {"id": "ignored", "counters": counters}}


def test_a_counter_keeps_the_greatest_count_of_each_id():
    found = document_rows(
        "counter", effects(count(a=3, b=-2), count(a=2, b=0), count(a=3), count(c=0.5, d=-3))
    )
    assert {key: (row.record_id[0], row.value_json) for key, row in found.items()} == {
        "a": (2, "3"), "b": (1, "0"), "c": (3, "0.5"), "d": (3, "0"),
    }  # fmt: skip
    assert counter(found.values()) == 3.5
    assert counter([]) == 0.0
    tiny = document_rows("counter", effects(count(a=1e16, b=1, c=1)))
    assert counter(tiny.values()) == 1e16 + 2


def test_a_feed_shows_what_no_later_entry_deletes():
    added = entries({"op": "ADD", "value": 1}, {"op": "ADD", "value": 2})
    delete = with_payload({"op": "DEL", "value": added[0].cid}, number=2)
    again = with_payload({"op": "DEL", "value": cid_text(b"\x01\x71\x12\x20" + bytes([9]) * 32)}, number=3)
    later = with_payload({"op": "ADD", "value": 3}, number=9)
    assert feed([*added, delete, again]) == [added[1].record_id]
    assert feed([delete, *added, again, later]) == [each.record_id for each in (*added, later)]


def test_stores_without_rows_have_no_documents():
    for store in ("none", "eventlog", "feed"):
        state = reduce_log(dag("v2").values(), LogConfiguration(store))
        assert (state.documents, state.document_groups) == (None, None)
    empty = reduce_log([entry("x")], LogConfiguration("keyvalue"))
    assert empty.documents == ()
    assert empty.state_hash != reduce_log([entry("x")]).state_hash


def test_a_key_on_the_write_list_writes():
    made = dag("v2")
    key = LogConfiguration("none", ("key:" + who("bob").public_key,))
    assert reduce_log(made.values(), key).count == 3
    assert reduce_log(made.values(), LogConfiguration("none", (who("bob").public_key,))).count == 0
    assert reduce_log(made.values(), LogConfiguration("none", ())).record_count == 9


class Text(str):
    """A text that counts with how many others it was compared."""

    __slots__ = ()
    __hash__ = str.__hash__
    compared = 0

    def __eq__(self, other):
        Text.compared += 1
        return str.__eq__(self, other)


def test_an_entry_is_compared_with_no_whole_write_list():
    made = dag("v2")
    config = LogConfiguration("none", tuple(Text(number) for number in range(1_000)))
    Text.compared = 0
    assert not any(config.may_write(each) for each in made.values())
    assert Text.compared < 100


CONFIG = {"logs": [{"id": "a", "store": "events", "write": ["y", "x", "x"]}, {"id": "b", "store": "counter"}]}


def test_a_configuration_names_stores_and_writers_by_log():
    found = parse_log_config(json.dumps(CONFIG).encode(), "logs.json")
    assert found["a"] == LogConfiguration("eventlog", ("x", "y"), "config")
    assert found["b"] == LogConfiguration("counter", ("*",), "config")
    assert configuration_of("a", found, []) is found["a"]
    assert configuration_of("c", found, []) == LogConfiguration()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "syntax"),
        ("[]", "logs"),
        ('{"logs":{}}', "logs"),
        ('{"logs":[],"x":1}', "logs"),
        ('{"logs":[1]}', "logs[0]"),
        ('{"logs":[{"id":"a"}]}', "logs[0]"),
        ('{"logs":[{"id":"a","store":"feed","x":1}]}', "logs[0]"),
        ('{"logs":[{"id":"","store":"feed"}]}', "logs[0].id"),
        ('{"logs":[{"id":1,"store":"feed"}]}', "logs[0].id"),
        ('{"logs":[{"id":"a","store":"table"}]}', "logs[0].store"),
        ('{"logs":[{"id":"a","store":[]}]}', "logs[0].store"),
        ('{"logs":[{"id":"a","store":"feed","write":"*"}]}', "logs[0].write"),
        ('{"logs":[{"id":"a","store":"feed","write":[1]}]}', "logs[0].write"),
        ('{"logs":[{"id":"a","store":"feed"},{"id":"a","store":"feed"}]}', "logs[1].id"),
    ],
)
def test_an_ill_formed_configuration_is_wrong_usage_that_names_file_and_member(text, named):
    with pytest.raises(UsageError) as wrong:
        parse_log_config(text.encode(), "logs.json")
    assert wrong.value.code == "LOG_CONFIG_INVALID"
    assert "logs.json" in str(wrong.value)
    assert named in wrong.value.message


def manifest(value):
    return manifest_of(manifest_kind(value), value, dag_cbor(value))


def cid(made):
    return canonical_cid(made.record_id)


LIST = manifest({"type": "ipfs", "write": ["b", "a"]})
LEGACY = manifest({"admin": [], "write": ["04aa"], "read": []})
OTHER_RIGHTS = manifest({"type": "orbitdb", "params": {"address": cid(LIST)}})


def controller(made, type_="ipfs"):
    return manifest({"type": type_, "params": {"address": "/ipfs/" + cid(made)}})


def database(access, store="keyvalue"):
    return manifest({"name": "n", "type": store, "accessController": access})


def of(chain, *held, path=""):
    return configuration_of(f"/orbitdb/{cid(chain)}{path}", {}, [chain, *held])


def digests(*manifests):
    return tuple(each.record_id for each in manifests)


def test_a_log_id_commits_to_store_and_writers():
    direct = database("/ipfs/" + cid(LIST))
    expected = LogConfiguration("keyvalue", ("a", "b"), "manifest", digests(direct, LIST))
    assert of(direct, LIST) == of(direct, LIST, path="/name/more") == expected
    bare = database(cid(LIST), "docstore")
    assert of(bare, LIST) == LogConfiguration("documents", ("a", "b"), "manifest", digests(bare, LIST))
    for type_, rights in (("ipfs", LIST), ("legacy-ipfs", LEGACY)):
        by = controller(rights, type_)
        chain = database(cid(by), "counter")
        assert of(chain, by, rights) == LogConfiguration(
            "counter", rights.write, "manifest", digests(chain, by, rights)
        )
    assert LEGACY.write == ("key:04aa",)


def test_a_state_names_the_manifest_of_a_long_list_and_no_writer():
    few, many = ("a", "b"), tuple(sorted(f"writer {number}" for number in range(400)))
    by_manifest = LogConfiguration("feed", few, "manifest", (b"d" * 32, b"l" * 32))
    assert by_manifest.as_json == '{"store":"feed","whence":"manifest","write":["a","b"]}'
    named = json.dumps(
        {"store": "feed", "whence": "manifest", "write_list": (b"l" * 32).hex()}, separators=(",", ":")
    )
    assert dataclasses.replace(by_manifest, write=many).as_json == named
    # What is exactly as long as may be stated is.
    rest = 4_096 - len(dataclasses.replace(by_manifest, write=("",)).as_json)
    assert len(dataclasses.replace(by_manifest, write=("w" * rest,)).as_json) == 4_096
    assert dataclasses.replace(by_manifest, write=("w" * (rest + 1),)).as_json == named
    # No manifest has the list of a file or of a snapshot.
    for whence in ("config", "snapshot"):
        assert json.loads(LogConfiguration("feed", many, whence).as_json)["write"] == list(many)


def test_a_write_list_has_one_digest_in_any_order():
    expected = hashlib.sha256("2:é1:b".encode()).digest()
    assert list_digest(["b", "é", "b"]) == hashlib.sha256("1:b2:é".encode()).digest() != expected
    assert list_digest(["ab"]) != list_digest(["a", "b"])
    assert list_digest([]) == hashlib.sha256(b"").digest()


def test_rights_that_change_are_no_list():
    chain = database("/ipfs/" + cid(OTHER_RIGHTS))
    assert of(chain, OTHER_RIGHTS, LIST) == LogConfiguration(
        "keyvalue", ("*",), "mutable", digests(chain, OTHER_RIGHTS)
    )
    named = database("/orbitdb/" + cid(LIST))
    assert of(named) == LogConfiguration("keyvalue", ("*",), "mutable", digests(named))


def test_a_chain_that_is_not_held_leaves_the_log_open_and_says_what_it_waits_for():
    chain = database("/ipfs/" + cid(LIST))
    assert configuration_of(f"/orbitdb/{cid(chain)}", {}, []) == LogConfiguration(depends_on=digests(chain))
    assert of(chain) == LogConfiguration(depends_on=digests(chain, LIST))
    by = controller(LIST)
    deep = database(cid(by))
    assert of(deep, by) == LogConfiguration(depends_on=digests(deep, by, LIST))
    circle = database(cid(chain))
    assert of(circle, chain) == LogConfiguration(depends_on=digests(circle, chain))
    twice = database(cid(controller(by)))
    assert of(twice, controller(by), by, LIST).whence == "none"
    assert of(LIST) == LogConfiguration(depends_on=digests(LIST))


@pytest.mark.parametrize(
    "log_id", ["x", "/orbitdb/", "/orbitdb/x", "/orbitdb", "orbitdb/" + TARGET, "/ipfs/" + TARGET]
)
def test_another_id_commits_to_nothing(log_id):
    assert configuration_of(log_id, {}, [LIST]) == LogConfiguration()


def test_a_database_of_an_unknown_type_commits_to_nothing():
    chain = database(cid(LIST), "keyvalue-indexed")
    assert of(chain, LIST) == LogConfiguration(depends_on=digests(chain, LIST))


def test_the_words_for_where_a_configuration_comes_from_are_all_used():
    assert set(Whence.__args__) == {"config", "manifest", "mutable", "none", "snapshot"}
    assert record_id(LIST.block) == LIST.record_id
    assert Log("x").reduce().count == 0


@pytest.mark.parametrize("type_", ["orbitdb", "contract", "IPFS", "ipfs2", ""])
def test_only_controllers_that_never_change_name_a_list(type_):
    by = controller(LIST, type_)
    chain = database(cid(by))
    assert of(chain, by, LIST) == LogConfiguration("keyvalue", ("*",), "mutable", digests(chain, by))
