"""Journals of one namespace: sets of facts that merge by union."""

from collections.abc import Iterable, Mapping

from strandline.core.errors import NamespaceMismatch
from strandline.dialects.aura.types import Fact, Namespace


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
