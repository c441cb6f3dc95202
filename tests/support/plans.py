"""The physical plans that Spark executed, as it states them itself, and what their scans of one table read."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from strandline.tables.commits import session_settings

_SCAN = re.compile(r"^\(\d+\) (?:Scan|BatchScan|FileScan)[^\n]*\n(?:[^\n]+\n?)*", re.MULTILINE)
_LOCATION = re.compile(r"^Location: (?P<index>\w+) ?\[(?P<paths>[^\]]*)", re.MULTILINE)
_SCHEMA = re.compile(r"^ReadSchema: struct<(?P<columns>.*)>", re.MULTILINE)
_PARTITIONS = re.compile(r"^PartitionFilters: \[(?P<filters>.*)\]", re.MULTILINE)


@dataclass(frozen=True)
class Scan:
    """One read of files: the kind of file listing behind it, the columns read, the filters on partitions."""

    index: str
    columns: frozenset[str]
    partitions: str
    text: str


@dataclass
class Plans:
    """Final plans in the order of execution, one text a query."""

    texts: list[str] = field(default_factory=list)

    def scans(self, table: str) -> list[Scan]:
        """Every read of the data files of `table`; reads of its log are left out."""
        found = []
        for text in self.texts:
            for node in _SCAN.findall(text):
                where = _LOCATION.search(node)
                if where is None or not where["paths"].split(",")[0].rstrip(" .").endswith(f"/{table}"):
                    continue
                schema, filters = _SCHEMA.search(node), _PARTITIONS.search(node)
                columns = re.findall(r"(?:^|,)(\w+):", schema["columns"] if schema else "")
                found.append(
                    Scan(where["index"], frozenset(columns), filters["filters"] if filters else "", node)
                )
        return found


@contextmanager
def executed_plans(spark) -> Iterator[Plans]:
    """Gather the plans of all queries of the block: Spark's own record of what it executed, not what was asked."""
    # Our own session lets Spark spell plans in short.
    with session_settings(spark, {"spark.sql.ui.explainMode": "formatted"}):
        yield from _gathered(spark)


def _gathered(spark) -> Iterator[Plans]:
    first = max((number for number, _ in _executed(spark)), default=-1) + 1
    plans = Plans()
    yield plans
    plans.texts = [text for number, text in _executed(spark) if number >= first]


def _executed(spark) -> list[tuple[int, str]]:
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    executions = spark._jsparkSession.sharedState().statusStore().executionsList()
    listed = [executions.apply(at) for at in range(executions.size())]
    return [(each.executionId(), each.physicalPlanDescription()) for each in listed]


@contextmanager
def most_rows(spark) -> Iterator[list[int]]:
    """Gather, for each query of the block, the most rows that one of its operators gave: the size of its joins."""
    first = max((number for number, _ in _executed(spark)), default=-1) + 1
    most: list[int] = []
    yield most
    store = spark._jsparkSession.sharedState().statusStore()
    most += [_most_rows(store, number) for number, _ in _executed(spark) if number >= first]


def _most_rows(store, number) -> int:
    values = store.executionMetrics(number)
    nodes = store.planGraph(number).allNodes()
    metrics = [node.metrics() for node in (nodes.apply(at) for at in range(nodes.size()))]
    named = [each.apply(at) for each in metrics for at in range(each.size())]
    counted = (values.get(each.accumulatorId()) for each in named if each.name() == "number of output rows")
    return max((int(each.get().replace(",", "")) for each in counted if each.isDefined()), default=0)
