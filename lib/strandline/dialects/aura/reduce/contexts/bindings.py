"""Bindings of a context: agreements of its members, by consent or by a proven consensus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from strandline.core.equivocation import MAX_MEMBERS
from strandline.dialects.aura.reduce.contexts.bodies import Body, quorum

CONSENSUS: Final = "consensus"
"""The generic type of proven consensus; no fact may use it."""

Pair: TypeAlias = tuple[bytes, bytes]
"""A consensus id and the hash of the operation that it is about."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding. `body` decided it: of several with equal values the one with the least id.

    `generic_type` of generic ones, `account` and `guardian` of the others. `data` is the hash or the binding's data.
    `consensus_ids` are proven over its body, ascending, at most 65,536. `duplicates` counts other hashes for the same
    pair.
    """

    binding_type: str
    body: Body
    data: bytes
    generic_type: str | None = None
    account: bytes | None = None
    guardian: bytes | None = None
    duplicates: int = 0
    consensus_ids: tuple[bytes, ...] = ()


def proven_pairs(met: Mapping[str, Sequence[Body]], members: int) -> dict[Pair, Body]:
    """Return the proven pairs, each with the least body that proves it.

    Attestations are the proof: a body must have `threshold_met` and as many attestors on chain as a quorum, and as
    `participant_count`. A claimed threshold proves nothing.
    """
    needed = quorum(members)
    found: dict[Pair, Body] = {}
    for body in met.get("Consensus", ()):
        content = body.content
        if content["threshold_met"] and len(body.on_chain) >= max(needed, content["participant_count"]):
            found.setdefault((content["consensus_id"], content["operation_hash"]), body)
    return found


def bindings_of(met: Mapping[str, Sequence[Body]], proven: Mapping[Pair, Body]) -> list[Binding]:
    """Return the bindings of met bodies, given by variant with ascending ids, and of proven pairs.

    - of guardian bindings of one account and guardian that with the greatest body id; the others are duplicates;
    - a recovery grant iff a guardian binding of its account and guardian is met;
    - generic ones by type and data. Equal values are one binding, and nothing removes one.
    """
    over: dict[bytes, list[bytes]] = {}
    for consensus_id, operation_hash in sorted(proven):
        over.setdefault(operation_hash, []).append(consensus_id)

    def binding(kind: str, body: Body, data: bytes, **more: str | bytes | int) -> Binding:
        ids = over.get(body.body_id, [])[:MAX_MEMBERS]
        return Binding(kind, body, data, **more, consensus_ids=tuple(ids))  # type: ignore[arg-type]

    guardians: dict[tuple[bytes, bytes], list[Body]] = {}
    for body in met.get("GuardianBinding", ()):
        guardians.setdefault((body.content["account_id"], body.content["guardian_id"]), []).append(body)
    found = []
    for (account, guardian), bodies in guardians.items():
        last = bodies[-1]
        others = {body.content["binding_hash"] for body in bodies} - {last.content["binding_hash"]}
        found.append(
            binding(
                "GuardianBinding", last, last.content["binding_hash"], account=account, guardian=guardian,
                duplicates=len(others),
            )
        )  # fmt: skip
    grants: dict[tuple[bytes, bytes, bytes], Body] = {}
    for body in met.get("RecoveryGrant", ()):
        content = body.content
        if (content["account_id"], content["guardian_id"]) in guardians:
            grants.setdefault((content["account_id"], content["guardian_id"], content["grant_hash"]), body)
    for (account, guardian, grant), body in grants.items():
        found.append(binding("RecoveryGrant", body, grant, account=account, guardian=guardian))
    generic: dict[tuple[str, bytes], Body] = {}
    for body in met.get("Generic", ()):
        generic.setdefault((body.content["binding_type"], body.content["binding_data"]), body)
    generic |= {(CONSENSUS, b"".join(pair)): body for pair, body in proven.items()}
    found += [binding("Generic", body, data, generic_type=kind) for (kind, data), body in generic.items()]
    return found
