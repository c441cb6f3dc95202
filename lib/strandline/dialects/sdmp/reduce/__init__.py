"""The state of one node journal as a pure function of its accepted lines: row, state hash, forks."""

from strandline.dialects.sdmp.reduce.forks import MAX_MEMBERS, Equivocation, fork, forks
from strandline.dialects.sdmp.reduce.state import (
    REDUCER_VERSION,
    NodeJournal,
    journal,
    leaves,
    state_bytes,
    state_bytes_of,
    state_hash,
    state_hash_of,
)
from strandline.dialects.sdmp.reduce.tree import Leaf, n_of

__all__ = [
    "MAX_MEMBERS",
    "REDUCER_VERSION",
    "Equivocation",
    "Leaf",
    "NodeJournal",
    "fork",
    "forks",
    "journal",
    "leaves",
    "n_of",
    "state_bytes",
    "state_bytes_of",
    "state_hash",
    "state_hash_of",
]
