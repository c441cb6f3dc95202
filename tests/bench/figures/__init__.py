"""The figures, in groups that share their data: what each group measures, in the order in which a full run does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bench.bench import Bench
from bench.figures import (
    admission,
    authorities,
    authority_lakes,
    checkpoints,
    collections,
    context_lakes,
    contexts,
    device_lakes,
    devices,
    growth,
    ingest,
    large,
    log_ingest,
    logs,
    moving,
    orders,
    own,
    scale_out,
    signatures,
    small_batches,
    tip,
)
from bench.sizes import CHUNKS, LARGEST, WARM, WARM_LARGE, Sizes


@dataclass(frozen=True, slots=True)
class Group:
    """Figures that one function measures, warmed up at the sizes `warm`; `chunks` of the input must be there."""

    numbers: frozenset[int]
    measure: Callable[[Bench], None]
    chunks: int
    has_long: bool
    warm: Sizes


GROUPS: Final = (
    # First, so that the workers whose memory is watched have done little before.
    Group(frozenset({7, 8, 9, 12, 25, 30, 31, 35}), large.measure, CHUNKS, False, WARM_LARGE),
    Group(frozenset({1, 6, 10, 11, 13, 28, 29}), ingest.measure, 2, True, WARM),
    Group(frozenset({2, 3, 4}), admission.measure, 1, True, WARM),
    Group(frozenset({5}), tip.measure, 1, True, WARM_LARGE),
    Group(frozenset({14, 15}), signatures.measure, 0, False, WARM),
    Group(frozenset({17, 18, 19, 21, 32}), orders.measure, 0, False, WARM),
    Group(frozenset({16, 39, 40}), log_ingest.measure, 0, False, WARM_LARGE),
    Group(frozenset({20, 22}), logs.measure, 0, False, WARM_LARGE),
    Group(frozenset({23, 27}), own.measure, 1, False, WARM_LARGE),
    Group(frozenset({24, 26, 33}), moving.measure, CHUNKS // 2, False, WARM_LARGE),
    Group(frozenset({34}), scale_out.measure, 1, False, WARM_LARGE),
    Group(frozenset({36}), growth.measure, LARGEST, False, WARM_LARGE),
    Group(frozenset({37}), growth.measure, 2, True, WARM),
    Group(frozenset({69}), growth.measure, 0, False, WARM_LARGE),
    Group(frozenset({38}), small_batches.measure, 1, False, WARM_LARGE),
    Group(frozenset(range(41, 48)), authorities.measure, 0, False, WARM_LARGE),
    Group(frozenset({48, 49, 50}), authority_lakes.measure, 0, False, WARM_LARGE),
    Group(frozenset({51, 52, 53, 55}), devices.measure, 0, False, WARM_LARGE),
    Group(frozenset({54, 56, 57}), device_lakes.measure, 0, False, WARM_LARGE),
    Group(frozenset(range(58, 62)), contexts.measure, 0, False, WARM_LARGE),
    Group(frozenset({67, 68}), context_lakes.measure, 0, False, WARM_LARGE),
    Group(frozenset(range(62, 67)), collections.measure, 0, False, WARM_LARGE),
    Group(frozenset({70}), checkpoints.measure, 1, False, WARM_LARGE),
)
