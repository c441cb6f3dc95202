"""Verification of node journals: checks of one element, the lines that frames admit, and the tree of accepted lines."""

from strandline.dialects.sdmp.verify.announcements import judge_announcement, refused_announcement
from strandline.dialects.sdmp.verify.archived import tip_of_text
from strandline.dialects.sdmp.verify.chain import Link
from strandline.dialects.sdmp.verify.elements import (
    malformed,
    misplaced,
    non_canonical,
    not_stored,
    number_mismatch,
)
from strandline.dialects.sdmp.verify.judgement import Delivery, Judgement, judge
from strandline.dialects.sdmp.verify.tree import Leaf, Tree, n_of, tree_of, tree_of_lines, tree_of_links

__all__ = [
    "Delivery",
    "Judgement",
    "Leaf",
    "Link",
    "Tree",
    "judge",
    "judge_announcement",
    "malformed",
    "misplaced",
    "n_of",
    "non_canonical",
    "not_stored",
    "number_mismatch",
    "refused_announcement",
    "tip_of_text",
    "tree_of",
    "tree_of_lines",
    "tree_of_links",
]
