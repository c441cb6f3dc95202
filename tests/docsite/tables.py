"""The page of the tables: each contract with its columns."""

from collections.abc import Iterable

from docsite import markdown
from docsite.markdown import code, words
from strandline.contracts.merge import ERASED_AT
from strandline.contracts.model import Column, Contract

MERGES = {
    "insert_only": "absent rows are inserted, no row changes",
    "replace": "the row of a key is replaced",
    "upsert": "a new key is inserted, the row of a key that is there is updated",
    "append": "rows are appended",
}
ERASED = ", but for bodies that `gc --erase` empties"


def table_list(contracts: Iterable[Contract]) -> str:
    """Return a Markdown table: each table, its description, its key, and the commands that write it."""
    rows = (
        (
            f"[`{each.table}`](#{each.table})",
            words(each.description),
            ", ".join(map(code, each.key)),
            ", ".join(each.written_by),
        )
        for each in contracts
    )
    return markdown.table(("table", "holds", "key", "written by"), rows)


def page(contracts: Iterable[Contract]) -> str:
    """Return the page: the list of tables, then every column of each."""
    each = tuple(contracts)
    return markdown.page(
        "Tables",
        "One contract describes a table, `schemas/<table>.odcs.yaml` (Open Data Contract Standard). Its texts are also"
        " the comments of the columns. Hashes and record ids are binary in tables, lower-case hex in [views](views.md)"
        " and messages. Read with any Delta reader; write only with Strandline. `stream` and `sync` write what `ingest`"
        " and `reduce` write, since they do both.",
        table_list(each),
        *map(_section, each),
    )


def _section(contract: Contract) -> str:
    partition = f"Partitioned by {', '.join(map(code, contract.partition))}. " if contract.partition else ""
    version = f"Version {contract.version}."
    checks = [code(text) for text in contract.checks.values() if "{buckets}" not in text]
    rows = ((code(column.name), code(column.physical_type), _text(column)) for column in contract.columns)
    is_erased = any(column.name == ERASED_AT for column in contract.columns)
    written = MERGES[contract.merge] + ERASED * is_erased
    return "\n".join(
        [
            f"## {contract.table}\n",
            f"{words(contract.description)} {version} {partition}How it is written: {written}.\n",
            markdown.table(("column", "type", "holds"), rows).rstrip("\n"),
            f"\nEvery row keeps: {', '.join(checks)}." if checks else "",
        ]
    )


def _text(column: Column) -> str:
    marks = [
        *(["key"] if column.key_position is not None else []),
        *([] if column.required else ["may be null"]),
        *(["provenance"] if column.provenance else []),
    ]
    return f"{words(column.description)} *({', '.join(marks)})*" if marks else words(column.description)
