"""The names of the tables of Aura journals."""

from typing import Final

from strandline.contracts.shared_tables import EQUIVOCATIONS

FACTS: Final = "aura_fact"
OPERATIONS: Final = "attested_op"
AUTHORITIES: Final = "authority_state"
LEAVES: Final = "authority_leaf"
BINDINGS: Final = "relational_binding"
FLOWS: Final = "flow_budget"
CHANNELS: Final = "channel_epoch"
CAPABILITIES: Final = "capability"
CONTEXT_REDUCED: Final = (BINDINGS, FLOWS, CHANNELS, CAPABILITIES)
REDUCED: Final = (OPERATIONS, AUTHORITIES, LEAVES, *CONTEXT_REDUCED, EQUIVOCATIONS)
HOME: Final = ("namespace", "bucket")
"""The columns of every table that place a namespace."""
BODY_KEY: Final = ("namespace", "body_id")
"""The columns that name a body of a context; several facts can have it."""
STATE: Final = (*HOME, "record_count", "state_hash", "reducer_version")
"""The columns of a row of `namespace_state` that a reduction makes."""
