import hashlib
import json
import pickle

import pytest

from strandline.core.errors import FaultError, NamespaceMismatch, StrandlineError, UsageError
from strandline.core.ids import bucket_of, bucket_of_digest, namespace
from strandline.core.verdict import (
    CUT,
    MAX_EVIDENCE_BYTES,
    Finding,
    encode_evidence,
    evidence_of,
    internal_error,
    reasons_of,
    shown,
)


def test_a_bucket_is_the_first_two_bytes_of_the_namespaces_hash_modulo_n():
    where = namespace("node", "ab")
    digest = hashlib.sha256(b"node:ab").digest()
    assert where == "node:ab"
    assert bucket_of(where, 16) == (digest[0] * 256 + digest[1]) % 16
    assert bucket_of_digest(digest, 1000) == (digest[0] * 256 + digest[1]) % 1000


def test_a_namespace_outside_ascii_has_a_bucket():
    assert 0 <= bucket_of("log:\u0436\U0001f600", 16) < 16


@pytest.mark.parametrize(("kind", "code"), [(UsageError, 2), (FaultError, 3), (StrandlineError, 3)])
def test_an_error_carries_its_fields_and_exit_code_through_a_pickle(kind, code):
    error = pickle.loads(pickle.dumps(kind("NO_LAKE", "No lake at x.", "Run init.")))
    assert (error.code, error.message, error.next, error.exit_code) == (
        "NO_LAKE",
        "No lake at x.",
        "Run init.",
        code,
    )
    assert str(error) == "No lake at x. Run init."


def test_the_text_of_an_error_is_two_sentences():
    error = UsageError(
        "NO_NAMESPACE", "this lake has no namespace node:1", "`strandline status --all` lists them"
    )
    assert str(error) == "this lake has no namespace node:1. `strandline status --all` lists them."
    error = FaultError("DISK_FULL", "Is the disk full? ", "see `df`")
    assert str(error) == "Is the disk full? see `df`"
    assert str(FaultError("LOST", "it is lost", "")) == "it is lost."


def test_an_error_that_makes_its_texts_of_other_arguments_carries_them_through_a_pickle():
    made = NamespaceMismatch("node:ab", "node:cd")
    error = pickle.loads(pickle.dumps(made))
    assert (type(error), vars(error), error.args) == (NamespaceMismatch, vars(made), made.args)


def test_reasons_are_distinct_and_ascending_and_evidence_follows_them():
    findings = [Finding("B", {"n": 1}), Finding("A", {"n": 2}), Finding("B", {"n": 3})]
    assert reasons_of(findings) == ("A", "B")
    assert list(evidence_of(findings).items()) == [("A", {"n": 2}), ("B", {"n": 1})]


def test_evidence_has_one_spelling():
    assert (
        encode_evidence({"B": {"b": "\u0436", "a": None}, "A": {}}) == '{"A":{},"B":{"a":null,"b":"\\u0436"}}'
    )


@pytest.mark.parametrize("unit", ["a", "\u0436", "\U0001f600", "\ud800", "\x00", '"', "\\"])
def test_five_texts_from_data_fit_into_one_evidence(unit):
    text = shown(unit * 100_000)
    assert text.endswith(CUT)
    encoded = encode_evidence({"R": {str(i): text for i in range(5)}})
    assert len(encoded.encode("ascii")) <= MAX_EVIDENCE_BYTES
    assert json.loads(encoded)["R"]["0"] == text


def test_bytes_that_are_not_utf8_are_shown_as_numbers_and_short_ones_whole():
    assert shown(b"a\xffb") == "a\\xffb"
    assert shown(b"\xff" * 300) == "\\xff" * 200 + CUT
    assert shown("a" * 200) == "a" * 200


def test_an_internal_error_shows_class_and_place_and_not_the_message():
    try:
        int("secret bytes")
    except ValueError as error:
        evidence = internal_error(error)
    assert evidence["INTERNAL_ERROR"]["class"] == "ValueError"
    assert __name__ in evidence["INTERNAL_ERROR"]["place"]
    assert "secret" not in encode_evidence(evidence)
