"""`nodes.json`: the operator's nodes and their connections, parsed strictly; a fault is a usage error."""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, get_args

from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.errors import UsageError
from strandline.core.ids import only_one
from strandline.core.limits import MAX_OPTION_VALUES
from strandline.core.nearest import did_you_mean
from strandline.core.verdict import shown
from strandline.dialects.sdmp.codec.lines import ID_FORMS_IN_WORDS, is_id, profile_of
from strandline.dialects.sdmp.types import Connection, LocalNode, Profile, RecordPolicy

_MAX_NODES_NESTING: Final = 32
_NODES_FORM: Final = (
    '{"nodes":[{"node":F,"user":F,"record":"all","connections":[{"user":F,"nodes":[F,..]}]}]}, '
    f"F being {ID_FORMS_IN_WORDS}"
)


def parse_nodes(raw: bytes, name: str) -> Mapping[str, LocalNode]:
    """Return the local nodes in the file, by fingerprint, in file order; `name` is the file name for messages.

    The file meets these conditions, else the error names file and member:
    - it is one strict JSON object; no object has a member that is not listed here;
    - `nodes` is an array of objects with `node`, `user` and, optionally, `record` (default `all`) and `connections`,
      an array of objects with `user` and `nodes`;
    - every id has the form of the profile of its node;
    - `nodes` lists each node once, and a node lists each peer once and never itself.

    Local nodes may be peers of each other.

    Raises:
        UsageError: `NODES_INVALID`, a condition is not met.
    """
    try:
        value = strict_json(raw, nesting=_MAX_NODES_NESTING, most_values=MAX_OPTION_VALUES)
    except JsonRefused as refused:
        raise UsageError(
            "NODES_INVALID", f"{name} is not strict JSON: {refused.cause}.", f"Its form is {_NODES_FORM}."
        ) from None
    reader = _Reader(name)
    reader.members(value, "", required=("nodes",))
    nodes: dict[str, LocalNode] = {}
    for place, item in reader.items(value["nodes"], "nodes"):
        node = reader.local_node(item, place)
        if node.node in nodes:
            raise reader.wrong(f"{place}.node", f"{node.node} is listed a second time")
        nodes[node.node] = node
    return MappingProxyType(nodes)


def named_local_nodes(option: str, values: Iterable[str], nodes: Collection[str]) -> frozenset[str]:
    """Return the local nodes that an option names: by a fingerprint or its first part, `node:` before it or not.

    Raises:
        UsageError: `NODE_NOT_OWN`, a named node is not in `nodes`; `NAMESPACE_AMBIGUOUS`, several begin so;
            `NODE_TWICE`, a node is named twice.
    """
    named: set[str] = set()
    for value in values:
        given = value.removeprefix("node:")
        fits = (
            [given] if given in nodes else sorted(each for each in nodes if given and each.startswith(given))
        )
        node = only_one(given, fits)
        if node is None:
            raise UsageError(
                "NODE_NOT_OWN",
                f"{option} names {shown(given)}, which is not a local node.",
                "Name a node that the file of --nodes lists.",
            )
        if node in named:
            raise UsageError("NODE_TWICE", f"{option} names {node} twice.", "Name each node once.")
        named.add(node)
    return frozenset(named)


class _Reader:
    """Checks the members of one file; `place` is the path of a value, such as `nodes[0].user`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def wrong(self, place: str, what: str, hint: str = "") -> UsageError:
        where = f"{self._name}, {place}" if place else self._name
        return UsageError("NODES_INVALID", f"{where}: {what}.", f"{hint} Its form is {_NODES_FORM}.".lstrip())

    def members(
        self, value: Any, place: str, *, required: tuple[str, ...], optional: tuple[str, ...] = ()
    ) -> None:
        if not isinstance(value, dict):
            raise self.wrong(place, "an object is expected here")
        known = (*required, *optional)
        for member in value:
            if member not in known:
                at = f"{place}.{shown(member)}".removeprefix(".")
                hint = did_you_mean(member, known)
                raise self.wrong(at, "this member is unknown", hint[0].upper() + hint[1:])
        for member in required:
            if member not in value:
                raise self.wrong(f"{place}.{member}".removeprefix("."), "this member is missing")

    def items(self, value: Any, place: str) -> Iterable[tuple[str, Any]]:
        if not isinstance(value, list):
            raise self.wrong(place, "an array is expected here")
        return [(f"{place}[{index}]", item) for index, item in enumerate(value)]

    def local_node(self, value: Any, place: str) -> LocalNode:
        self.members(value, place, required=("node", "user"), optional=("record", "connections"))
        node = value["node"]
        profile = profile_of(node) if isinstance(node, str) else None
        if profile is None:
            raise self.wrong(f"{place}.node", f"an id is expected here: {ID_FORMS_IN_WORDS}")
        return LocalNode(
            node,
            profile,
            self.id(value["user"], f"{place}.user", profile),
            self.record(value.get("record", "all"), f"{place}.record"),
            self.connections(value.get("connections", []), f"{place}.connections", node, profile),
        )

    def record(self, value: Any, place: str) -> RecordPolicy:
        for policy in get_args(RecordPolicy):
            if value == policy:
                found: RecordPolicy = policy
                return found
        raise self.wrong(place, f"one of {', '.join(get_args(RecordPolicy))} is expected here")

    def connections(self, value: Any, place: str, node: str, profile: Profile) -> tuple[Connection, ...]:
        found = []
        peers: set[str] = set()
        for at, item in self.items(value, place):
            self.members(item, at, required=("user", "nodes"))
            user = self.id(item["user"], f"{at}.user", profile)
            nodes = []
            for peer_at, peer in self.items(item["nodes"], f"{at}.nodes"):
                nodes.append(self.id(peer, peer_at, profile))
                if peer == node:
                    raise self.wrong(peer_at, f"{node} is its own peer")
                if peer in peers:
                    raise self.wrong(peer_at, f"{peer} is a peer of this node already")
                peers.add(peer)
            found.append(Connection(user, tuple(nodes)))
        return tuple(found)

    def id(self, value: Any, place: str, profile: Profile) -> str:
        if not isinstance(value, str) or profile_of(value) is None:
            raise self.wrong(place, f"an id is expected here: {ID_FORMS_IN_WORDS}")
        if not is_id(value, profile):
            raise self.wrong(place, f"this id is not of profile {profile}, the profile of its node")
        return value
