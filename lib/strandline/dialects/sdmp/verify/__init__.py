"""Judging node journals: the checks of one element, and which lines a set of frames admits."""

from strandline.dialects.sdmp.verify.chain import Link, link_of, positions, root_of
from strandline.dialects.sdmp.verify.elements import (
    check_element,
    malformed,
    misplaced,
    non_canonical,
    not_held,
    number_mismatch,
    predecessor_unknown,
    refused_announcement,
)
from strandline.dialects.sdmp.verify.judgement import Delivery, Judgement, judge

__all__ = [
    "Delivery",
    "Judgement",
    "Link",
    "check_element",
    "judge",
    "link_of",
    "malformed",
    "misplaced",
    "non_canonical",
    "not_held",
    "number_mismatch",
    "positions",
    "predecessor_unknown",
    "refused_announcement",
    "root_of",
]
