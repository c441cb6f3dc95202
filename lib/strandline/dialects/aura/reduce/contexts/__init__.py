"""The state of a context as a pure function of its accepted facts and the chains of its members."""

from strandline.dialects.aura.reduce.contexts.bodies import (
    AuthorityChain,
    authority_chain,
    quorum,
)
from strandline.dialects.aura.reduce.contexts.capabilities import TOP, Cap, is_bottom, meet
from strandline.dialects.aura.reduce.contexts.channels import bump_hash
from strandline.dialects.aura.reduce.contexts.flows import Flow, FlowKey, effective_limit, headroom
from strandline.dialects.aura.reduce.contexts.rows import REDUCER, row_hash
from strandline.dialects.aura.reduce.contexts.state import RelationalState, reduce_context
from strandline.dialects.aura.reduce.journal import AuthorityAsContext

__all__ = [
    "REDUCER",
    "TOP",
    "AuthorityAsContext",
    "AuthorityChain",
    "Cap",
    "Flow",
    "FlowKey",
    "RelationalState",
    "authority_chain",
    "bump_hash",
    "effective_limit",
    "headroom",
    "is_bottom",
    "meet",
    "quorum",
    "reduce_context",
    "row_hash",
]
