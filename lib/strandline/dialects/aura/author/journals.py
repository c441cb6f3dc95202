"""Adding facts to journals in memory, by the rules of admission and of capabilities."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from strandline.core.errors import NamespaceMismatch, UsageError
from strandline.dialects.aura.reduce import Journal
from strandline.dialects.aura.reduce.contexts import AuthorityChain, is_bottom, reduce_context
from strandline.dialects.aura.types import Fact, Namespace
from strandline.dialects.aura.verify import KnownStates, PrunedOps, Verdict, admit


class NotARefinement(UsageError):  # noqa: N818 - the product's own word
    """A journal of refinements has another fact."""

    def __init__(self, variant: str) -> None:
        super().__init__(
            "NOT_A_REFINEMENT",
            f"A fact of the kind {variant} refines no capability, so nothing was changed.",
            "Give only Capability facts.",
        )


class PermissionDenied(UsageError):  # noqa: N818 - the book's own word
    """A refinement lacks attestations, or leaves nothing allowed."""

    def __init__(self, code: str, message: str, next_step: str) -> None:
        super().__init__(code, f"{message}, so nothing was changed.", next_step)


@dataclass(frozen=True)
class Merged:
    """A journal after a merge, and the verdicts on the facts that were not admitted, by id."""

    journal: Journal
    rejected: Mapping[bytes, Verdict] = field(default_factory=dict)
    deferred: Mapping[bytes, Verdict] = field(default_factory=dict)


def merge_facts(
    target: Journal,
    delta: Journal,
    known: Iterable[Fact] = (),
    states: KnownStates | None = None,
    pruned: Mapping[Namespace, PrunedOps] | None = None,
) -> Merged:
    """Return the target with every fact of the delta that is admitted; `known` are accepted facts of other journals.

    `states` are further known states of authorities, which no operation in `known` made; `pruned` are the pruned
    operations of these authorities.

    Raises:
        NamespaceMismatch: the delta belongs to another namespace; nothing is changed.
    """
    if delta.namespace != target.namespace:
        raise NamespaceMismatch(target.namespace.text, delta.namespace.text)
    verdicts = admit(delta.facts, [*known, *target.facts], pruned=pruned, states=states).verdicts
    by_status: dict[str, dict[bytes, Verdict]] = {}
    for fact in delta.facts:
        verdict = verdicts[fact.fact_id]
        by_status.setdefault(verdict.status, {})[fact.fact_id] = verdict
    accepted = by_status.get("accepted", {})
    taken = [fact for fact in delta.facts if fact.fact_id in accepted]
    return Merged(
        Journal(target.namespace, [*target.facts, *taken]),
        by_status.get("rejected", {}),
        by_status.get("deferred", {}),
    )


def refine_caps(target: Journal, refinement: Journal, chains: Mapping[bytes, AuthorityChain]) -> Journal:
    """Return the target with the refinements, which must count and leave something allowed.

    Raises:
        NamespaceMismatch: the refinement belongs to another context.
        NotARefinement: a fact is no `Capability`.
        PermissionDenied: `ATTEST_INSUFFICIENT`, neither the subject nor a quorum attests one; `CAPS_EMPTY`, nothing
            would be allowed to a subject. On every error the target is unchanged.
    """
    joined = target.join(refinement)
    for fact in refinement.facts:
        if fact.variant != "Capability":
            raise NotARefinement(fact.variant)
    state = reduce_context(joined.namespace, joined.facts, chains)
    met = {body.body_id for body in state.met.get("Capability", ())}
    if any(fact.body_id not in met for fact in refinement.facts):
        raise PermissionDenied(
            "ATTEST_INSUFFICIENT", "A refinement is attested neither by its subject nor by a quorum of the members",
            "Collect the missing attestations and give the merged fact.",
        )  # fmt: skip
    touched = {fact.content["subject"] for fact in refinement.facts}
    if any(each.subject in touched and is_bottom(each.cap) for each in state.capabilities):
        raise PermissionDenied(
            "CAPS_EMPTY", "The refinements leave a subject nothing that it may do",
            "Refine less; to take everything away, leave the member out of a new context.",
        )  # fmt: skip
    return joined
