"""Writing facts of authorities and contexts without Spark."""

from strandline.dialects.aura.author.contexts import merge_attest, next_charge
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
from strandline.dialects.aura.author.reading import FactRefused, decode, from_json
from strandline.dialects.aura.author.synthetic import generate
from strandline.dialects.aura.author.synthetic_contexts import generate_contexts

__all__ = [
    "FactRefused",
    "Signer",
    "append",
    "attest",
    "context_genesis",
    "decode",
    "from_json",
    "generate",
    "generate_contexts",
    "genesis",
    "merge_attest",
    "next_charge",
    "receipt",
    "relational",
    "signed_op",
    "snapshot",
]
