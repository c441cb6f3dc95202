"""The signature of an operation, judged against the state that it follows."""

from dataclasses import dataclass

from strandline.core.ed25519 import verify_ed25519
from strandline.core.verdict import Finding
from strandline.dialects.aura.codec import op_message
from strandline.dialects.aura.types import Fact, Genesis, KeyRecord
from strandline.dialects.aura.verify.checks import check_attested_op
from strandline.dialects.aura.verify.states import State


@dataclass(frozen=True, slots=True)
class Signers:
    """Who must sign an operation: the group key with its bounds, and how many signers the parent state requires."""

    key: KeyRecord
    required: int


def signers_of(fact: Fact, parent: State) -> Signers:
    """Return who must sign an operation; a genesis is signed by its own key.

    Raises:
        ValueError: the fact is no operation, or no genesis without a state before it.
    """
    if fact.attested is not None and isinstance(fact.attested.op.operation, Genesis):
        key = fact.attested.op.operation.key
        return Signers(key, key.min_signers)
    if fact.attested is None or parent.key is None:
        raise ValueError("only an operation that follows a state, or a genesis, has signers")
    return Signers(parent.key, parent.required)


def verify_attested_op(fact: Fact, signers: Signers) -> list[Finding]:
    """Return what is wrong with the signature of an operation; nothing if it is valid.

    These hold, each with its code:
    - the claimed number of signers is at least the required one (`SIGNERS_INSUFFICIENT`) and at most that of the key's
      holders (`SIGNERS_EXCESS`). It is a claim: a signature proves `min_signers`;
    - the signature is one of the group key over the body and that key (`SIGNATURE_INVALID`): a plain Ed25519 signature,
      which FROST(Ed25519, SHA-512) gives (RFC 9591).

    Raises:
        ValueError: the fact is no operation.
    """
    if fact.attested is None:
        raise ValueError("the fact is no operation")
    key, count = signers.key, fact.attested.signer_count
    found = []
    if count < signers.required:
        found.append(Finding("SIGNERS_INSUFFICIENT", {"expected": signers.required, "actual": count}))
    if count > key.max_signers:
        found.append(Finding("SIGNERS_EXCESS", {"expected": key.max_signers, "actual": count}))
    message = op_message(fact.body_id, key.group_key)
    if not verify_ed25519(key.group_key, message, fact.attested.agg_sig):
        evidence = {"group_key": key.group_key.hex(), "message": message.hex()}
        found.append(Finding("SIGNATURE_INVALID", evidence))
    return found


def judge_op(fact: Fact, parent: State, signers: Signers) -> list[Finding]:
    """Return every reason of phases 4 and 5 why an operation is rejected, against its parent state.

    Its epoch must be that of the parent (`EPOCH_MISMATCH`); then as `verify_attested_op` and `check_attested_op`. An
    operation is judged against its parent state, never the current one, so its verdict does not change with time.
    """
    found = verify_attested_op(fact, signers)
    if fact.attested is not None:
        op = fact.attested.op
        if op.parent_epoch != parent.epoch:
            # Integers of 64 bits are texts: readers of JSON may round them.
            evidence = {"expected": str(parent.epoch), "actual": str(op.parent_epoch)}
            found.append(Finding("EPOCH_MISMATCH", evidence))
        found += check_attested_op(parent, op)
    return found
