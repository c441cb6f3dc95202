"""The state of an authority as a pure function of its accepted facts."""

from strandline.dialects.aura.reduce.authority import (
    AuthorityState,
    TreeStateSummary,
    reduce_authority,
    reduce_columns,
)
from strandline.dialects.aura.reduce.base import base_commitment, base_state
from strandline.dialects.aura.reduce.chain import OperationRow, chain_of
from strandline.dialects.aura.reduce.forks import forks, verify_fork
from strandline.dialects.aura.reduce.journal import ContextAsAuthority, Journal
from strandline.dialects.aura.reduce.proofs import leaf_proof, proven_root, verify_leaf_proof
from strandline.dialects.aura.reduce.pruning import plan_authority, prove_authority
from strandline.dialects.aura.reduce.skeletons import (
    decode_op_skeleton,
    decode_state_carry,
    do_fit,
    encode_op_skeleton,
    encode_state_carry,
    skeleton_of,
    unbuilt_ops,
)
from strandline.dialects.aura.reduce.state import REDUCER, parse_state, state_cbor

__all__ = [
    "REDUCER",
    "AuthorityState",
    "ContextAsAuthority",
    "Journal",
    "OperationRow",
    "TreeStateSummary",
    "base_commitment",
    "base_state",
    "chain_of",
    "decode_op_skeleton",
    "decode_state_carry",
    "do_fit",
    "encode_op_skeleton",
    "encode_state_carry",
    "forks",
    "leaf_proof",
    "parse_state",
    "plan_authority",
    "prove_authority",
    "proven_root",
    "reduce_authority",
    "reduce_columns",
    "skeleton_of",
    "state_cbor",
    "unbuilt_ops",
    "verify_fork",
    "verify_leaf_proof",
]
