"""Increments: the state of a group from its stored state and a few new entries.

They are exact if no log is forked and the new entries are messages, acks and screws that extend tips of active logs.
"""

from strandline.dialects.devicelog.reduce.increment.grow import Increment, increment
from strandline.dialects.devicelog.reduce.increment.screws import JudgedScrew
from strandline.dialects.devicelog.reduce.increment.stored import (
    Bounds,
    Tail,
    Tip,
    effective,
    needed_above,
)
from strandline.dialects.devicelog.reduce.increment.tips import can_extend

__all__ = [
    "Bounds",
    "Increment",
    "JudgedScrew",
    "Tail",
    "Tip",
    "can_extend",
    "effective",
    "increment",
    "needed_above",
]
