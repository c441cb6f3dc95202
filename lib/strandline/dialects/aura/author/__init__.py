"""Writing facts of authorities and contexts without Spark."""

from strandline.dialects.aura.author.facts import (
    Signer,
    append,
    attest,
    context_genesis,
    genesis,
    receipt,
    relational,
    signed_op,
    snapshot,
)

__all__ = [
    "Signer",
    "append",
    "attest",
    "context_genesis",
    "genesis",
    "receipt",
    "relational",
    "signed_op",
    "snapshot",
]
