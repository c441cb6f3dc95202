"""The names of the tables of Aura journals."""

from typing import Final

FACTS: Final = "aura_fact"
OPERATIONS: Final = "attested_op"
AUTHORITIES: Final = "authority_state"
LEAVES: Final = "authority_leaf"
EQUIVOCATIONS: Final = "equivocation"
STATES: Final = "namespace_state"
SNAPSHOTS: Final = "snapshot"
REDUCED: Final = (OPERATIONS, AUTHORITIES, LEAVES, EQUIVOCATIONS)
