"""The state of a group of device logs as a pure function of its accepted entries."""

from strandline.dialects.devicelog.reduce.branches import key_of
from strandline.dialects.devicelog.reduce.forks import forks
from strandline.dialects.devicelog.reduce.graph import Graph, MissingEntryError
from strandline.dialects.devicelog.reduce.history import history
from strandline.dialects.devicelog.reduce.membership import Membership, Memberships, resolve
from strandline.dialects.devicelog.reduce.pruning import CARRY, plan_group
from strandline.dialects.devicelog.reduce.screws import Screw, check_screw
from strandline.dialects.devicelog.reduce.state import State, reduce, reducer_version
from strandline.dialects.devicelog.reduce.state_hash import LogState, state_hash
from strandline.dialects.devicelog.reduce.sync import (
    Found,
    Peer,
    Probe,
    common_length,
    missing,
    parse_message,
    sync_point,
)
from strandline.dialects.devicelog.reduce.view import View, empty_view_hash, prefix_hashes

__all__ = [
    "CARRY",
    "Found",
    "Graph",
    "LogState",
    "Membership",
    "Memberships",
    "MissingEntryError",
    "Peer",
    "Probe",
    "Screw",
    "State",
    "View",
    "check_screw",
    "common_length",
    "empty_view_hash",
    "forks",
    "history",
    "key_of",
    "missing",
    "parse_message",
    "plan_group",
    "prefix_hashes",
    "reduce",
    "reducer_version",
    "resolve",
    "state_hash",
    "sync_point",
]
