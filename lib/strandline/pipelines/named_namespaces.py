"""The namespaces that a request of `snapshot`, `gc` or `checkpoint` names, by dialect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from strandline.core.errors import UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.pipelines.namespace_lookup import Found, find
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.store import TableStore


@dataclass(frozen=True, slots=True)
class Named:
    """The namespaces that a request names, by dialect: the chosen ones (none: all), and those left out."""

    chosen: Mapping[str, tuple[str, ...]]
    excluded: Mapping[str, tuple[str, ...]]

    def leaves_out(self, dialect: str) -> bool:
        """Return whether only namespaces of other dialects are chosen."""
        return bool(self.chosen) and dialect not in self.chosen


class Asked(Protocol):
    """What a command is asked for: dialects and namespaces (none: all), and those left out."""

    @property
    def dialects(self) -> tuple[str, ...]: ...

    @property
    def namespaces(self) -> tuple[str, ...]: ...

    @property
    def excluded(self) -> tuple[str, ...]: ...


def named(store: TableStore, dialects: Iterable[Dialect], request: Asked, context: RunContext) -> Named:
    """Look up the namespaces that a request names, all at once.

    Raises: UsageError as `namespace_lookup.find`, DIALECTS_DIFFER (the request leaves the dialect of one out).
    """
    with SparkJobs(context.progress) as jobs:
        by_name = {each.info.name: each for each in dialects}
        found = find((*request.namespaces, *request.excluded), by_name, store, jobs)
    for each in (found[name] for name in request.namespaces):
        if request.dialects and each.dialect not in request.dialects:
            raise UsageError(
                "DIALECTS_DIFFER",
                f"{each.namespace} is of the dialect {each.dialect}, and --dialect leaves it out.",
                f"Add --dialect {each.dialect}, or leave out the namespace.",
            )
    return Named(
        _by_dialect(found[name] for name in request.namespaces),
        _by_dialect(found[name] for name in request.excluded),
    )


def _by_dialect(found: Iterable[Found]) -> dict[str, tuple[str, ...]]:
    by_dialect: dict[str, tuple[str, ...]] = {}
    for each in dict.fromkeys(found):
        by_dialect[each.dialect] = (*by_dialect.get(each.dialect, ()), each.namespace)
    return by_dialect
