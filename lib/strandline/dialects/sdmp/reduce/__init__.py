"""The state of node journals as pure functions of accepted lines: journal row, state hash, forks, peer status."""

from strandline.dialects.sdmp.reduce.forks import MAX_MEMBERS, Equivocation, fork, forks, forks_of
from strandline.dialects.sdmp.reduce.peers import (
    PeerStatus,
    WantedResource,
    peer_statuses,
    requests,
    wanted_resources,
)
from strandline.dialects.sdmp.reduce.state import (
    REDUCER_VERSION,
    NodeJournal,
    journal,
    journal_of,
    leaves,
    state_bytes,
    state_hash,
    state_hash_of,
)
from strandline.dialects.sdmp.verify import Leaf, n_of

__all__ = [
    "MAX_MEMBERS",
    "REDUCER_VERSION",
    "Equivocation",
    "Leaf",
    "NodeJournal",
    "PeerStatus",
    "WantedResource",
    "fork",
    "forks",
    "forks_of",
    "journal",
    "journal_of",
    "leaves",
    "n_of",
    "peer_statuses",
    "requests",
    "state_bytes",
    "state_hash",
    "state_hash_of",
    "wanted_resources",
]
