"""Time, side by side: contenders take turns in one process, and each says where its time went."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bench.results import Case, Side

OPENING = "look at the lake"
"""What a pipeline does before it names its first stage."""


@dataclass(frozen=True, slots=True)
class Run:
    """One timed run: its seconds, and those of its stages in their order."""

    seconds: float
    stages: Mapping[str, float] = field(default_factory=dict)

    @property
    def writing(self) -> float:
        """The seconds of its commits."""
        return sum(seconds for stage, seconds in self.stages.items() if stage.startswith("writing"))


Contender = Callable[[], Run]
"""Does its own preparation untimed and returns what it timed."""


class Stages:
    """A pipeline's progress, kept as seconds a stage; a stage that comes again adds to its seconds.

    Frames are lazy: a stage's name says what was asked for, and the work of one frame may be done under the next name.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._name = OPENING
        self._began = time.perf_counter()

    def stage(self, name: str, count: Callable[[], int] | None = None) -> None:
        """End the stage before and begin this one."""
        now = time.perf_counter()
        self._seconds[self._name] = self._seconds.get(self._name, 0.0) + now - self._began
        self._name, self._began = name, now

    def step(self, name: str) -> None:
        """End the stage before and begin this one: a step of it is a stage here."""
        self.stage(name)

    def note(self, text: str) -> None:
        """Do nothing."""

    def ended(self) -> Mapping[str, float]:
        """Return the seconds of all stages, the last one ended now."""
        self.stage("")
        return dict(self._seconds)


def timed(work: Callable[[], object]) -> Run:
    """Return how long `work` took."""
    began = time.perf_counter()
    work()
    return Run(time.perf_counter() - began)


def alternate(contenders: Mapping[str, Contender], repetitions: int) -> Mapping[str, tuple[Run, ...]]:
    """Run the contenders in turns, A B A B, and return the runs of each."""
    runs: dict[str, list[Run]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, contender in contenders.items():
            runs[name].append(contender())
    return {name: tuple(each) for name, each in runs.items()}


def median_run(runs: tuple[Run, ...]) -> Run:
    """Return the run whose time is the median; of an even number the faster of the middle two."""
    return sorted(runs, key=lambda run: run.seconds)[(len(runs) - 1) // 2]


def seconds_side(name: str, runs: tuple[Run, ...]) -> Side:
    """Return the seconds of runs as one side of a comparison."""
    return Side(name, "s", tuple(run.seconds for run in runs))


def seconds_case(
    name: str, work: tuple[str, tuple[Run, ...]], against: tuple[str, tuple[Run, ...]], *beside: Side
) -> Case:
    """Return the ratio of the seconds of two contenders, with the stages of the first one's median run."""
    return Case(name, seconds_side(*work), seconds_side(*against), beside, median_run(work[1]).stages)
