"""States of contexts are those of the vectors: hashes, rows, budgets, what was pruned."""

from hashlib import sha256

import pytest

from strandline.core.hashing import set_hash
from strandline.dialects.aura import author
from strandline.dialects.aura.codec import to_json
from strandline.dialects.aura.reduce.contexts import (
    AuthorityAsContext,
    Flow,
    reduce_context,
    row_hash,
)
from strandline.dialects.aura.reduce.contexts.flows import FlowKey, headroom
from strandline.dialects.aura.verify import rule_findings
from support import public_contexts
from support.aura_cases import CHANNEL, V_ID, U, at, attested, b32, facts, second_context
from support.context_cases import (
    NAMESPACE,
    chains,
    context_vectors,
    named_facts,
    of_context,
    pruning_context,
    reattested,
    reduced,
    up_to,
)

VECTORS = context_vectors()
PRUNING = VECTORS["pruning"]
STATES = {each["facts"]: each for each in VECTORS["states"]}


def state_of(name):
    return reduced(up_to(STATES[name]["last fact"]), is_lost="fork" in name)


@pytest.mark.parametrize("name", STATES)
def test_the_state_hash_of_each_set_of_facts(name):
    expected, found = STATES[name], state_of(name)
    assert (len(found.rows), found.state_hash.hex()) == (expected["rows"], expected["state_hash"])
    for channel in found.channels:
        pending = channel.pending and [channel.pending.bump_id[:1].hex(), channel.pending.reason]
        assert [channel.epoch, pending, channel.last, channel.window] == [
            expected[each] for each in ("epoch", "pending", "last checkpoint", "window")
        ]


def test_the_hash_of_a_set_of_digests():
    digests = [sha256(bytes([number])).digest() for number in (1, 0)]
    assert set_hash(digests).hex() == VECTORS["set_digest"]


def test_the_rows_of_all_facts():
    charge = named_facts()["f1'"].body_id.hex()
    expected = [row.replace("<body_id of f1'>", charge) for row in VECTORS["rows_of_all"]]
    found = state_of("all").rows
    assert [row.hex() for row in found] == expected
    assert row_hash(found[0]).hex().startswith(VECTORS["first_row_hash"])


def test_what_all_facts_say():
    found, facts_ = state_of("all"), named_facts()
    met = {body.fact.fact_id for bodies in found.met.values() for body in bodies}
    unmet = {name for name, fact in facts_.items() if fact.fact_id not in met} - {"b3'"}
    assert unmet == {"b3", "q3", "n3"}
    [flow] = found.flows
    assert (flow.limit, flow.spent, flow.charges, flow.is_unbroken, flow.is_overdrawn) == (
        15,
        17,
        3,
        False,
        True,
    )
    assert flow.tip == (1, facts_["f1'"].body_id)
    assert found.flow_budgets == {(U.id, V_ID, 1): 17}
    assert headroom(flow, None) == 0
    [guardian, grant, note, consensus] = found.bindings
    assert (guardian.body.fact, guardian.duplicates, guardian.data) == (facts_["b2"], 1, b32(2))
    assert grant.body.fact == facts_["r1"]
    assert note.body.body_id == min(facts_["n1"].body_id, facts_["n2"].body_id)
    assert consensus.generic_type == "consensus"
    channel = found.channel_epochs[CHANNEL]
    assert (channel.unproven, channel.dormant, channel.window_source) == (1, 0, "policy")
    assert found.tips == ((V_ID, chains()[V_ID].tip), (U.id, chains()[U.id].tip))


def test_a_fork_takes_grants_back_and_nothing_that_was_spent():
    lost = state_of("all + b3', fork")
    assert lost.flow_budgets == {(U.id, V_ID, 1): 17}
    assert {each.body.fact for each in lost.bindings} == {named_facts()["n2"], named_facts()["n3"]}


def test_the_copy_of_a_binding_and_a_genesis_under_another_order():
    assert named_facts()["b3'"].fact_id.hex().startswith(VECTORS["b3'"])
    content = second_context()["g"].value["content"]["Relational"]["ContextGenesis"]
    moved = author.relational(NAMESPACE, "ContextGenesis", content, **at(0x51))
    assert moved.fact_id.hex().startswith(VECTORS["moved_genesis"])
    assert [each.reason for each in rule_findings(moved)] == ["CONTEXT_GENESIS_FORM"]


def test_a_line_of_json_is_a_charge():
    text = to_json(second_context()["f0"])
    assert '"FlowCharge"' in text
    assert '"cost":7' in text


def test_the_facts_and_the_state_of_the_context_that_is_pruned():
    named = pruning_context()
    assert (len(named), named["g"].namespace.text) == (PRUNING["facts"], PRUNING["namespace"])
    assert {name: named[name].fact_id.hex() for name in ("f0", "k1", "p")} == {
        name: PRUNING[name] for name in ("f0", "k1", "p")
    }
    assert named["f0"].body_id.hex() == PRUNING["f0_body"]
    found = reduce_context(named["g"].namespace, named.values(), chains())
    assert (len(found.rows), found.state_hash.hex()) == (PRUNING["rows"], PRUNING["state_hash"])
    [channel], [flow] = found.channels, found.flows
    assert (channel.epoch, channel.pending, channel.last, channel.window) == (
        PRUNING["epoch"], None, PRUNING["last"], PRUNING["window"]
    )  # fmt: skip
    assert (flow.spent, flow.charges, flow.tip[0]) == (
        PRUNING["spent"],
        PRUNING["charges"],
        PRUNING["tip_nonce"],
    )


def test_charges_that_were_pruned_count_by_what_is_carried():
    named = pruning_context()
    namespace, whole = named["g"].namespace, reduce_context(named["g"].namespace, named.values(), chains())
    gone = [named[name] for name in PRUNING["carried"]]
    kept = [fact for name, fact in named.items() if name not in PRUNING["carried"]]
    tip = (3, bytes.fromhex(PRUNING["carried_tip"]))
    carried = [Flow(FlowKey(U.id, V_ID, 1), PRUNING["carried_spent"], len(gone), tip)]
    absorbed = [fact.body_id for fact in gone]
    pruned = reduce_context(namespace, kept, chains(), carried, absorbed)
    assert pruned.state_hash == whole.state_hash
    again = reattested(named["f0"], "uv")
    assert again.fact_id.hex() == PRUNING["f0_and_v"]
    assert reduce_context(namespace, [*kept, again], chains(), carried, absorbed).rows == pruned.rows
    dropped = [
        fact for name, fact in named.items() if name not in ("f0", "f1", "f3", "p") and name not in K1_TO_K7
    ]
    assert reduce_context(namespace, dropped, chains()).state_hash.hex() == PRUNING["without_carry"]


K1_TO_K7 = [f"k{number}" for number in range(1, 8)]


def test_a_snapshot_of_all_these_facts_has_its_bytes():
    named = pruning_context()
    found = author.snapshot(
        named["g"].namespace, sequence=1, state_hash=bytes.fromhex(PRUNING["state_hash"]),
        supersedes=named.values(), **at(0x60),
    )  # fmt: skip
    found = attested(found, "u")
    assert (found.fact_id.hex(), len(found.cbor)) == (PRUNING["snapshot"], PRUNING["snapshot_bytes"])


def test_the_next_charge_follows_the_tip():
    found = author.next_charge(state_of("all"), U.id, V_ID, 1, 3, **at(0x70))
    assert (found.content["nonce"], found.content["prev"]) == (2, named_facts()["f1'"].body_id)
    first = author.next_charge(state_of("all"), V_ID, U.id, 0, 3, **at(0x70))
    assert (first.content["nonce"], first.content["prev"]) == (0, bytes(32))
    last = of_context("FlowCharge", 0x71, src=U.id, dst=V_ID, epoch=1, cost=0, nonce=2**64 - 1, prev=b32(1))
    with pytest.raises(OverflowError):
        author.next_charge(reduced([*up_to("n3"), last]), U.id, V_ID, 1, 3, **at(0x70))


def test_copies_of_a_body_become_one_fact_with_all_attestations():
    binding = named_facts()["b3"]
    both = author.merge_attest([binding, named_facts()["b3'"]])
    assert both == author.merge_attest([named_facts()["b3'"], binding]) == reattested(binding, "uv")
    with pytest.raises(ValueError, match="one body"):
        author.merge_attest([binding, named_facts()["b2"]])
    with pytest.raises(ValueError, match="one body"):
        author.merge_attest([])


def test_an_authority_has_no_state_of_a_context():
    with pytest.raises(AuthorityAsContext) as refused:
        reduce_context(U, facts().values(), {})
    assert refused.value.code == "AUTHORITY_AS_CONTEXT"


def published(number, variant, **content):
    return {
        "order": f"{number:02x}" * 32,
        "content": {"Relational": {variant: {"channel": "05" * 32, **content}}},
    }


def test_the_public_reducer():
    assert public_contexts.channels_hash({}).hex() == VECTORS["compat_empty"]
    checkpoint = {"chan_epoch": 0, "base_gen": 42, "ck_commitment": "07" * 32, "skip_window_override": 32}
    given = [
        published(1, "AmpChannelCheckpoint", **checkpoint),
        published(2, "AmpCommittedChannelEpochBump", parent_epoch=0, new_epoch=1),
    ]
    found = public_contexts.reduce_context({"facts": given})
    assert public_contexts.channels_hash(found).hex() == VECTORS["compat_channel"]
    bumps = [
        published(
            3, "AmpProposedChannelEpochBump", parent_epoch=1, new_epoch=2, bump_id="0b" * 32, reason=reason
        )
        for reason in ("Routine", "ConfirmedCompromise")
    ]
    bumps[1]["order"] = "04" * 32
    odd = published(
        5, "AmpProposedChannelEpochBump", parent_epoch=1, new_epoch=9, bump_id="00" * 32, reason="Routine"
    )
    [channel] = public_contexts.reduce_context({"facts": [*given, *bumps, odd]}).values()
    assert channel.pending == (1, 2, b"\x0b" * 32, "ConfirmedCompromise")
    twice = [{**bumps[1], "order": "01" * 32}, *given]
    assert public_contexts.reduce_context({"facts": twice})[b"\x05" * 32].last == 0
    windows = [published(6, "AmpChannelPolicy", skip_window=window) for window in (None, 7)]
    windows[1]["order"] = "07" * 32
    [channel] = public_contexts.reduce_context({"facts": windows}).values()
    assert (channel.window, channel.pending) == (7, None)
