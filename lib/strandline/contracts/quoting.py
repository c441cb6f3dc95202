"""Quotes names, paths, texts and values in SQL: nothing but texts of contracts enters a statement in another way.

Source: Spark SQL, "Identifiers" (a backtick inside backticks is doubled) and "Literals" (backslash escapes).
"""

import re
from collections.abc import Sequence
from typing import Final

from strandline.core.errors import UsageError

_LEGAL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f]")
_SUBSTITUTED: Final = "${"
"""Spark replaces `${name}` in the text of a statement, even inside quotes, before parsing."""

MAX_BUCKETS: Final = 65_536
"""A bucket is derived from two bytes, so there are no more."""

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
    """Return whether `name` is valid for a table, column or constraint without quotes."""
    return _LEGAL_NAME.fullmatch(name) is not None


def quote_name(*parts: str) -> str:
    """Return the parts of a table's name as one SQL identifier: `cat`.`sch`.`table`.

    Raises:
        UsageError: A part is empty or has characters that Spark cannot quote (control characters, `${`).
    """
    if not parts:
        raise _unquotable("", "name")
    return ".".join(_backticked(part, "name") for part in parts)


def quote_path(path: str) -> str:
    """Return a Delta table's path as an SQL table name: delta.`/lake/node_journal`.

    Raises:
        UsageError: The path is empty or has characters that Spark cannot quote (control characters, `${`).
    """
    return "delta." + _backticked(path, "path")


def quote_text(value: str) -> str:
    """Return `value` as an SQL string literal, whatever characters it has."""
    return "'" + "".join(_ESCAPES.get(character, character) for character in value) + "'"


def in_list(column: str, values: Sequence[str | bytes | int]) -> str:
    """Return the condition that a column is one of the values, which must not be none.

    A text enters as the hex digits of its UTF-8: it can come from data, and what the session makes of backslashes does
    not matter. Raises: UnicodeEncodeError (a text is no UTF-8).
    """
    return f"{quote_name(column)} IN ({', '.join(map(_literal, values))})"


def _literal(value: str | bytes | int) -> str:
    if isinstance(value, str):
        return f"CAST(X'{value.encode('utf-8').hex()}' AS STRING)"
    return f"X'{value.hex()}'" if isinstance(value, bytes | bytearray) else str(int(value))


def with_buckets(sql: str, buckets: int) -> str:
    """Return `sql` of a contract or check with the lake's number of buckets for `{buckets}`.

    Raises:
        ValueError: The number is not in 1..65,536.
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
        message=f"The {what} {part!r} cannot be quoted in SQL.",
        next=f"Use a {what} that is not empty and has no control characters and no '${{'.",
    )
