"""Every reason of Aura's admission is the expected one of a named case."""

from collections.abc import Callable

import pytest

from strandline.contracts.reasons import reasons
from strandline.core.verdict import Finding
from strandline.dialects.aura import author
from strandline.dialects.aura.codec import (
    MAX_FILE_BYTES,
    MAX_LINE_BYTES,
    encode,
    parse_fact_cbor,
    read_documents,
)
from strandline.dialects.aura.types import MAX_FACT_BYTES, MAX_SUPERSEDED, Unreadable
from strandline.dialects.aura.verify import admit
from support.aura_attacks import (
    CONTEXT,
    FOLLOWING,
    OTHER,
    RULES,
    by_stranger,
    charge,
    flipped,
    generic,
    moved_genesis,
    receipt,
    snapshot,
    with_value,
)
from support.aura_cases import U, b32, facts, other_authority, second_context
from support.aura_tampering import SHAPES

KNOWN = [*facts().values(), other_authority(), second_context()["g"]]
FORKS = {f"AURA_{each}_FORK" for each in ("OP", "CONSENSUS", "CHECKPOINT", "COMMIT", "SNAPSHOT")}
STATES_ALONE = {"LEAF_LIMIT", "EPOCH_OVERFLOW", "BELOW_SNAPSHOT"}
"""`test_states.py` builds states of thousands of operations, `test_authority_pruning.py` ones that were pruned."""


def judged(fact, known=KNOWN):
    return admit([fact, *known]).verdicts[fact.fact_id].reasons


def refused(data, form="lines"):
    """Reasons of the first document that is none."""
    return next(each.reasons for each in read_documents(data, form) if isinstance(each, Unreadable))


def bad_sequence(item):
    return refused(facts()["G"].cbor + item, "cbor")


def own_digest():
    """A genesis of the second context with another map."""
    other = author.context_genesis([U.id], bytes(16))
    return encode({**other.value, "namespace": {"Context": CONTEXT.id}})


CASES: dict[str, Callable[[], tuple[str, ...]]] = {
    "JSON_INVALID": lambda: refused(b"{\n"),
    "TRUNCATED JSON_INVALID": lambda: refused(b"{"),
    "LINE_TOO_LARGE": lambda: refused(b" " * (MAX_LINE_BYTES + 1) + b"\n"),
    "FILE_TOO_LARGE": lambda: refused(b" " * (MAX_FILE_BYTES + 1), "json"),
    "CBOR_INVALID": lambda: bad_sequence(b"\xff"),
    "CBOR_NOT_CANONICAL": lambda: bad_sequence(b"\x18\x00"),
    "FACT_TOO_LARGE": lambda: bad_sequence(
        b"\x5a" + (MAX_FACT_BYTES + 1).to_bytes(4, "big") + bytes(MAX_FACT_BYTES + 1)
    ),
    "NAMESPACE_MISMATCH": lambda: refused(
        b'{"namespace":"%s","facts":[{"namespace":"%s"}]}' % (U.text.encode(), OTHER.text.encode()), "json"
    ),
    "GENESIS_UNPINNED": lambda: judged(with_value(facts()["G"], "namespace", {"Authority": OTHER.id})),
    "GENESIS_PIN_MISMATCH": lambda: judged(with_value(other_authority(), "namespace", {"Authority": U.id})),
    "GENESIS_UNPINNED of a context": lambda: judged(own_digest(), []),
    "GENESIS_PIN_MISMATCH of a context": lambda: judged(own_digest()),
    "CONTEXT_GENESIS_FORM": lambda: judged(moved_genesis(order=b32(1))),
    "CONTEXT_GENESIS_MISSING": lambda: judged(generic("x"), []),
    "PARENT_MISSING": lambda: judged(facts()["A0"], []),
    "AUTHORITY_STATE_MISSING": lambda: judged(receipt(U, commitment=b32(9))),
    "ATTEST_SIGNATURE_INVALID": lambda: judged(with_value(snapshot(U), "content.Snapshot.sequence", 2)),
    "ATTEST_SIGNATURE_INVALID of a receipt": lambda: judged(
        with_value(receipt(U), "content.RendezvousReceipt.signature", flipped(bytes(64), 1))
    ),
    "ATTESTOR_NOT_MEMBER": lambda: judged(by_stranger(generic("x"))),
    "PARTY_NOT_MEMBER": lambda: judged(charge(dst=b"\xee" * 16)),
    "CHARGE_EPOCH": lambda: judged(charge(epoch=0)),
    "SNAPSHOT_TOO_LARGE": lambda: judged(snapshot(U, MAX_SUPERSEDED + 1)),
}


@pytest.mark.large
@pytest.mark.parametrize("name", CASES)
def test_a_fact_has_the_reason_of_what_is_wrong_with_it(name):
    expected = [word for word in name.split() if word.isupper()]
    assert sorted(CASES[name]()) == sorted(expected)


def test_every_reason_of_admission_has_a_named_case():
    every = reasons().items()
    ours = {code for code, reason in every if "aura" in reason.dialects and reason.outcomes != ("gc",)}
    of_facts = {code for _, _, _, code in SHAPES}
    of_rules = {code for _, codes in (*RULES.values(), *FOLLOWING.values()) for code in codes.split()}
    of_others = {word for name in CASES for word in name.split() if word.isupper()}
    assert ours - FORKS == (of_facts | of_rules | of_others | STATES_ALONE) & ours
    assert ours >= FORKS


@pytest.mark.large
def test_the_largest_snapshot_with_all_attestations_is_a_fact():
    fact = snapshot(U, MAX_SUPERSEDED)
    entry = {"commitment": bytes(32), "sig": bytes(64)}
    many = [{"authority": number.to_bytes(16, "big"), **entry} for number in range(64)]
    whole = encode({**fact.value, "attest": many})
    assert MAX_FACT_BYTES * 0.9 < len(whole.cbor) <= MAX_FACT_BYTES
    assert not isinstance(parse_fact_cbor(whole.cbor), Finding)
