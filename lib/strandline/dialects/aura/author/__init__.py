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
from strandline.dialects.aura.author.synthetic import generate

__all__ = [
    "Signer",
    "append",
    "attest",
    "context_genesis",
    "generate",
    "genesis",
    "receipt",
    "relational",
    "signed_op",
    "snapshot",
]
