"""A run that an orchestrator repeats under the same id: done once, reported each time."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from strandline.cli.failures import is_from_spark
from strandline.cli.invocation import Invocation
from strandline.cli.lake_reader import open_for_reading
from strandline.core.errors import UsageError
from strandline.pipelines.report import Report
from strandline.pipelines.runs import ARGUMENTS, recorded_run

_RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+~-]{0,199}")
_NO_LAKE: Final = ("LAKE_NOT_FOUND", "TABLE_MISSING")


def check_run_id(run_id: str) -> None:
    """Check an id from outside. Raises: UsageError `RUN_ID_INVALID`."""
    if not _RUN_ID.fullmatch(run_id):
        raise UsageError(
            "RUN_ID_INVALID",
            f"--run-id {run_id!r} is not a valid id",
            "use up to 200 letters, digits and . _ : + ~ -, beginning with a letter or a digit",
        )


def hash_of_arguments(values: Mapping[str, Any]) -> str:
    """Return a hash of the given options of a command, to tell a repeated call from another one.

    Options that are not given are left out: a later version of the product may have more. An option of 0 is given.
    """
    given = {name: str(value) for name, value in values.items() if _is_given(value)}
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]


def _is_given(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value)
    return value is not None and value is not False


def earlier_report(call: Invocation) -> Report | None:
    """Return the report that the lake has of the run `--run-id`, or None.

    Raises: UsageError `RUN_ID_TAKEN` (that run was of another command, or had other options), and the errors of a lake
    that cannot be opened.
    """
    try:
        with open_for_reading(call) as lake:
            found = recorded_run(lake, call.run_id)
    except UsageError as error:
        if error.code in _NO_LAKE:
            return None
        raise
    except Exception as error:
        if is_from_spark(error):
            from strandline.tables.spark_errors import is_absent

            if is_absent(error):
                return None
        raise
    if found is None:
        return None
    arguments = found.members.get(ARGUMENTS, call.arguments)
    if (found.command, arguments) != (call.command, call.arguments):
        other = found.command if found.command != call.command else f"{call.command} with other options"
        raise UsageError(
            "RUN_ID_TAKEN",
            f"the run {call.run_id} of this lake was {other}",
            f"give each command an id of its own, for example --run-id {call.command}-{call.run_id}",
        )
    return found
