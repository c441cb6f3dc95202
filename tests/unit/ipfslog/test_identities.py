"""Identities: valid in one form alone, whatever is spelled otherwise; v0 entries as JSON keep their order."""

import json

import pytest

from strandline.core.signatures import SigningKey, verify_digest
from strandline.dialects.ipfslog.author import to_json
from strandline.dialects.ipfslog.codec import dag_pb_data, identity_of, identity_value
from strandline.dialects.ipfslog.types import IdentityRecord
from strandline.dialects.ipfslog.verify import fits_variant, verify_block, verify_identity, verify_json
from support.ipfslog_cases import entry, secret, who


def made(type_="orbitdb", *, compressed=False, external_compressed=True, upper=False):
    """An identity whose signatures are true, in whatever form."""
    external, signing = SigningKey(secret("alice", "id")), SigningKey(secret("alice", "sign"))
    id_ = external.public(compressed=external_compressed).hex()
    key = signing.public(compressed=compressed).hex()
    id_, key = (id_.upper(), key.upper()) if upper else (id_, key)
    sig_id = signing.sign(id_.encode()).hex()
    sig_key = external.sign((key + sig_id).encode()).hex()
    value = {"id": id_, "publicKey": key, "signatures": {"id": sig_id, "publicKey": sig_key}, "type": type_}
    return identity_of(value)


FORMS = {
    "orbitdb": (made(), True),
    "orbitdb with a compressed key": (made(compressed=True), False),
    "publickey": (made("publickey", compressed=True), True),
    "publickey with an uncompressed key": (made("publickey"), False),
    "an uncompressed id": (made(external_compressed=False), False),
    "upper case": (made(upper=True), False),
    "ethereum": (made("ethereum"), False),
    "no type": (made(""), False),
}


@pytest.mark.parametrize("name", FORMS)
def test_true_signatures_make_an_identity_valid_in_its_one_form_alone(name):
    identity, expected = FORMS[name]
    assert verify_identity(identity).is_valid is expected


@pytest.mark.parametrize("member", ["id", "public_key", "sig_id", "sig_public_key"])
def test_a_member_of_another_identity_makes_it_invalid(member):
    alice, bob = who("alice").record, who("bob").record
    values = {name: getattr(alice, name) for name in IdentityRecord.__dataclass_fields__}
    assert verify_identity(IdentityRecord(**values)).is_valid
    assert not verify_identity(IdentityRecord(**values | {member: getattr(bob, member)})).is_valid
    assert not verify_identity(IdentityRecord(**values | {member: ""})).is_valid
    assert not verify_identity(IdentityRecord(**values | {member: getattr(alice, member) + "\n"})).is_valid


def test_an_identity_fits_the_variants_of_its_type():
    fits = {
        name: [variant for variant in ("v0", "v1", "v2", "core2") if fits_variant(made(name), variant)]
        for name in ("orbitdb", "publickey", "DID")
    }
    assert fits == {"orbitdb": ["v1", "v2"], "publickey": ["core2"], "DID": []}


def test_an_identity_is_the_same_block_wherever_it_comes_from():
    alice = who("alice").record
    assert identity_of(identity_value(alice)) == alice
    assert verify_block(entry("x").block).entry.identity_digest == alice.digest


@pytest.mark.parametrize("sample", [0, 2**16])
def test_a_sampled_entry_on_which_the_libraries_disagree_is_not_trusted(monkeypatch, sample):
    made, bad = entry("x"), entry("x").block.replace(b"strand", b"strang")
    monkeypatch.setattr("strandline.dialects.ipfslog.verify.checks.PARTNER_SAMPLE", sample)
    assert verify_block(made.block).reasons == ()
    assert verify_block(bad).reasons == ("SIGNATURE_INVALID",)
    monkeypatch.setattr(
        "strandline.dialects.ipfslog.verify.signature.verify_by_partner",
        lambda *signed: not verify_digest(*signed),
    )
    disagreement = ("LIBRARY_DISAGREEMENT",) if sample else ()
    verdict = verify_block(made.block)
    assert verdict.reasons == disagreement
    assert verify_block(bad).reasons == (*disagreement, "SIGNATURE_INVALID")
    if sample:
        assert set(verdict.evidence["LIBRARY_DISAGREEMENT"]["versions"]) == {"coincurve", "cryptography"}


def test_a_v0_entry_as_json_is_the_block_that_javascript_wrote():
    first = entry({"b": 1.5, "10": "x", "9": [1e21], "a": {"é": None}, "01": 0}, "v0", time=3)
    text = dag_pb_data(first.block).decode()
    assert '"payload":{"9":[1e+21],"10":"x","b":1.5,"a":{"é":null},"01":0}' in text
    second = entry("child", "v0", parents=[first.cid])
    for each in (first, second):
        value = to_json(each)
        assert value.startswith(f'{{"hash":"{each.cid}",')
        verdict = verify_json(json.loads(value), "compat")
        assert (verdict.entry.cid, verdict.entry.block) == (each.cid, each.block)
    assert verdict.entry.next == (first.record_id,)
