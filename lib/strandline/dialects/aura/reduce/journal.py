"""Journals of one namespace: sets of facts that merge by union."""

from collections.abc import Iterable, Mapping

from strandline.core.errors import NamespaceMismatch, UsageError
from strandline.dialects.aura.types import Fact, Namespace

_NAMED = {"authority": "an authority", "context": "a context"}


class KindMismatch(UsageError):  # noqa: N818 - as the classes of the product that it stands for
    """A journal was reduced as one of the other kind."""

    def __init__(self, namespace: Namespace) -> None:
        [wanted] = _NAMED.keys() - {namespace.kind}
        super().__init__(
            f"{namespace.kind}_AS_{wanted}".upper(),
            f"{namespace.text} is {_NAMED[namespace.kind]}: it has no state of {_NAMED[wanted]}.",
            f"Give the journal of {_NAMED[wanted]}.",
        )


class ContextAsAuthority(KindMismatch):
    """A journal of a context was reduced as that of an authority."""


class AuthorityAsContext(KindMismatch):
    """A journal of an authority was reduced as that of a context."""


class Journal:
    """A set of facts of one namespace, by (order, fact id)."""

    __slots__ = ("_facts", "namespace")

    def __init__(self, namespace: Namespace, facts: Iterable[Fact] = ()) -> None:
        """Take facts of this namespace.

        Raises:
            NamespaceMismatch: a fact belongs to another one.
        """
        by_id = {fact.fact_id: fact for fact in facts}
        for fact in by_id.values():
            if fact.namespace != namespace:
                raise NamespaceMismatch(namespace.text, fact.namespace.text)
        self.namespace = namespace
        self._facts: Mapping[bytes, Fact] = by_id

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts in order: two facts with one token are both there."""
        return tuple(sorted(self._facts.values(), key=lambda fact: (fact.order, fact.fact_id)))

    def join(self, other: "Journal") -> "Journal":
        """Return the union: commutative, associative, idempotent.

        Raises:
            NamespaceMismatch: the other journal belongs to another namespace; nothing is changed.
        """
        if other.namespace != self.namespace:
            raise NamespaceMismatch(self.namespace.text, other.namespace.text)
        both = Journal(self.namespace)
        # Both are of this namespace: no fact is looked at.
        both._facts = {**self._facts, **other._facts}  # noqa: SLF001 - of this class
        return both

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Journal) and (self.namespace, self._facts.keys()) == (
            other.namespace,
            other._facts.keys(),
        )

    def __hash__(self) -> int:
        return hash((self.namespace, frozenset(self._facts)))

    def __len__(self) -> int:
        return len(self._facts)
