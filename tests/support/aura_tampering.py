"""Named changes of valid facts in JSON, each with the code of the first member that is no longer right."""

import copy
import json

from strandline.core.encoding.strict_json import NumberToken
from strandline.dialects.aura.codec import to_json
from support.aura_cases import attested, facts, first_context

ABSENT = object()
A0 = "content.AttestedOp"
OP = f"{A0}.op"
LEAF = f"{OP}.op.AddLeaf.leaf"


def value_of(fact):
    """A fact as a JSON value."""
    return json.loads(to_json(fact))


def changed(value, path, new):
    """The value with another member at the path, or without it; a member named `!name` is added beside the others."""
    value = copy.deepcopy(value)
    *way, last = path.split(".")
    place = value
    for name in way:
        place = place[int(name) if isinstance(place, list) else name]
    if new is ABSENT:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = new
    return value


def context_fact(variant):
    """A fact of the first context, attested by one authority."""
    return attested(first_context()[variant], "u")


def subjects():
    """Valid JSON facts by name: what is changed."""
    made = {name: value_of(facts()[name]) for name in ("G", "A0", "P", "Rp", "Kp")}
    return made | {variant: value_of(context_fact(variant)) for variant in first_context()}


RANGE = {"earliest_ms": 1, "latest_ms": 2, "confidence": "Low"}
PAIR = ["01" * 32, "02" * 32]
SNAPSHOT = {"sequence": 1, "state_hash": "00" * 32, "superseded_facts": [PAIR]}
ATTEST = {"authority": "00" * 16, "commitment": "00" * 32, "sig": "00" * 64}


def attestations(count):
    return [
        {"authority": f"{number:08x}-0000-0000-0000-000000000000", "commitment": "00" * 32, "sig": "00" * 64}
        for number in range(count)
    ]


TIME = "timestamp"
CAPABILITY = "content.Relational.Capability"
SHAPES = [
    # whole facts
    ("A0", "extra", 1, "FIELD_UNKNOWN"),
    ("A0", "order", ABSENT, "FIELD_MISSING"),
    ("A0", "namespace", ABSENT, "FIELD_MISSING"),
    ("A0", "timestamp", ABSENT, "FIELD_MISSING"),
    ("A0", "content", ABSENT, "FIELD_MISSING"),
    ("A0", "attest", None, "TYPE_INVALID"),
    ("A0", "attest", {}, "TYPE_INVALID"),
    ("A0", "attest", [1], "TYPE_INVALID"),
    ("A0", "attest", [{}], "FIELD_MISSING"),
    ("A0", "attest", attestations(65), "LENGTH_INVALID"),
    ("A0", "attest", attestations(1) * 2, "LIST_DUPLICATE"),
    # namespaces
    ("A0", "namespace", "authority:" + "00" * 16, "TYPE_INVALID"),
    ("A0", "namespace", "group:d21eb924-5a21-bff8-b6f5-465be2308d99", "TYPE_INVALID"),
    ("A0", "namespace", "Authority:d21eb924-5a21-bff8-b6f5-465be2308d99", "TYPE_INVALID"),
    ("A0", "namespace", "authority:{d21eb924-5a21-bff8-b6f5-465be2308d99}", "TYPE_INVALID"),
    ("A0", "namespace", "authority:d21eb924-5a21-bff8-b6f5-465be2308d99\n", "TYPE_INVALID"),
    ("A0", "namespace", {}, "VARIANT_UNKNOWN"),
    ("A0", "namespace", {"Account": "d21eb924-5a21-bff8-b6f5-465be2308d99"}, "VARIANT_UNKNOWN"),
    ("A0", "namespace", 7, "TYPE_INVALID"),
    # bytes
    ("A0", "order", "02" * 31, "LENGTH_INVALID"),
    ("A0", "order", "02" * 33, "LENGTH_INVALID"),
    ("A0", "order", "0" * 63, "TYPE_INVALID"),
    ("A0", "order", "zz" * 32, "TYPE_INVALID"),
    ("A0", "order", "02 " * 32, "TYPE_INVALID"),
    ("A0", "order", "0x" + "02" * 32, "TYPE_INVALID"),
    ("A0", "order", "０２" * 32, "TYPE_INVALID"),
    ("A0", "order", None, "TYPE_INVALID"),
    ("A0", "order", [2] * 31, "LENGTH_INVALID"),
    ("A0", "order", [2] * 31 + [256], "INT_RANGE"),
    ("A0", "order", [2] * 31 + [-1], "INT_RANGE"),
    ("A0", "order", [2] * 31 + ["2"], "TYPE_INVALID"),
    ("A0", "order", [2] * 31 + [True], "TYPE_INVALID"),
    ("A0", "order", [2] * 31 + [NumberToken("2.0")], "TYPE_INVALID"),
    ("A0", f"{LEAF}.public_key", "", "LENGTH_INVALID"),
    ("A0", f"{LEAF}.public_key", "11" * 65, "LENGTH_INVALID"),
    ("A0", f"{LEAF}.meta", "11" * 257, "LENGTH_INVALID"),
    ("A0", f"{A0}.agg_sig", "00" * 63, "LENGTH_INVALID"),
    ("A0", f"{LEAF}.device_id", "d0" * 16, "TYPE_INVALID"),
    ("A0", f"{LEAF}.device_id", [0xD0] * 16, "TYPE_INVALID"),
    # numbers
    ("A0", f"{LEAF}.leaf_id", 2**32, "INT_RANGE"),
    ("A0", f"{LEAF}.leaf_id", -1, "INT_RANGE"),
    ("A0", f"{LEAF}.leaf_id", str(2**32), "INT_RANGE"),
    ("A0", f"{LEAF}.leaf_id", "9" * 5000, "INT_RANGE"),
    ("A0", f"{LEAF}.leaf_id", "-1", "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", "00", "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", "+1", "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", " 1", "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", "1\n", "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", "١", "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", "", "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", True, "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", None, "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", NumberToken("1.0"), "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", NumberToken("-0"), "TYPE_INVALID"),
    ("A0", f"{LEAF}.leaf_id", NumberToken("1e3"), "TYPE_INVALID"),
    ("A0", f"{A0}.signer_count", 0, "INT_RANGE"),
    ("A0", f"{A0}.signer_count", 2**16, "INT_RANGE"),
    ("A0", f"{OP}.parent_epoch", 2**64, "INT_RANGE"),
    ("A0", f"{OP}.version", 2**16, "INT_RANGE"),
    ("G", f"{OP}.op.Genesis.suite", 256, "INT_RANGE"),
    # variants
    ("A0", "content", {}, "VARIANT_UNKNOWN"),
    ("A0", "content", {"AttestedOp": {}, "Relational": {}}, "VARIANT_UNKNOWN"),
    ("A0", "content", {"AmpTransition": {}}, "VARIANT_UNKNOWN"),
    ("A0", "content", "AttestedOp", "TYPE_INVALID"),
    ("A0", "content", [], "TYPE_INVALID"),
    ("A0", f"{OP}.op", {"MoveLeaf": {}}, "VARIANT_UNKNOWN"),
    ("A0", f"{LEAF}.role", "device", "VARIANT_UNKNOWN"),
    ("A0", f"{LEAF}.role", 0, "TYPE_INVALID"),
    ("P", f"{OP}.op.ChangePolicy.new_policy", "None", "VARIANT_UNKNOWN"),
    ("P", f"{OP}.op.ChangePolicy.new_policy", {"Some": {}}, "VARIANT_UNKNOWN"),
    ("P", f"{OP}.op.ChangePolicy.new_policy", 1, "TYPE_INVALID"),
    ("P", f"{OP}.op.ChangePolicy.new_policy", {"Threshold": {"m": 1}}, "FIELD_MISSING"),
    ("A0", "content", {"Relational": {"AmpTransition": {}}}, "VARIANT_UNKNOWN"),
    # unknown members come before all others, at any depth
    ("A0", f"{LEAF}.label", "x", "FIELD_UNKNOWN"),
    ("A0", LEAF, {"label": "x"}, "FIELD_UNKNOWN"),
    ("A0", LEAF, {}, "FIELD_MISSING"),
    ("A0", f"{A0}.witnesses", [], "FIELD_UNKNOWN"),
    ("A0", f"{OP}.agreement", {}, "FIELD_UNKNOWN"),
    ("A0", f"{A0}.tree_op", {}, "OP_LAYER2"),
    ("A0", A0, {"tree_op": {}, "signature": [], "new_commitment": 1}, "OP_LAYER2"),
    ("A0", f"{A0}.witness_threshold", 1, "OP_LAYER2"),
    # times
    ("A0", TIME, {"PhysicalClock": {"ts_ms": 1, "uncertainty": -1}}, "INT_RANGE"),
    ("A0", TIME, {"PhysicalClock": {"uncertainty": 1}}, "FIELD_MISSING"),
    ("A0", TIME, {"Range": RANGE | {"earliest_ms": 3}}, "TIME_RANGE_INVERTED"),
    ("A0", TIME, {"Range": RANGE | {"confidence": "low"}}, "VARIANT_UNKNOWN"),
    ("A0", TIME, {"LogicalClock": {"lamport": 1}}, "FIELD_MISSING"),
    ("A0", TIME, {"LogicalClock": {"lamport": 1, "vector": [["00" * 16, 1]]}}, "TYPE_INVALID"),
    ("A0", TIME, {"LogicalClock": {"lamport": 1, "vector": [[]]}}, "LENGTH_INVALID"),
    ("A0", TIME, {"LogicalClock": {"lamport": 1, "vector": {"Single": {"counter": 1}}}}, "FIELD_MISSING"),
    ("A0", TIME, {"LogicalClock": {"lamport": 1, "vector": {"Multiple": []}}}, "TYPE_INVALID"),
    ("A0", TIME, {"LogicalClock": {"lamport": 1, "vector": {"Third": {}}}}, "TYPE_INVALID"),
    ("A0", TIME, {"Lamport": 1}, "VARIANT_UNKNOWN"),
    # lists
    ("Rp", f"{OP}.op.RotateEpoch.affected", [1, 1], "LIST_DUPLICATE"),
    ("Rp", f"{OP}.op.RotateEpoch.affected", ["x"], "TYPE_INVALID"),
    ("ContextGenesis", "content.Relational.ContextGenesis.members", [], "LENGTH_INVALID"),
    ("A0", "content", {"Snapshot": SNAPSHOT | {"superseded_facts": [PAIR, PAIR]}}, "LIST_DUPLICATE"),
    ("A0", "content", {"Snapshot": SNAPSHOT | {"superseded_facts": ["01" * 32]}}, "SNAPSHOT_UNBOUND"),
    ("A0", "content", {"Snapshot": SNAPSHOT | {"superseded_facts": [[1] * 32]}}, "SNAPSHOT_UNBOUND"),
    ("A0", "content", {"Snapshot": SNAPSHOT | {"superseded_facts": [[1] * 31]}}, "LENGTH_INVALID"),
    ("A0", "content", {"Snapshot": SNAPSHOT | {"superseded_facts": ["01"]}}, "TYPE_INVALID"),
    ("A0", "content", {"Snapshot": SNAPSHOT | {"superseded_facts": [[PAIR[0], "02"]]}}, "LENGTH_INVALID"),
    ("Capability", f"{CAPABILITY}.actions", ["a", "a"], "LIST_DUPLICATE"),
    ("Capability", f"{CAPABILITY}.actions", [str(each) for each in range(257)], "LENGTH_INVALID"),
    ("Capability", f"{CAPABILITY}.actions", ["é" * 33], "LENGTH_INVALID"),
    ("Capability", f"{CAPABILITY}.actions", [1], "TYPE_INVALID"),
    ("Capability", f"{CAPABILITY}.limits", {"é" * 33: 1}, "LENGTH_INVALID"),
    ("Capability", f"{CAPABILITY}.limits", {"a": -1}, "INT_RANGE"),
    ("Capability", f"{CAPABILITY}.limits", {str(each): 1 for each in range(257)}, "LENGTH_INVALID"),
    ("Capability", f"{CAPABILITY}.limits", [], "TYPE_INVALID"),
    ("Generic", "content.Relational.Generic.binding_type", "é" * 65, "LENGTH_INVALID"),
    ("Generic", "content.Relational.Generic.binding_data", "00" * 65537, "LENGTH_INVALID"),
    ("Generic", "content.Relational.Generic.binding_data", [0] * 65537, "LENGTH_INVALID"),
    ("Consensus", "content.Relational.Consensus.threshold_met", 1, "TYPE_INVALID"),
    ("Consensus", "content.Relational.Consensus.threshold_met", "true", "TYPE_INVALID"),
]
