"""The state of a context as a pure function of its accepted facts and the chains of its members."""

from strandline.dialects.aura.reduce.contexts.bindings import Binding
from strandline.dialects.aura.reduce.contexts.bodies import (
    AuthorityChain,
    Body,
    authority_chain,
    quorum,
)
from strandline.dialects.aura.reduce.contexts.capabilities import TOP, Cap, is_bottom, meet
from strandline.dialects.aura.reduce.contexts.channels import Channel, PendingBump, bump_hash
from strandline.dialects.aura.reduce.contexts.flows import Flow, FlowKey, effective_limit, headroom
from strandline.dialects.aura.reduce.contexts.rows import REDUCER, row_hash
from strandline.dialects.aura.reduce.contexts.state import Capability, RelationalState, reduce_context
from strandline.dialects.aura.reduce.journal import AuthorityAsContext

__all__ = [
    "REDUCER",
    "TOP",
    "AuthorityAsContext",
    "AuthorityChain",
    "Binding",
    "Body",
    "Cap",
    "Capability",
    "Channel",
    "Flow",
    "FlowKey",
    "PendingBump",
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
