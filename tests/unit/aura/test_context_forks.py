"""Forks of contexts with evidence: each row can be checked with the group keys in it alone."""

import json
from base64 import b64decode
from uuid import UUID

from strandline.core.ed25519 import verify_ed25519
from strandline.core.hashing import equivocation_id, tagged
from strandline.dialects.aura.codec import attest_message, parse_fact_cbor
from strandline.dialects.aura.reduce.contexts.forks import (
    attested_forks,
    commit_forks,
    snapshot_forks,
    state_inputs,
)
from strandline.dialects.aura.reduce.contexts.snapshots import judge_snapshots
from strandline.dialects.aura.verify import admit
from support.aura_cases import CHANNEL, V_ID, U, facts, other_authority, states
from support.context_cases import NAMESPACE, reduced
from unit.aura.test_context_snapshots import snapshot
from unit.aura.test_contexts import G, checkpoint, commit, consensus


def inputs():
    """What the commitments of all states of u and v hash."""
    found = {}
    for given in (facts().values(), [other_authority()]):
        operations = admit(given).operations.values()
        found |= {
            (op.fact.namespace.id, each): data
            for op in operations
            for each, data in state_inputs(operations).items()
        }
    return found


def verified(row):
    """Check the evidence as a third party would: both records carry a signature by the key, under a stated state."""
    document = json.loads(row.evidence)
    stated = {}
    for each in document["context"]:
        data = b64decode(each["bytes"])
        assert tagged("strandline/aura/state/1", data).hex() == each["id"]
        stated[each["id"]] = data[72:104]
    for record in document["records"]:
        fact = parse_fact_cbor(b64decode(record["bytes"]))
        assert fact.fact_id.hex() == record["id"]
        [signature] = [each for each in fact.attest if name(each.authority) == row.key]
        key = stated[signature.commitment.hex()]
        message = attest_message(fact.body_id, signature.authority, signature.commitment, key)
        assert verify_ed25519(key, message, signature.sig)
    assert row.equivocation_id == equivocation_id(row.namespace, row.kind, row.key, row.position)
    return row


def name(raw):
    return str(UUID(bytes=raw))


def test_the_states_of_a_forked_authority_hash_to_their_commitments():
    found = inputs()
    assert {commitment for authority, commitment in found if authority == U.id} == {
        state.commitment for state in states().values()
    }
    for (_, commitment), data in found.items():
        assert tagged("strandline/aura/state/1", data) == commitment


def test_an_authority_that_attests_two_operations_for_one_consensus():
    one, other = consensus(0x10, 0, 0xB0), consensus(0x11, 0, 0xB1, by=["u*"])
    again = consensus(0x12, 0, 0xB0, by="u")
    rows = list(
        attested_forks(
            NAMESPACE, [one, other, again, consensus(0x13, 0, 0xB2, by="v", consensus_id=9)], inputs()
        )
    )
    [row] = rows
    verified(row)
    assert (row.kind, row.key, row.position, row.member_count) == (
        "AURA_CONSENSUS_FORK", name(U.id), "06" * 32, 2
    )  # fmt: skip
    assert row.attributable
    assert set(row.members) == {min(one.fact_id, again.fact_id), other.fact_id}


def test_an_authority_that_attests_two_checkpoints_of_one_generation():
    given = [
        checkpoint(0x10, 0, 7, 1, by="uv"),
        checkpoint(0x11, 0, 7, 2, by="uv"),
        checkpoint(0x12, 0, 8, 3),
    ]
    rows = list(attested_forks(NAMESPACE, given, inputs()))
    assert [verified(row).key for row in rows] == sorted([name(U.id), name(V_ID)])
    assert {(row.kind, row.position) for row in rows} == {("AURA_CHECKPOINT_FORK", f"{CHANNEL.hex()}:0:7")}
    assert not list(attested_forks(NAMESPACE, [given[0], checkpoint(0x11, 0, 7, 2, by=[])], inputs()))


def test_two_bumps_proven_for_one_epoch_of_a_channel():
    facts_ = [
        consensus(0x10, 0, 0xB0),
        commit(0x11, 0, 0xB0),
        consensus(0x12, 0, 0xB1),
        commit(0x13, 0, 0xB1),
    ]
    [row] = commit_forks(reduced([G, *facts_]))
    assert (row.kind, row.key, row.position, row.attributable) == (
        "AURA_COMMIT_FORK",
        CHANNEL.hex(),
        "0",
        False,
    )
    assert row.members == tuple(sorted([facts_[1].fact_id, facts_[3].fact_id]))
    assert not list(commit_forks(reduced([G, *facts_[:2]])))


def test_sound_snapshots_of_two_branches():
    left, right = snapshot(0x31, "Rp"), snapshot(0x32, "X")
    [row] = snapshot_forks(U, judge_snapshots(U, [*facts().values(), left, right]), inputs())
    assert (verified(row).kind, row.key, row.position) == ("AURA_SNAPSHOT_FORK", name(U.id), "tips")
    assert not list(snapshot_forks(U, judge_snapshots(U, [*facts().values(), left]), inputs()))
