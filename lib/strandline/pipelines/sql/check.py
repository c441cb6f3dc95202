"""Checks that a text is one read-only query over the lake. It checks Spark's plans, never the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Protocol

from pyspark.sql import DataFrame, SparkSession

from strandline.core.errors import FaultError, UsageError
from strandline.core.nearest import did_you_mean
from strandline.pipelines.sql import allowed
from strandline.pipelines.sql.scope import QueryScope
from strandline.session.classic.plans import Plans, class_of, items
from strandline.session.engine import engine_of
from strandline.tables.location import Location
from strandline.tables.views import names

MOST_PARTS: Final = 10_000
"""Maximum number of nodes and expressions of a query: the check of each takes 0.1 ms or more."""

_BUILTIN: Final = (("builtin",), ("system", "builtin"))


class QueryCheck(Protocol):
    """A check that a query reads only the lake."""

    def frame(self, text: str) -> DataFrame:
        """Return the rows of the query `text`, not run yet. Raises: UsageError QUERY_INVALID, QUERY_REFUSED."""


def query_check(spark: SparkSession, location: Location) -> QueryCheck:
    """Return the check for a session. Raises: FaultError PARSER_NOT_REACHED over Spark Connect."""
    plans = engine_of(spark).plans()
    if plans is None:
        raise FaultError(
            "PARSER_NOT_REACHED",
            "over Spark Connect Strandline cannot check that a query is read-only",
            "run the query in the platform's own SQL editor, over the same tables and views",
        )
    return PlanCheck(spark, plans, QueryScope(location))


class PlanCheck:
    """The check by plans, in two steps, each against a list of what is allowed (`pipelines.sql.allowed`).

    The parsed plan comes first, since resolving names already opens files and computes values:
    - it is one query, or shows tables of the lake (SHOW, DESCRIBE), or explains a query;
    - each relation has a bare name, or one in the lake's schema, no options, and is not a stream;
    - each function is a listed one of Spark, or a table function of a dialect;
    - names are literal, not computed (IDENTIFIER), and there are no parameters.

    Then the analysed plan:
    - each relation is a table or view of the lake: not a file, and not a foreign view or variable;
    - each node and each expression is listed, so no name was resolved to something else.
    """

    def __init__(self, spark: SparkSession, plans: Plans, scope: QueryScope) -> None:
        self._spark = spark
        self._plans = plans
        self._scope = scope

    def frame(self, text: str) -> DataFrame:
        """Return the rows of the query `text`, not run yet. Raises: UsageError QUERY_INVALID, QUERY_REFUSED."""
        plan = self._plans.parsed(text)
        if self._is_allowed_statement(plan):
            return self._spark.sql(text)
        self._check_parsed(plan)
        frame = self._spark.sql(text)
        self._check_analysed(self._plans.analysed(frame))
        return frame

    def _is_allowed_statement(self, plan: Any) -> bool:
        """Check a SHOW, DESCRIBE or EXPLAIN statement; return False for any other plan."""
        name = class_of(plan)
        if name in allowed.TABLE_STATEMENTS:
            [table] = items(plan.children())
            self._check_shown_table(table)
        elif name in allowed.SCHEMA_STATEMENTS:
            [schema] = items(plan.children())
            if class_of(schema).endswith(".UnresolvedNamespace") and not self._scope.is_schema(
                _strings(schema.multipartIdentifier())
            ):
                raise refused("it shows another schema")
        elif name in (allowed.EXPLAIN, allowed.DESCRIBE_QUERY):
            asked = plan.logicalPlan() if name == allowed.EXPLAIN else plan.plan()
            self._check_parsed(asked)
            self._check_analysed(self._plans.analyse(asked))
        else:
            return False
        return True

    def _check_shown_table(self, table: Any) -> None:
        if class_of(table).rpartition(".")[2] not in ("UnresolvedTable", "UnresolvedTableOrView"):
            raise refused("it shows something that is not a table or view of the lake")
        parts = _strings(table.multipartIdentifier())
        if self._scope.knows(parts):
            return
        if len(parts) > 1:
            raise refused(f"{'.'.join(parts)} is not a table or view of the lake")
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
            elif name not in allowed.EXPRESSIONS and name not in allowed.PARSED_EXPRESSIONS:
                raise _unlisted(name)

    def _check_parsed_node(self, name: str, node: Any, *, is_root: bool) -> None:
        if name not in allowed.PARSED_PLANS:
            if is_root:
                raise refused("it is not one query, but another statement or several ones")
            raise _unlisted(name)
        if name.endswith(".UnresolvedRelation"):
            parts = _strings(node.multipartIdentifier())
            if not self._scope.may_name(parts) or not node.options().isEmpty() or node.isStreaming():
                raise refused(f"{'.'.join(parts)} is not read as a table or view of the lake")
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
                "use a built-in function of Spark; `strandline sql 'SHOW TABLES'` lists tables",
            )
        if found not in allowed.EXPRESSIONS:
            raise refused(f"the function {name} can do more than compute from its arguments")

    def _check_analysed(self, plan: Any) -> None:
        for name, part, is_node in self._parts(plan):
            if not is_node:
                if name.endswith(".PythonUDTF"):
                    self._check_table_function([str(part.name())])
                elif name not in allowed.EXPRESSIONS:
                    raise _unlisted(name)
            elif name not in allowed.ANALYSED_PLANS:
                raise _unlisted(name)
            elif name.endswith(".View") and not self._scope.has_view(part):
                raise refused(f"{part.desc().identifier().table()} is not a view of the lake")
            elif name.endswith(".LogicalRelation") and not self._scope.has_table(part):
                raise refused("it reads something that is not a table or view of the lake")

    def _parts(self, plan: Any) -> Iterator[tuple[str, Any, bool]]:
        """Yield each node and expression with the name of its class; nodes within a view of the lake are left out."""
        waiting, left = [plan], MOST_PARTS
        while waiting:
            node = waiting.pop()
            name = class_of(node)
            yield name, node, True
            for kind, expression in self._plans.expressions(node):
                left -= 1
                if left < 0:
                    raise UsageError(
                        "QUERY_INVALID",
                        f"the query has more than {MOST_PARTS:,} parts",
                        "put long lists of values into a table, or use spark-sql",
                    )
                yield kind, expression, False
                if kind in allowed.SUBQUERIES:
                    waiting.append(expression.plan())
            left -= 1
            if not (name.endswith(".logical.View") and self._scope.has_view(node)):
                waiting += items(node.children())
            if name.endswith(".UnresolvedWith"):
                # The common tables; of every other node these are the plans of its subqueries.
                waiting += items(node.innerChildren())
            if name.endswith(".RelationTimeTravel"):
                waiting.append(node.relation())


def refused(why: str) -> UsageError:
    """Return the error of a text that is not one query or does more than read the lake."""
    return UsageError(
        "QUERY_REFUSED",
        f"sql runs only one read-only query over the lake: {why}",
        "write one SELECT, WITH, VALUES, SHOW, DESCRIBE or EXPLAIN; use spark-sql for anything else",
    )


def _unlisted(name: str) -> UsageError:
    return refused(f"{name.rpartition('.')[2].rstrip('$')} is not on the list of allowed parts")


def _is_builtin(parts: list[str]) -> bool:
    return len(parts) == 1 or tuple(part.casefold() for part in parts[:-1]) in _BUILTIN


def _strings(sequence: Any) -> list[str]:
    return [str(each) for each in items(sequence)]
