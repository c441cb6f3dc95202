"""`nodes.json`: one good file, and a list of named mutations with the member that each error must name."""

import copy
import json

import pytest

from strandline.core.errors import UsageError
from strandline.dialects.sdmp.author import synthetic_id
from strandline.dialects.sdmp.codec import named_local_nodes, parse_nodes
from strandline.dialects.sdmp.types import Connection, LocalNode

X, P, Q, U, V, W = (synthetic_id("node", i) for i in range(6))
OTHER = synthetic_id("node", 0, "0.12")
GOOD = {
    "nodes": [
        {
            "node": X,
            "user": U,
            "record": "connections",
            "connections": [{"user": V, "nodes": [Q, P]}, {"user": W, "nodes": []}],
        },
        {"node": P, "user": U, "connections": [{"user": U, "nodes": [X]}]},
        {"node": OTHER, "user": OTHER},
    ]
}


def parsed(value):
    return parse_nodes(json.dumps(value).encode(), "my/nodes.json")


def test_a_file_of_own_nodes_is_read_whole():
    own = parsed(GOOD)
    assert list(own) == [X, P, OTHER]
    assert own[X] == LocalNode(X, "0.9", U, "connections", (Connection(V, (Q, P)), Connection(W, ())))
    assert (own[P].record, own[OTHER].connections, own[OTHER].profile) == ("all", (), "0.12")


def test_the_peers_of_a_node_are_those_of_all_its_connections_in_byte_order():
    own = parsed(GOOD)
    assert list(own[X].peers.items()) == sorted([(Q, V), (P, V)])
    assert list(own[OTHER].peers) == []


def test_only_a_node_that_records_its_connections_is_choosy_about_authors():
    own = parsed(GOOD)
    assert own[X].authors == {X, U, V, W, P, Q}
    assert own[P].authors is None


def changed(change):
    value = copy.deepcopy(GOOD)
    change(value)
    return value


def put(place, value):
    def change(document):
        at = document
        for step in place[:-1]:
            at = at[step]
        at[place[-1]] = value

    return change


def cut(*place):
    def change(document):
        at = document
        for step in place[:-1]:
            at = at[step]
        del at[place[-1]]

    return change


FIRST = ("nodes", 0)
TIES = (*FIRST, "connections", 0)
# name: (change, the member that the message names, words of the message or of the next step)
MUTATIONS = {
    "unknown member at the top": (put(("nods",), []), "nods", "Did you mean nodes?"),
    "unknown member of a node": (put((*FIRST, "recrod"), "all"), "nodes[0].recrod", "Did you mean record?"),
    "unknown member of a connection": (put((*TIES, "node"), P), "nodes[0].connections[0].node", "unknown"),
    "no list of nodes": (cut("nodes"), "nodes", "missing"),
    "no node": (cut(*FIRST, "node"), "nodes[0].node", "missing"),
    "no user": (cut(*FIRST, "user"), "nodes[0].user", "missing"),
    "no nodes of a connection": (cut(*TIES, "nodes"), "nodes[0].connections[0].nodes", "missing"),
    "nodes that are no array": (put(("nodes",), {}), "nodes", "array"),
    "a node that is no object": (put(("nodes", 1), X), "nodes[1]", "object"),
    "a connection that is no object": (put(TIES, V), "nodes[0].connections[0]", "object"),
    "a node that is no text": (put((*FIRST, "node"), 7), "nodes[0].node", "64 characters"),
    "a node in upper case": (put((*FIRST, "node"), X.upper()), "nodes[0].node", "64 characters"),
    "a node with a newline": (put((*FIRST, "node"), X + "\n"), "nodes[0].node", "64 characters"),
    "a user of no form": (put((*FIRST, "user"), X[1:]), "nodes[0].user", "64 characters"),
    "a peer of no form": (put((*TIES, "nodes"), [P, None]), "nodes[0].connections[0].nodes[1]", "64 char"),
    "a user of another profile": (put((*FIRST, "user"), OTHER), "nodes[0].user", "profile 0.9"),
    "a connection of another profile": (put((*TIES, "user"), OTHER), "nodes[0].connections[0].user", "profile"),
    "a peer of another profile": (put((*TIES, "nodes"), [OTHER]), "nodes[0].connections[0].nodes[0]", "profile"),
    "a policy that is none": (put((*FIRST, "record"), "most"), "nodes[0].record", "all, connections"),
    "a policy that is no text": (put((*FIRST, "record"), None), "nodes[0].record", "all, connections"),
    "a node that is its own peer": (put((*TIES, "nodes"), [Q, X]), "nodes[0].connections[0].nodes[1]", "own peer"),
    "a node twice": (put(("nodes", 1), {"node": X, "user": U}), "nodes[1].node", "second time"),
    "a peer twice in a connection": (put((*TIES, "nodes"), [Q, Q]), "nodes[0].connections[0].nodes[1]", "already"),
    "a peer in two connections": (
        put((*FIRST, "connections", 1, "nodes"), [P]), "nodes[0].connections[1].nodes[0]", "already",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_wrong_file_is_refused_with_its_name_and_the_member(name):
    change, member, words = MUTATIONS[name]
    with pytest.raises(UsageError) as refused:
        parsed(changed(change))
    error = refused.value
    assert (error.code, error.exit_code) == ("NODES_INVALID", 2)
    assert error.message.startswith(f"my/nodes.json, {member}: ")
    assert words in str(error)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "syntax"),
        (b'{"nodes":[],"nodes":[]}', "duplicate_key"),
        (b'{"nodes":[]} x', "trailing"),
        (b"\xef\xbb\xbf{}", "bom"),
        (b"[" * 40 + b"]" * 40, "depth"),
        (b"[]", "an object is expected here"),
    ],
)
def test_what_is_no_object_of_strict_json_is_refused_with_the_file_name(raw, words):
    with pytest.raises(UsageError, match=r"nodes\.json") as refused:
        parse_nodes(raw, "nodes.json")
    assert words in refused.value.message


def test_an_option_names_own_nodes_each_once():
    own = parsed(GOOD)
    assert named_local_nodes("--restore", [], own) == set()
    assert named_local_nodes("--restore", [P, f"node:{X}"], own) == {P, X}
    assert named_local_nodes("--restore", [P[:9], f"node:{X[:9]}"], own) == {P, X}


def test_the_first_part_of_two_nodes_names_none_of_them():
    nodes = ["ab1", "ab2", "ab"]
    with pytest.raises(UsageError, match="ab1 and ab2") as refused:
        named_local_nodes("--restore", ["a"], nodes[:2])
    assert refused.value.code == "NAMESPACE_AMBIGUOUS"
    # A whole name is that node, whatever others begin with it.
    assert named_local_nodes("--restore", ["ab"], nodes) == {"ab"}


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([Q], "NODE_NOT_OWN"),
        (["group:" + X], "NODE_NOT_OWN"),
        ([""], "NODE_NOT_OWN"),
        (["node:"], "NODE_NOT_OWN"),
        ([X, f"node:{X}"], "NODE_TWICE"),
        ([X, X[:9]], "NODE_TWICE"),
    ],
)
def test_an_option_that_names_a_foreign_node_or_one_twice_is_wrong_usage(values, code):
    with pytest.raises(UsageError, match="--restore names") as refused:
        named_local_nodes("--restore", values, parsed(GOOD))
    assert refused.value.code == code
