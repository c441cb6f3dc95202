"""Forks of contexts and snapshots: claims of one key at one place that contradict each other, with their evidence."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from uuid import UUID

from strandline.core.equivocation import Context, Equivocation, equivocation
from strandline.dialects.aura.reduce.contexts.snapshot_verdicts import SnapshotVerdicts
from strandline.dialects.aura.reduce.contexts.state import RelationalState
from strandline.dialects.aura.types import DIALECT, ChangePolicy, Fact, Genesis, KeyRecord, Namespace, Policy
from strandline.dialects.aura.verify import AcceptedOp, State, state_commitment_input

CONSENSUS_FORK: Final = "AURA_CONSENSUS_FORK"
CHECKPOINT_FORK: Final = "AURA_CHECKPOINT_FORK"
COMMIT_FORK: Final = "AURA_COMMIT_FORK"
SNAPSHOT_FORK: Final = "AURA_SNAPSHOT_FORK"

StateInputs = Mapping[tuple[bytes, bytes], bytes]
"""What the commitment of a state hashes after its tag, by authority and commitment: it holds the group key."""


class _Stated:
    """The values that the commitment of an operation's new state covers."""

    def __init__(self, op: AcceptedOp, policy: Policy) -> None:
        self.op_id = op.op_id
        self.epoch = op.new_epoch
        self.key: KeyRecord | None = KeyRecord(op.new_group_key, op.new_min_signers, op.new_max_signers)
        self.policy = policy


def state_inputs(operations: Iterable[AcceptedOp], carried: State | None = None) -> dict[bytes, bytes]:
    """Return, of the operations of one authority, what each new commitment hashes after its tag, by commitment.

    `carried` is the state by which others were pruned. States that only these lead to are left out.
    """
    policies: dict[bytes, Policy] = {} if carried is None else {carried.commitment: carried.policy}
    found: dict[bytes, bytes] = {}
    for op in sorted(operations, key=lambda op: op.height):
        operation = op.attested.op.operation
        if isinstance(operation, Genesis):
            policy = operation.policy
        elif isinstance(operation, ChangePolicy):
            policy = operation.new_policy
        elif op.new_commitment in policies:
            policy = policies[op.new_commitment]
        elif op.parent_commitment in policies:
            policy = policies[op.parent_commitment]
        else:
            continue
        policies[op.new_commitment] = policy
        found[op.new_commitment] = state_commitment_input(_Stated(op, policy), op.new_tree_commitment)
    return found


def claim_of(fact: Fact) -> tuple[str, str, bytes] | None:
    """Return the kind of fork that a fact could be part of, its position and its claim, or None."""
    content = fact.content
    if fact.variant == "Consensus":
        return CONSENSUS_FORK, content["consensus_id"].hex(), content["operation_hash"]
    if fact.variant == "AmpChannelCheckpoint":
        position = f"{content['channel'].hex()}:{content['chan_epoch']}:{content['base_gen']}"
        return CHECKPOINT_FORK, position, content["ck_commitment"]
    return None


def attested_forks(
    namespace: Namespace, facts: Iterable[Fact], states: StateInputs
) -> Iterator[Equivocation]:
    """Yield a row per authority that attested two claims: about one consensus, or one generation of a channel.

    A row shows the states under which it did: where one cannot be built any more there is none.

    Every accepted attestation counts, on chain or not. Of the facts of one claim the one with the least id is shown.
    """
    claims: dict[tuple[str, bytes, str], dict[bytes, Fact]] = {}
    for fact in sorted(facts, key=lambda fact: fact.fact_id):
        found = claim_of(fact)
        if found is not None:
            kind, position, claim = found
            for each in fact.attest:
                claims.setdefault((kind, each.authority, position), {}).setdefault(claim, fact)
    for (kind, authority, position), by_claim in sorted(claims.items()):
        if len(by_claim) > 1:
            found_row = _row(namespace, kind, authority, position, by_claim.values(), states)
            yield from () if found_row is None else (found_row,)


def commit_forks(state: RelationalState) -> Iterator[Equivocation]:
    """Yield a row per epoch of a channel that two or more proven commits leave. Nobody in particular made both."""
    for channel in state.channels:
        for parent, bumps in channel.forks.items():
            yield equivocation(
                state.namespace.text, DIALECT, COMMIT_FORK, channel.channel.hex(), str(parent),
                records={fact.fact_id: fact.cbor for fact in bumps.values()}, attributable=False,
            )  # fmt: skip


def snapshot_forks(
    namespace: Namespace, verdicts: SnapshotVerdicts, states: StateInputs
) -> Iterator[Equivocation]:
    """Yield the row of an authority with sound snapshots on two or more branches, if their states can be shown."""
    if len(verdicts.branches) > 1:
        found = _row(namespace, SNAPSHOT_FORK, namespace.id, "tips", verdicts.branches.values(), states)
        yield from () if found is None else (found,)


def _row(
    namespace: Namespace,
    kind: str,
    authority: bytes,
    position: str,
    facts: Iterable[Fact],
    states: StateInputs,
) -> Equivocation | None:
    by_id = {fact.fact_id: fact for fact in facts}
    shown = [by_id[id_] for id_ in sorted(by_id)[:2]]
    named = {each.commitment for fact in shown for each in fact.attest if each.authority == authority}
    if any((authority, each) not in states for each in named):
        return None
    return equivocation(
        namespace.text, DIALECT, kind, str(UUID(bytes=authority)), position,
        records={id_: fact.cbor for id_, fact in by_id.items()}, attributable=True,
        context=[Context("state", each, states[authority, each]) for each in sorted(named)],
    )  # fmt: skip
