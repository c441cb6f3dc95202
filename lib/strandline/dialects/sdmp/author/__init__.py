"""Writing local journals: which pairs to write, the lines they become, when the writer stops, answers to peers."""

from strandline.dialects.sdmp.author.answers import MAX_ANSWER_LINES, Answers, answer, answers
from strandline.dialects.sdmp.author.lines import append, chained
from strandline.dialects.sdmp.author.local_nodes import LocalNodes
from strandline.dialects.sdmp.author.resources import (
    ResourceKey,
    announced_resource,
    new_resources,
    pending,
    restored_resource,
)
from strandline.dialects.sdmp.author.sync import sync, sync_pairs
from strandline.dialects.sdmp.author.synthetic import synthetic, synthetic_id
from strandline.dialects.sdmp.author.writer import (
    MAX_LINES_PER_COMMIT,
    StopCode,
    WriterDecision,
    decide,
    next_commit,
)

__all__ = [
    "MAX_ANSWER_LINES",
    "MAX_LINES_PER_COMMIT",
    "Answers",
    "LocalNodes",
    "ResourceKey",
    "StopCode",
    "WriterDecision",
    "announced_resource",
    "answer",
    "answers",
    "append",
    "chained",
    "decide",
    "new_resources",
    "next_commit",
    "pending",
    "restored_resource",
    "sync",
    "sync_pairs",
    "synthetic",
    "synthetic_id",
]
