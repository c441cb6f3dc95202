"""Threshold signatures of a published implementation of FROST(Ed25519, SHA-512), on facts of an authority."""

import pytest

from strandline.core.ed25519 import has_prime_order, verify_by_partner, verify_ed25519
from strandline.dialects.aura import author
from strandline.dialects.aura.reduce import reduce_authority
from strandline.dialects.aura.types import RotateEpoch
from strandline.dialects.aura.verify import admit
from support.aura_cases import at
from support.frost_holders import Holders, history

pytestmark = pytest.mark.frost


@pytest.fixture(scope="module")
def groups():
    with Holders(2, 3) as first, Holders(3, 4) as second:
        yield first, second


def test_holders_that_made_their_key_together_write_a_history_that_is_accepted(groups):
    facts, state = history(*groups)
    assert all(has_prime_order(holders.public) for holders in groups)
    assert {verdict.status for verdict in admit(facts).verdicts.values()} == {"accepted"}
    found = reduce_authority(facts[0].namespace, facts)
    assert found.state == state
    assert (found.state.key, found.state.required) == (groups[1].key, 3)


def test_every_two_of_three_sign_and_fewer_make_no_signature(groups):
    first, _ = groups
    for signers in ((1, 2), (1, 3), (2, 3), (1, 2, 3)):
        first.signers = signers
        for number in range(5):
            message = bytes([number]) * 32
            signature = first.sign(message)
            assert verify_ed25519(first.public, message, signature)
            assert verify_by_partner(first.public, message, signature)
            assert not verify_ed25519(first.public, message[1:], signature)
    first.signers = (2,)
    with pytest.raises(ValueError, match="number of commitments"):
        first.sign(b"alone")


def test_the_holders_of_another_key_do_not_sign_for_a_state(groups):
    first, second = groups
    facts, state = history(first, second)
    first.signers = (1, 2)
    stranger = author.append(
        facts[0].namespace, state, RotateEpoch((), None), signer=first, signer_count=3, **at(0x30)
    )
    assert admit([*facts, stranger]).verdicts[stranger.fact_id].reasons == ("SIGNATURE_INVALID",)
