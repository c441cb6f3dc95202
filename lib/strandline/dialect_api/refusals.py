"""Namespaces that a reduction refuses: there may be any number of them, so the driver holds the first names alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs
from strandline.frames.listed import MOST_PUSHED
from strandline.frames.one_task import broadcast
from strandline.frames.union import union

MOST_NAMED: Final = MOST_PUSHED
"""Refused namespaces of a dialect that a run names: the next run reduces these alone. Of more it would open all files
anyway, so then it reduces everything.
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A namespace that was not reduced because of a limit, or what `code` says: its rows and its state stay.

    `next` is the next step.
    """

    namespace: str
    message: str
    code: str = "REDUCE_LIMIT"
    next: str = "Raise the limit on a machine with enough memory, or exclude the writer."


@dataclass(frozen=True, slots=True)
class Refused:
    """The namespaces that a reduction refused, one or more.

    `first` has those with the least names, ascending, at most `MOST_NAMED`; `total` is the number of all;
    `namespaces` has a row for each: namespace.
    """

    first: tuple[Refusal, ...]
    total: int
    namespaces: DataFrame

    def others(self, rows: DataFrame) -> DataFrame:
        """Keep the rows of namespaces that were not refused."""
        return rows.join(self.namespaces, "namespace", "left_anti").select(*rows.columns)

    @property
    def names(self) -> list[str]:
        """The names in `first`."""
        return [each.namespace for each in self.first]


def refused(found: DataFrame, jobs: Jobs, refusal: Callable[[Row], Refusal]) -> Refused | None:
    """Refuse the namespaces of `found`, or return None without any. `refusal` makes a refusal of a row.

    Reads:  found: namespace (each once), ..
    """
    least = found.orderBy("namespace").limit(MOST_NAMED)
    rows = jobs.row(least.agg(F.collect_list(F.struct(*found.columns)).alias("rows")))["rows"]
    if not rows:
        return None
    kept = jobs.checkpoint(found.select("namespace"), "refused namespaces")
    first = tuple(map(refusal, sorted(rows, key=lambda row: row["namespace"])))
    if len(first) < MOST_NAMED:
        return Refused(first, len(first), broadcast(kept))
    return Refused(first, jobs.row(kept.agg(F.count(F.lit(1)).alias("total")))["total"], kept)


def together(parts: Iterable[Refused | None]) -> Refused | None:
    """Return the refused namespaces of parts of a reduction, which have different ones; None without any."""
    some = [part for part in parts if part is not None]
    if len(some) < 2:
        return some[0] if some else None
    first = sorted((each for part in some for each in part.first), key=lambda each: each.namespace)
    namespaces = union(part.namespaces for part in some)
    return Refused(tuple(first[:MOST_NAMED]), sum(part.total for part in some), namespaces)
