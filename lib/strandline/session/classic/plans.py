"""Spark's plans of a query, read from the JVM: the parsed plan, the analysed plan, and their parts.

A plan is a tree of nodes, and a node has expressions, which are trees. Both are Java objects here; class names are
fully qualified. A call of the JVM takes 0.1 ms, so whole expressions are fetched at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession


class Plans:
    """The plans of one session that runs in a JVM of this machine."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._state: Any = spark._jsparkSession.sessionState()  # noqa: SLF001
        self._keys: dict[str, dict[str, Any]] = {}
        # The identity function of the JVM: with it `map` lists all nodes of a tree.
        self._same = getattr(spark._jvm.scala.Predef, "$conforms")()  # type: ignore[union-attr]  # noqa: SLF001

    def parsed(self, text: str) -> Any:
        """Return the parsed plan of a statement, with unresolved names. Raises: ParseException."""
        return self._state.sqlParser().parsePlan(text)

    def analysed(self, frame: DataFrame) -> Any:
        """Return the analysed plan of a frame."""
        return frame._jdf.queryExecution().analyzed()  # noqa: SLF001

    def analyse(self, plan: Any) -> Any:
        """Return the analysed plan of a parsed query, without running it. Raises: AnalysisException."""
        mode = self._spark._jvm.org.apache.spark.sql.execution.CommandExecutionMode  # type: ignore[union-attr]  # noqa: SLF001
        return self._state.executePlan(plan, mode.SKIP()).analyzed()

    def expressions(self, node: Any) -> Iterator[tuple[str, Any]]:
        """Yield each expression of a node and all nested ones, with their classes, without the plans of subqueries.

        Those of named windows, the partitions and order of a table argument, and what `|> SET` puts in place of columns
        are included, which Spark keeps apart.
        """
        waiting = items(node.expressions())
        if class_of(node).endswith(".WithWindowDefinition"):
            waiting += items(node.windowDefinitions().values().toSeq())
        while waiting:
            for expression in items(waiting.pop().map(self._same)):
                name = class_of(expression)
                yield name, expression
                if name.endswith(".FunctionTableSubqueryArgumentExpression"):
                    waiting += items(expression.partitionByExpressions())
                    waiting += items(expression.orderByExpressions())
                elif (
                    name.endswith(".UnresolvedStarExceptOrReplace") and expression.replacements().isDefined()
                ):
                    waiting += items(expression.replacements().get())

    def function_class(self, name: str) -> str | None:
        """Return the class of the function of that name, or None if the session has none."""
        return self._class_in(self._state.functionRegistry(), name)

    def table_function_class(self, name: str) -> str | None:
        """Return the class of the table function of that name, or None if the session has none."""
        return self._class_in(self._state.tableFunctionRegistry(), name)

    def _class_in(self, registry: Any, name: str) -> str | None:
        # The form of the registry's keys depends on Spark's version, so they are read from the registry.
        keys = self._keys.setdefault(str(registry), {})
        if not keys:
            keys.update({str(key.funcName()).casefold(): key for key in items(registry.listFunction())})
        key = keys.get(name.casefold())
        if key is None:
            return None
        found = registry.lookupFunction(key)
        return str(found.get().getClassName()) if found.isDefined() else None


def class_of(part: Any) -> str:
    """Return the name of a Java object's class."""
    return str(part.getClass().getName())


def items(sequence: Any) -> list[Any]:
    """Return the items of a Scala sequence."""
    return [sequence.apply(at) for at in range(sequence.size())]
