"""`sql` answers queries over the lake and refuses everything else, whatever it is called."""

import re

import pytest

from docsite.view_columns import view_columns
from strandline.contracts.checks import checks
from strandline.core.errors import UsageError
from strandline.pipelines import sql
from strandline.pipelines.sql import allowed
from strandline.pipelines.sql.check import PlanCheck, query_check
from strandline.pipelines.sql.query import query_errors
from strandline.pipelines.sql.scope import QueryScope
from strandline.session.classic.plans import Plans, items
from strandline.tables.commits import session_settings
from strandline.tables.views import bare_names, lake_views
from support.lakes import Lake
from support.places import BUCKETS
from support.queries import ANSWERED, REFUSED

EXAMPLE = re.compile(r"^\s*> (.+?);$", re.MULTILINE | re.DOTALL)
"""A query in the examples of Spark's documentation of a function."""

SOMEBODYS = (
    "CREATE OR REPLACE TEMPORARY VIEW somebodys_view AS SELECT 'secret' AS secret",
    "CREATE OR REPLACE GLOBAL TEMPORARY VIEW secret AS SELECT 'secret' AS secret",
    "DECLARE OR REPLACE VARIABLE somebodys_variable STRING DEFAULT 'secret'",
    "CREATE OR REPLACE TEMPORARY FUNCTION somebodys_sql_function(x INT) RETURNS INT RETURN x + 1",
)


@pytest.fixture(scope="module")
def lake(spark, settings, empty_lakes):
    return Lake(spark, settings, empty_lakes[False])


@pytest.fixture(scope="module")
def asked(spark, lake):
    """Why a query is not answered; None if it would be. Nothing of it is run."""
    for statement in SOMEBODYS:
        spark.sql(statement)
    spark.udf.register("somebodys_function", lambda x: x)
    store = lake.store()
    with session_settings(spark, {"spark.sql.variable.substitute": "false"}), bare_names(store):
        check = query_check(spark, store.location)

        def ask(text: str) -> UsageError | None:
            try:
                with query_errors():
                    check.frame(text.replace("{lake}", str(lake.path)))
            except UsageError as error:
                return error
            return None

        yield ask
    spark.sql("DROP VIEW somebodys_view")
    spark.sql("DROP VIEW global_temp.secret")
    spark.sql("DROP TEMPORARY VARIABLE somebodys_variable")
    spark.sql("DROP TEMPORARY FUNCTION somebodys_sql_function")


def test_nothing_but_queries_over_the_lake_is_answered(asked):
    codes = {name: getattr(asked(text), "code", None) for name, text in REFUSED.items()}
    answered = [name for name, code in codes.items() if code not in ("QUERY_REFUSED", "QUERY_INVALID")]
    assert answered == []
    for name in ("identifier of a function", "text file", "process", "delete", "view of somebody else"):
        assert codes[name] == "QUERY_REFUSED"
    assert codes["3,000 brackets"] == codes["two statements"] == "QUERY_INVALID"


def test_files_and_functions_are_refused_before_spark_resolves_a_name(lake, spark):
    class Unanalysed:
        def sql(self, text):
            raise AssertionError(f"analysed: {text}")

    store = lake.store()
    check = PlanCheck(Unanalysed(), Plans(spark), QueryScope(store.location))
    hidden = {name: text for name, text in REFUSED.items() if "reflect" in text or "/etc/" in text}
    analysed = []
    for name, text in hidden.items():
        try:
            with query_errors():
                check.frame(text)
        except UsageError:
            continue
        except AssertionError:
            analysed.append(name)
    assert (analysed, len(hidden) > 50) == ([], True)


def test_queries_over_the_lake_are_answered(asked):
    queries = {
        **ANSWERED,
        **{f"example of {name}": view.example for name, view in lake_views().items()},
        **{check.name: check.select for check in checks(buckets=BUCKETS)},
    }
    refused = {name: error for name, text in queries.items() if (error := asked(text))}
    assert refused == {}


def test_no_name_of_a_view_needs_quotes_even_where_words_are_reserved(asked, spark):
    with session_settings(
        spark, {"spark.sql.ansi.enabled": "true", "spark.sql.ansi.enforceReservedKeywords": "true"}
    ):
        refused = {
            name: error
            for name, view in lake_views().items()
            for columns in [", ".join(f"v.{each.name}, {each.name}" for each in view_columns(view))]
            if (error := asked(f"SELECT {columns} FROM {name} AS v"))
        }
    assert refused == {}


@pytest.mark.slow
def test_examples_of_spark_for_allowed_functions_are_answered(asked, spark):
    state = spark._jsparkSession.sessionState()
    refused, tried = {}, set()
    for registry in (state.functionRegistry(), state.tableFunctionRegistry()):
        for name in items(registry.listFunction()):
            documented = registry.lookupFunction(name).get()
            if documented.getClassName() not in allowed.EXPRESSIONS:
                continue
            for text in EXAMPLE.findall(documented.getExamples()):
                tried.add(documented.getClassName())
                error = asked(text)
                # Some examples change a setting first, and Spark itself rejects examples of features that are off.
                if error is not None and error.code == "QUERY_REFUSED" and not text.startswith("SET "):
                    refused[text] = error
    assert refused == {}
    assert len(tried) > 400


def test_a_refused_query_is_told_in_two_lines(lake, spark, capfd):
    store = lake.store()
    no_utf8 = "CAST(X'FF' AS STRING)"
    for query in (REFUSED["identifier of a function"], REFUSED["3,000 brackets"], f"SELECT {no_utf8}"):
        with pytest.raises(UsageError) as caught:
            sql.run(store, sql.SqlRequest(query), lake.context(store, "sql"))
        assert caught.value.next
        assert "\n" not in caught.value.message
    with pytest.raises(UsageError, match="several columns have the name n"):
        sql.run(store, sql.SqlRequest("SELECT 1 AS n, 2 AS n", "json"), lake.context(store, "sql"))
    shown = sql.SqlRequest(f"SELECT make_valid_utf8({no_utf8}), hex({no_utf8})")
    assert sql.run(store, shown, lake.context(store, "sql")).members["rows"] == [["\ufffd", "FF"]]


def test_sessions_of_one_jvm_ask_their_own_lakes(spark, settings, lake, new_lake):
    other, session = new_lake("others"), spark.newSession()
    theirs = Lake(session, settings, other.path)
    theirs.damage("DELETE FROM run")
    count = "SELECT count(*) FROM run"
    [(ours,)] = lake.asked(count)
    assert ours > 0
    assert (theirs.asked(count), lake.asked(count)) == ([(0,)], [(ours,)])
