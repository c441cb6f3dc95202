"""Writing local journals: lines from pairs, which pairs to write, when the writer stops, what to answer peers."""

from strandline.dialects.sdmp.author.answers import MAX_ANSWER_LINES, Answers, answer, answers
from strandline.dialects.sdmp.author.choices import LocalNodes
from strandline.dialects.sdmp.author.lines import append, chained
from strandline.dialects.sdmp.author.resources import (
    ResourceKey,
    announced_resource,
    landed,
    pending,
    restored_resource,
)
from strandline.dialects.sdmp.author.sync import new_pairs, sync, sync_pairs
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
    "landed",
    "new_pairs",
    "next_commit",
    "pending",
    "restored_resource",
    "sync",
    "sync_pairs",
    "synthetic",
    "synthetic_id",
]
