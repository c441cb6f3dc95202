"""What a manifest states is taken only from one exact form."""

import copy
import hashlib
import json

import pytest

from strandline.kernels.manifests import (
    MAX_MANIFEST_BYTES,
    Invalid,
    NotAManifest,
    StatedFile,
    StatedNamespace,
    Statement,
    parse_manifest,
)

HEX = hashlib.sha256(b"").hexdigest()
FILE = {"name": "a.jsonl.gz", "records": 2, "bytes": 16, "sha256": HEX}
PLACE = {"namespace": "node:x", "records": 2, "set_hash": HEX, "heads": ["ff" * 32, "00" * 32]}
GOOD = {"strandline_manifest": 1, "dialect": "sdmp", "files": [FILE], "namespaces": [PLACE]}


def parsed(value, *, dialect: str = "sdmp"):
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return parse_manifest(raw[:MAX_MANIFEST_BYTES], len(raw), dialect=dialect)


def changed(path: tuple, value) -> dict:
    made = copy.deepcopy(GOOD)
    place = made
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return made


def test_a_manifest_states_files_and_namespaces() -> None:
    place = StatedNamespace("node:x", 2, HEX, ("00" * 32, "ff" * 32))
    assert parsed(GOOD) == Statement((StatedFile("a.jsonl.gz", 2, 16, HEX),), (place,))


def test_namespaces_may_be_left_out_and_members_that_we_do_not_know_are_passed_over() -> None:
    assert parsed({**changed(("namespaces",), ...), "made_by": {"x": [1]}}).namespaces is None
    assert parsed({**GOOD, "files": [], "namespaces": []}) == Statement((), ())


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"files": []},
        [GOOD],
        "strandline_manifest",
        b"",
        b"{",
        b"no json",
        b'{"node":1}\n{"node":2}',
        b"\xff",
    ],
)
def test_a_file_without_the_member_is_none(value) -> None:
    assert parsed(value) == NotAManifest()


NAMES = ["", ".", "..", "../a", "/a", "a/b", "a\\b", "a\0b", 1, None, ["a"], True]
COUNTS = [-1, 1.0, "1", None, True, 2**63, [], ...]
DIGESTS = [HEX.upper().replace("0", "A"), HEX[:-1], HEX + "0", HEX[:-1] + "g", HEX + "\n", "", None, 0, ...]


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (("strandline_manifest",), [0, 2, "1", True, None, 1.0, [1]]),
        (("dialect",), ["devicelog", "SDMP", None, 1, ...]),
        (("files",), [None, {}, "a", 1, ...]),
        (("files", 0), [None, [], "a", 1]),
        (("files", 0, "name"), [*NAMES, ...]),
        (("files", 0, "records"), COUNTS),
        (("files", 0, "bytes"), COUNTS),
        (("files", 0, "sha256"), DIGESTS),
        (("files",), [[FILE, FILE]]),
        (("namespaces",), [None, {}, 1, [PLACE, PLACE]]),
        (("namespaces", 0), [None, [], "a"]),
        (("namespaces", 0, "namespace"), [None, 1, ...]),
        (("namespaces", 0, "records"), COUNTS),
        (("namespaces", 0, "set_hash"), DIGESTS),
        (("namespaces", 0, "heads"), [None, "a", {}, ...]),
        (("namespaces", 0, "heads"), [[HEX, HEX], [None], [HEX[:-1]], [HEX.upper().replace("0", "A")]]),
    ],
)
def test_each_field_has_one_form_and_the_evidence_names_it(path: tuple, values: list) -> None:
    for value in values:
        found = parsed(changed(path, value))
        assert isinstance(found, Invalid), value
        assert str(found.evidence["field"]).startswith(path[0])
        assert set(found.evidence) == {"field", "expected", "actual"}
        json.dumps(found.evidence)


@pytest.mark.parametrize(
    "name", ["a", "a b", "..a", "_x", ".x", "ä\u202e\n", "a:b", "C", "x.manifest.json", "'; --"]
)
def test_any_plain_name_is_one(name: str) -> None:
    assert parsed(changed(("files", 0, "name"), name)).files[0].name == name


@pytest.mark.parametrize(
    ("raw", "cause"),
    [
        (json.dumps(GOOD).encode()[:-1], "syntax"),
        (json.dumps(GOOD).encode() + b"x", "trailing"),
        (b"\xef\xbb\xbf" + json.dumps(GOOD).encode(), "bom"),
        (b'{"strandline_manifest":1,"strandline_manifest":1}', "duplicate_key"),
        (b'{"strandline_manifest":1,"x":NaN}', "constant"),
        (b'{"strandline_manifest":1,"x":' + b"[" * 40 + b"]" * 40 + b"}", "depth"),
        (b'{"strandline_manifest":1,"x":"\\ud800"}', "surrogate"),
        (b'{"strandline_manifest":1,"x":"\xff"}', "utf8"),
        (b'{"strandline_manifest":1' + b" " * MAX_MANIFEST_BYTES + b"}", "too_large"),
    ],
)
def test_what_cannot_be_read_but_names_the_member_is_an_invalid_manifest(raw: bytes, cause: str) -> None:
    found = parsed(raw)
    assert isinstance(found, Invalid)
    assert found.evidence["cause"] == cause


def test_a_manifest_cut_at_any_byte_states_nothing() -> None:
    raw = json.dumps(GOOD).encode()
    for cut in range(len(raw)):
        assert not isinstance(parsed(raw[:cut]), Statement)


def test_long_values_are_cut_in_the_evidence() -> None:
    found = parsed(changed(("files", 0, "name"), "/" * 10_000))
    assert len(found.evidence["actual"]) < 300
    assert parsed(changed(("files", 0, "records"), 10**500)).evidence["actual"] == "integer of 1661 bits"


def test_counts_reach_from_nothing_to_the_greatest_signed_number_of_64_bits() -> None:
    for count in (0, 2**63 - 1):
        for path in (("files", 0, "records"), ("files", 0, "bytes"), ("namespaces", 0, "records")):
            assert isinstance(parsed(changed(path, count)), Statement)


def test_a_manifest_of_the_greatest_size_is_read() -> None:
    raw = json.dumps(GOOD).encode().ljust(MAX_MANIFEST_BYTES)
    assert isinstance(parsed(raw), Statement)


def test_only_an_invalid_manifest_of_another_dialect_names_the_files_of_others() -> None:
    broken = changed(("files", 0, "records"), -1)
    assert parsed(broken).of_others is None
    assert parsed(broken | {"dialect": "devicelog"}).of_others == ("a.jsonl.gz",)
