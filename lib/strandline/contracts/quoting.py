"""Names, paths and texts as SQL: the only way that anything but a contract's own words enters a statement.

Source: Spark SQL, "Identifiers" (a backtick inside backticks is doubled) and "Literals" (backslash escapes).
"""

import re
from typing import Final

from strandline.core.errors import UsageError

LEGAL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f]")
_SUBSTITUTED: Final = "${"
"""Spark replaces `${name}` in a statement's text, even inside quotes, before it parses it."""

MAX_BUCKETS: Final = 65_536
"""A bucket is made of two bytes: more buckets than this could never all be used."""

_ESCAPES: Final = {
    "\\": "\\\\",
    "'": "\\'",
    "$": "\\u0024",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\0": "\\u0000",
}


def is_legal_name(name: str) -> bool:
    """Return whether `name` may stand unquoted in SQL as a table, column or constraint of ours."""
    return LEGAL_NAME.fullmatch(name) is not None


def quote_name(*parts: str) -> str:
    """Return the parts of a table's name as one SQL identifier: `cat`.`sch`.`table`.

    Raises:
        UsageError: A part is empty or holds what Spark cannot quote (control characters, `${`).
    """
    if not parts:
        raise _unquotable("", "name")
    return ".".join(_backticked(part, "name") for part in parts)


def quote_path(path: str) -> str:
    """Return a Delta table's path as an SQL table name: delta.`/lake/node_journal`.

    Raises:
        UsageError: The path is empty or holds what Spark cannot quote (control characters, `${`).
    """
    return "delta." + _backticked(path, "path")


def quote_text(value: str) -> str:
    """Return `value` as an SQL string literal that spells it exactly, whatever it holds."""
    return "'" + "".join(_ESCAPES.get(character, character) for character in value) + "'"


def with_buckets(sql: str, buckets: int) -> str:
    """Return `sql` of a contract or check with N, the lake's number of buckets, where it says `{buckets}`.

    Raises:
        ValueError: N is not in 1..65,536.
    """
    if not 1 <= buckets <= MAX_BUCKETS:
        raise ValueError(f"buckets is {buckets}, not in 1..{MAX_BUCKETS}")
    return sql.replace("{buckets}", str(int(buckets)))


def _backticked(part: str, what: str) -> str:
    if not part or _UNPRINTABLE.search(part) or _SUBSTITUTED in part:
        raise _unquotable(part, what)
    return "`" + part.replace("`", "``") + "`"


def _unquotable(part: str, what: str) -> UsageError:
    return UsageError(
        code="NAME_NOT_QUOTABLE",
        message=f"The {what} {part!r} cannot stand in an SQL statement.",
        next=f"Use a {what} that is not empty and has no control characters and no '${{'.",
    )
