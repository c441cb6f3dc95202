"""What the report that a page replaces said."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from strandline.core.encoding.strict_json import strict_json
from strandline.core.errors import UsageError
from strandline.core.safe_files import open_file
from strandline.pipelines.fleet import Before
from strandline.tables.newfile import check_no_folder

MARK: Final = "<!doctype html><!-- strandline report -->"
"""The start of every page: only such a file is replaced."""
_NUMBERS: Final = re.compile(rb'<script type="application/json" id="numbers">(.*?)</script>', re.DOTALL)
_MOST_BYTES: Final = 1 << 24
_MOST_COUNT: Final = 1 << 53


def before_of(path: Path) -> Before | None:
    """Return what the report at `path` said, or None without a file there.

    Raises: UsageError `OUT_EXISTS` for a file that is no report, `OUT_IS_FOLDER`.
    """
    check_no_folder(path)
    try:
        with open_file(path) as stream:
            raw = stream.read(_MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _not_ours(path) from error
    found = _NUMBERS.search(raw)
    if not raw.startswith(MARK.encode()) or found is None:
        raise _not_ours(path)
    try:
        return _before(strict_json(found[1]))
    except (ValueError, TypeError, KeyError) as error:
        raise _not_ours(path) from error


def _before(numbers: Any) -> Before:
    made_at = datetime.fromisoformat(numbers["made_at"])
    healths = {
        str(name): count for name, count in numbers["counts"].items()
        if isinstance(count, int) and 0 <= count <= _MOST_COUNT
    }  # fmt: skip
    if made_at.tzinfo is None:
        raise ValueError("a time without a zone")
    return Before(made_at, healths)


def _not_ours(path: Path) -> UsageError:
    return UsageError(
        "OUT_EXISTS",
        f"the file {path} exists and is no report",
        "name a new file with --out, or move the old one",
    )
