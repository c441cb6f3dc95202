"""Forks of authorities: two or more operations that one group key signed for one state."""

from collections.abc import Iterator
from typing import Final

from strandline.core.equivocation import Equivocation, equivocation
from strandline.dialects.aura.reduce.chain import Chain
from strandline.dialects.aura.types import DIALECT, ZERO, Namespace
from strandline.dialects.aura.verify import AcceptedOp

KIND: Final = "AURA_OP_FORK"


def forks(namespace: Namespace, chain: Chain) -> Iterator[Equivocation]:
    """Yield a row per state with two or more valid children, by the commitment of that state.

    Of the facts that carry one operation, that with the least id stands for all. Two genesis operations name different
    keys, so nobody in particular made both.
    """
    for parent, ops in chain.forks.items():
        yield fork(namespace, parent, ops)


def fork(namespace: Namespace, parent: bytes, ops: list[AcceptedOp]) -> Equivocation:
    """Return the row for operations on one state."""
    first = ops[0]
    is_genesis = parent == ZERO
    return equivocation(
        namespace.text,
        DIALECT,
        KIND,
        "" if is_genesis else first.group_key.hex(),
        f"{first.attested.op.parent_epoch}:{parent.hex()}",
        records={op.fact.fact_id: op.fact.cbor for op in ops},
        attributable=not is_genesis,
    )
