"""Views and files of checks: one SELECT each over bare table names, described, views with an example query."""

import re

import pytest
from sqlglot import exp, parse_one

from docsite.view_columns import view_columns
from strandline.contracts import load, views
from strandline.contracts.quoting import is_legal_name, quote_name

BEHIND = ("SELECT namespace, count(*) AS behind FROM wanted_resource GROUP BY namespace", "SELECT 'n', 1")
VIEWS = views.views(behind=BEHIND)
EVERY = [*VIEWS.values(), *views.queries("checks").values()]
INTERNAL = ("bucket", "origin", "depends_on", "reduced_version", "quarantine_id")


def bare(query: views.Query) -> str:
    """The statement without comments and string literals."""
    return re.sub(r"'(\\.|[^'\\])*'", "''", re.sub(r"--[^\n]*", "", query.select))


def tables_read(query: views.Query) -> set[str]:
    text = bare(query)
    named = set(re.findall(r"(?:\bWITH|\),)\s+(\w+)\s+AS\s+\(", text))
    return set(re.findall(r"\b(?:FROM|JOIN)\s+([\w.`]+)", text)) - named


def outer_select(query: views.Query) -> str:
    """What stands between the last SELECT that is in no parenthesis and its FROM."""
    depth, found = 0, ""
    for word in re.findall(r"[()]|[^()]+", bare(query)):
        depth += {"(": 1, ")": -1}.get(word, 0)
        found += word if depth == 0 and word != ")" else ""
    return found.rsplit("SELECT", 1)[1].split("FROM", 1)[0]


@pytest.mark.parametrize("query", EVERY, ids=lambda query: query.name)
def test_a_file_is_one_select(query: views.Query):
    text = bare(query)
    assert is_legal_name(query.name)
    assert re.match(r"SELECT\b|WITH\b", text.lstrip())
    assert ";" not in text
    assert "`" not in text
    assert text.count("(") == text.count(")")
    assert not re.search(r"\b(INSERT|UPDATE|DELETE|MERGE|CREATE|DROP|ALTER|SET|USE)\b", text)
    assert "${" not in query.select


@pytest.mark.parametrize("query", EVERY, ids=lambda query: query.name)
def test_a_file_is_described_in_a_sentence(query: views.Query):
    assert re.fullmatch(r"[A-Z].{40,}\.", query.description)


@pytest.mark.parametrize("query", EVERY, ids=lambda query: query.name)
def test_a_file_reads_tables_with_contracts_alone_and_by_bare_names(query: views.Query):
    assert tables_read(query)
    assert tables_read(query) <= set(load.tables())


@pytest.mark.parametrize("view", VIEWS.values(), ids=lambda view: view.name)
def test_a_view_has_an_example_query_over_itself(view: views.Query):
    assert re.match(r"SELECT .+ FROM " + view.name + r"\b", view.example)


@pytest.mark.parametrize("view", VIEWS.values(), ids=lambda view: view.name)
def test_a_view_of_reduced_tables_joins_on_the_state_and_shows_nothing_internal(view: views.Query):
    if "node_journal" in tables_read(view):
        assert "namespace_state" in tables_read(view)
        assert re.search(r"ON s\.namespace = j\.namespace AND s\.record_count = j\.line_count", view.select)
    shown = outer_select(view)
    assert not any(re.search(rf"(\bAS |\.){name}\b", re.sub(r"\([^()]*\)", "", shown)) for name in INTERNAL)
    of_records = [re.search(rf"\.{name}\b", shown) is not None for name in ("source", "run_id", "landed_at")]
    assert all(of_records) or not any(of_records), "a view shows all provenance columns of records or none"


@pytest.mark.parametrize("view", VIEWS.values(), ids=lambda view: view.name)
def test_a_view_collects_no_lists_to_flatten_them(view: views.Query):
    assert not re.search(r"flatten\s*\(\s*collect_", view.select)


@pytest.mark.parametrize("query", EVERY, ids=lambda query: query.name)
def test_no_entry_is_compared_with_the_whole_list_of_a_manifest(query: views.Query):
    """A list may have 299,000 texts, and the log a million entries."""
    if "ipfs_log_manifest" in tables_read(query):
        searched = parse_one(query.select, read="spark").find_all(exp.ArrayContains)
        assert [each.expression.sql() for each in searched if not each.expression.is_string] == []


ONE_A_NAMESPACE = {
    *(table for table in load.tables() if load.contract(table).key == ("namespace",)),
    # By a condition: the one accepted genesis of a context, a log with its one list, a journal with its one count.
    "genesis", "log", "current",
}  # fmt: skip


def sources(select: exp.Select) -> list[exp.Expression]:
    start = select.find(exp.From)
    return [*([] if start is None else [start.this]), *(join.this for join in select.args.get("joins", ()))]


def has_one_a_namespace(source: exp.Expression, known: set[str]) -> bool:
    if isinstance(source, exp.Table):
        return source.name in known
    inner = source.this if isinstance(source, exp.Subquery) else source
    if not isinstance(inner, exp.Select):
        return False
    grouped = [each.name for each in inner.args["group"].expressions] if inner.args.get("group") else []
    return grouped == ["namespace"] or all(has_one_a_namespace(each, known) for each in sources(inner))


@pytest.mark.parametrize("query", EVERY, ids=lambda query: query.name)
def test_what_is_joined_on_the_namespace_alone_has_one_row_a_namespace(query: views.Query):
    """Else a namespace with n rows on both sides has n^2, and who writes it decides n."""
    tree, known = parse_one(query.select, read="spark"), {*ONE_A_NAMESPACE}
    for part in tree.find_all(exp.CTE):
        known |= {part.alias} if has_one_a_namespace(part.this, known) else set()
    for select in tree.find_all(exp.Select):
        single = {each.alias for each in sources(select) if has_one_a_namespace(each, known)}
        for join in select.args.get("joins", ()):
            named = list(join.args["on"].find_all(exp.Column)) if join.args.get("on") else []
            if {each.name for each in named} == {"namespace"}:
                assert single & {each.table for each in named}, join.sql()


def test_namespace_health_has_exactly_its_columns():
    columns = [
        re.split(r"\bAS\b|\.", part)[-1].strip()
        for part in re.sub(r"CASE.*?END", "", outer_select(VIEWS["namespace_health"]), flags=re.DOTALL).split(
            ",\n"
        )
    ]
    assert columns == [
        "namespace", "dialect", "health", "records", "waiting", "rejected", "forks", "behind", "state_hash",
        "reducer_version", "reduced_at",
    ]  # fmt: skip


def test_the_views_are_those_that_the_pages_name():
    assert set(VIEWS) == {
        "namespace_health", "node_journal_entry", "node_journal_health", "resource_spread", "quarantine_age",
        "ipfs_log_node", "ipfs_log_dag", "ipfs_log_values", "ipfs_log_missing", "ipfs_log_eventlog",
        "ipfs_log_feed", "ipfs_log_keyvalue", "ipfs_log_documents", "ipfs_log_counter", "ipfs_log_denied",
        "ipfs_log_health", "damaged_source", "authority_fork", "fork", "run_history", "device_log",
        "device_log_health", "device_log_history", "ssb_message",
        "context_health", "flow_headroom", "rendezvous_receipt", "channel",
        "gc_report", "snapshot_status", "checkpoint_status",
    }  # fmt: skip


def test_namespace_health_adds_up_what_each_dialect_says_is_missing():
    lacking = (
        "SELECT namespace, CAST(sum(behind) AS BIGINT) AS behind\n  FROM ({}) AS parts\n  GROUP BY namespace"
    )
    parts = (
        f"SELECT concat(namespace, '') AS namespace, behind FROM (\n{part}\n) AS part" for part in BEHIND
    )
    assert lacking.format("\nUNION ALL\n".join(parts)) in VIEWS["namespace_health"].select
    nothing = views.views(behind=())["namespace_health"].select
    assert lacking.format(views.NOTHING_BEHIND) in nothing
    assert [name for name, view in views.queries("views").items() if "{" in view.select] == [
        "namespace_health"
    ]


def test_a_view_is_created_with_its_description():
    view = views.Query("fleet", "What's there.", "SELECT 1 FROM fleet", "SELECT 1 AS one")
    assert views.create_view_sql(view, target=quote_name("cat", "sch", "fleet")) == (
        "CREATE OR REPLACE VIEW `cat`.`sch`.`fleet`\nCOMMENT 'What\\'s there.'\nAS\nSELECT 1 AS one"
    )
    assert views.create_view_sql(view, target="`fleet`", temporary=True).startswith(
        "CREATE OR REPLACE TEMPORARY VIEW `fleet`\n"
    )


def test_a_header_ends_at_a_bare_comment_line():
    query = views.parse_query(
        "x", "-- One\n-- two.\n-- Example: SELECT a\n--   FROM x\n--\n-- Notes.\n\nSELECT 1 -- why\n"
    )
    assert query == views.Query("x", "One two.", "SELECT a FROM x", "SELECT 1 -- why")


@pytest.mark.large
def test_position_means_one_thing_in_all_views():
    """The place of a record in the order of its namespace; in a history, in the order that one device displayed."""
    shown = {
        (name, column.table, column.column)
        for name, view in VIEWS.items()
        for column in view_columns(view)
        if column.name == "position"
    }
    assert {name for name, _, _ in shown} == {
        "ipfs_log_dag", "ipfs_log_eventlog", "ipfs_log_feed", "ipfs_log_node", "ipfs_log_values", "device_log",
        "device_log_history",
    }  # fmt: skip
    computed = {name for name, table, _ in shown if table is None}
    assert computed == {"device_log_history"}
    assert {(table, column) for name, table, column in shown if name not in computed} == {
        ("ipfs_log_view", "position"), ("device_log_view", "position"),
    }  # fmt: skip


def test_what_a_column_of_a_view_shows_is_read_from_its_select():
    view = views.Query(
        "x",
        "",
        "",
        "WITH c AS (SELECT 1 AS n) SELECT lower(hex(e.id)) AS id, e.name, c.n, e.n + 1 AS m FROM entry AS e JOIN c",
    )
    assert [(each.name, each.table, each.column, each.in_hex) for each in view_columns(view)] == [
        ("id", "entry", "id", True),
        ("name", "entry", "name", False),
        ("n", None, None, False),
        ("m", None, None, False),
    ]
