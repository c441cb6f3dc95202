"""Whether a text is one query over the lake that changes nothing: asked of Spark's own plans, never of the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Protocol

from pyspark.sql import DataFrame, SparkSession

from strandline.core.errors import FaultError, UsageError
from strandline.core.nearest import did_you_mean
from strandline.pipelines.sql import pure
from strandline.pipelines.sql.scope import QueryScope
from strandline.session.plans import Plans, below, class_of, items, plans_of
from strandline.tables.location import Location
from strandline.tables.views import names

MOST_PARTS: Final = 10_000
"""Most nodes and expressions of a query: each is looked at, which takes a tenth of a millisecond and more."""

_BUILTIN: Final = (("builtin",), ("system", "builtin"))


class QueryCheck(Protocol):
    """One way to see that a query reads the lake and nothing else."""

    def frame(self, text: str) -> DataFrame:
        """Return the rows of the query `text`, nothing run yet. Raises: UsageError QUERY_INVALID, QUERY_REFUSED."""


def query_check(spark: SparkSession, location: Location) -> QueryCheck:
    """Return the way that a session has. Raises: FaultError PARSER_NOT_REACHED over Spark Connect."""
    plans = plans_of(spark)
    if plans is None:
        raise FaultError(
            "PARSER_NOT_REACHED",
            "over Spark Connect a query cannot be checked to change nothing",
            "run the query in the platform's own SQL editor, over the same tables and views",
        )
    return PlanCheck(spark, plans, QueryScope(location))


class PlanCheck:
    """The check by plans, in two steps, each against a list of what is allowed (`pipelines.sql.pure`).

    As parsed, since to resolve names already opens files and computes values:
    - it is one query, or looks at tables of the lake (SHOW, DESCRIBE), or explains a query;
    - each relation has a bare name, or one in the lake's schema, no options, and is no stream;
    - each function is one of Spark's that is listed, or a table function of a dialect;
    - names are written, not computed (IDENTIFIER), and nothing is a parameter.

    As analysed:
    - each relation is a table or view of the lake: no file, no view or variable of somebody else;
    - each node and each expression is listed: nothing by which a name came to mean something else.
    """

    def __init__(self, spark: SparkSession, plans: Plans, scope: QueryScope) -> None:
        self._spark = spark
        self._plans = plans
        self._scope = scope

    def frame(self, text: str) -> DataFrame:
        """Return the rows of the query `text`, nothing run yet. Raises: UsageError QUERY_INVALID, QUERY_REFUSED."""
        plan = self._plans.parsed(text)
        if self._looks(plan):
            return self._spark.sql(text)
        self._check_parsed(plan)
        frame = self._spark.sql(text)
        self._check_analysed(self._plans.analysed(frame))
        return frame

    def _looks(self, plan: Any) -> bool:
        """Return whether a statement looks at what it may look at; False for one that is no such statement."""
        name = class_of(plan)
        if name in pure.OF_TABLES:
            [table] = items(plan.children())
            self._check_looked_at(table)
        elif name in pure.OF_SCHEMAS:
            [schema] = items(plan.children())
            if class_of(schema).endswith(".UnresolvedNamespace") and not self._scope.is_schema(
                _strings(schema.multipartIdentifier())
            ):
                raise refused("this looks at another schema")
        elif name in (pure.EXPLAIN, pure.DESCRIBE_QUERY):
            asked = plan.logicalPlan() if name == pure.EXPLAIN else plan.plan()
            self._check_parsed(asked)
            self._check_analysed(self._plans.analyse(asked))
        else:
            return False
        return True

    def _check_looked_at(self, table: Any) -> None:
        if class_of(table).rpartition(".")[2] not in ("UnresolvedTable", "UnresolvedTableOrView"):
            raise refused("this looks at what is no table or view of the lake")
        parts = _strings(table.multipartIdentifier())
        if self._scope.knows(parts):
            return
        if len(parts) > 1:
            raise refused(f"{'.'.join(parts)} is no table or view of the lake")
        raise UsageError(
            "QUERY_INVALID", f"there is no table or view {parts[0]}", did_you_mean(parts[0], names())
        )

    def _check_parsed(self, plan: Any) -> None:
        for name, part, is_node in self._parts(plan):
            if is_node:
                self._check_parsed_node(name, part, is_root=part is plan)
            elif name.endswith(".UnresolvedFunction"):
                self._check_function(_strings(part.nameParts()))
            elif name.endswith(".UnresolvedGenerator"):
                self._check_function([str(part.name().funcName())])
            elif name not in pure.EXPRESSIONS and name not in pure.PARSED_EXPRESSIONS:
                raise _no_part(name)

    def _check_parsed_node(self, name: str, node: Any, *, is_root: bool) -> None:
        if name not in pure.PARSED_PLANS:
            if is_root:
                raise refused("this is no query but a statement that may change something, or more than one")
            raise _no_part(name)
        if name.endswith(".UnresolvedRelation"):
            parts = _strings(node.multipartIdentifier())
            if not self._scope.may_name(parts) or not node.options().isEmpty() or node.isStreaming():
                raise refused(f"{'.'.join(parts)} is read as what is no table or view of the lake")
        elif name.endswith(".UnresolvedTableValuedFunction"):
            self._check_table_function(_strings(node.name()))

    def _check_function(self, parts: list[str]) -> None:
        found = self._plans.function_class(parts[-1]) if _is_builtin(parts) else None
        self._check_found(parts, found)

    def _check_table_function(self, parts: list[str]) -> None:
        if len(parts) == 1 and parts[0].casefold() in self._scope.table_functions:
            return
        found = self._plans.table_function_class(parts[-1]) if _is_builtin(parts) else None
        self._check_found(parts, found)

    def _check_found(self, parts: list[str], found: str | None) -> None:
        name = ".".join(parts)
        if found is None:
            raise UsageError(
                "QUERY_INVALID",
                f"there is no function {name}",
                "take one of Spark's own; `strandline sql 'SHOW TABLES'` lists tables",
            )
        if found not in pure.EXPRESSIONS:
            raise refused(f"the function {name} may do more than compute from its arguments")

    def _check_analysed(self, plan: Any) -> None:
        for name, part, is_node in self._parts(plan):
            if not is_node:
                if name.endswith(".PythonUDTF"):
                    self._check_table_function([str(part.name())])
                elif name not in pure.EXPRESSIONS:
                    raise _no_part(name)
            elif name not in pure.ANALYSED_PLANS:
                raise _no_part(name)
            elif name.endswith(".View") and not self._scope.has_view(part):
                raise refused(f"{part.desc().identifier().table()} is no view of the lake")
            elif name.endswith(".LogicalRelation") and not self._scope.has_table(part):
                raise refused("it reads what is no table or view of the lake")

    def _parts(self, plan: Any) -> Iterator[tuple[str, Any, bool]]:
        """Yield each node and each expression with the name of its class; a view of the lake is not looked into."""
        waiting, left = [plan], MOST_PARTS
        while waiting:
            node = waiting.pop()
            name = class_of(node)
            yield name, node, True
            for expression in self._plans.expressions(node):
                left -= 1
                if left < 0:
                    raise UsageError(
                        "QUERY_INVALID",
                        f"the query has more than {MOST_PARTS:,} parts",
                        "put long lists of values into a table, or use spark-sql",
                    )
                yield class_of(expression), expression, False
            left -= 1
            if not (name.endswith(".logical.View") and self._scope.has_view(node)):
                waiting += below(node)
            if name.endswith(".RelationTimeTravel"):
                waiting.append(node.relation())
            if name.endswith(".WithWindowDefinition"):
                yield from self._windows(node)

    def _windows(self, node: Any) -> Iterator[tuple[str, Any, bool]]:
        """Yield what named windows hold, which no list of a node's expressions has."""
        for window in items(node.windowDefinitions().values().toSeq()):
            for expression in self._plans.all_of(window):
                yield class_of(expression), expression, False


def refused(why: str) -> UsageError:
    """Return the error of a text that is no query, or does more than read the lake."""
    return UsageError(
        "QUERY_REFUSED",
        f"sql runs one query over the lake and changes nothing: {why}",
        "write one SELECT, WITH, VALUES, SHOW, DESCRIBE or EXPLAIN; use spark-sql for anything else",
    )


def _no_part(name: str) -> UsageError:
    return refused(f"{name.rpartition('.')[2].rstrip('$')} is not known to be harmless")


def _is_builtin(parts: list[str]) -> bool:
    return len(parts) == 1 or tuple(part.casefold() for part in parts[:-1]) in _BUILTIN


def _strings(sequence: Any) -> list[str]:
    return [str(each) for each in items(sequence)]
