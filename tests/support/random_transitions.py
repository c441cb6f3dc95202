"""Random facts about AMP transitions: few parents and successors, so that claims meet, contradict and follow."""

import hashlib

from strandline.dialects.aura import author
from strandline.dialects.aura.reduce.contexts.transitions import transition_id

_KINDS = {
    "Proposed": 2, "Certified": 8, "Finalized": 4, "Abort": 1, "Conflict": 0.5, "Alarm": 1, "Supersession": 1,
    "agree": 8,
}  # fmt: skip


def random_transitions(facts_by_namespace, histories, chance, rate=0.6):
    """Facts about transitions of some of these contexts, attested by the keys of `histories`."""
    for namespace, facts in facts_by_namespace.items():
        genesis = next((fact for fact in facts if fact.variant == "ContextGenesis"), None)
        if genesis is not None and chance.random() < rate:
            named = sorted({fact.content["channel"] for fact in facts if "channel" in fact.content})
            members = [histories[each] for each in genesis.content["members"] if each in histories]
            if named and members:
                yield from _Transitions(namespace, named, members, chance).facts(chance.randint(2, 12))


class _Transitions:
    def __init__(self, namespace, channels, members, chance):
        self.namespace, self.channels, self.members, self.chance = namespace, channels[:2], members, chance

    def facts(self, count):
        for _ in range(count):
            kind = self.chance.choices(list(_KINDS), list(_KINDS.values()))[0]
            one = self.identity()
            if kind == "agree":
                content = {
                    "consensus_id": bytes(32), "operation_hash": transition_id(one), "threshold_met": True,
                    "participant_count": len(self.members),
                }  # fmt: skip
                yield self.attested("Consensus", content, everybody=0.9)
                if self.chance.random() < 0.8:
                    yield self.attested(
                        "AmpTransitionFinalized", {"identity": one, "consensus_id": bytes(32)}, everybody=0
                    )
            else:
                yield self.attested(f"AmpTransition{kind}", getattr(self, kind.lower())(one), everybody=0.8)

    def identity(self):
        epoch = self.chance.choice((0, 0, 0, 1, 1, 2, 300, 2**64 - 2))
        return {
            "context": self.namespace.id, "channel": self.chance.choice(self.channels), "parent_epoch": epoch,
            "parent_commitment": self.small(epoch), "successor_epoch": epoch + 1,
            "successor_commitment": self.small(epoch + 1), "membership_commitment": bytes(32),
            "transition_policy": self.chance.choice(
                ("NormalTransition", "NormalTransition", "EmergencyCryptoshredTransition")
            ),
        }  # fmt: skip

    def small(self, epoch):
        """One of two commitments, mostly the first: so transitions often follow one another."""
        return hashlib.sha256(f"{epoch}/{self.chance.random() < 0.15}".encode()).digest()

    def proposed(self, one):
        reason = self.chance.choice(("Routine", "SuspiciousActivity", "ConfirmedCompromise"))
        return {"identity": one, "reason": reason}

    def certified(self, one):
        return {"identity": one}

    def finalized(self, one):
        return {"identity": one, "consensus_id": bytes(32)}

    def abort(self, one):
        return {"parent": _parent(one), "transition_id": transition_id(one), "scope": self.scope()}

    def conflict(self, one):
        return {"parent": _parent(one), "first": transition_id(one), "second": bytes(32)}

    def alarm(self, one):
        return {"parent": _parent(one), "suspect": transition_id(one)}

    def supersession(self, one):
        named = {"superseded": transition_id(one), "superseding": bytes(32)}
        return {"parent": _parent(one), **named, "scope": self.scope()}

    def scope(self):
        return self.chance.choice(("A2LiveOnly", "A2AndA3"))

    def attested(self, variant, content, everybody):
        order = self.chance.randbytes(32)
        fact = author.relational(
            self.namespace, variant, content, order=order, timestamp={"OrderClock": order}
        )
        is_all = self.chance.random() < everybody
        for history in self.members if is_all else self.chance.sample(self.members, 1):
            fact = author.attest(fact, history.id, history.tip.commitment, history.signer_at(history.tip))
        return fact


def _parent(identity):
    return {name: identity[name] for name in ("context", "channel", "parent_epoch", "parent_commitment")}
