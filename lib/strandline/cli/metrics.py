"""The report of a command as a file of metrics in Prometheus text, for the text file collector of an exporter."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from strandline.core.safe_files import check_replaceable
from strandline.pipelines.report import Report

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


def write_metrics(path: Path, report: Report) -> str | None:
    """Write the metrics of `report` to `path` in one step; return why that failed, or None.

    The file is written under another name and renamed: a reader sees the old one or the new one.
    """
    from prometheus_client import write_to_textfile

    try:
        check_replaceable(path)
        write_to_textfile(str(path), registry_of(report, time.time()))
    except (OSError, ValueError) as error:
        # A ValueError is the name of a lake that is not UTF-8, or NUL in a path.
        return getattr(error, "strerror", None) or str(error)
    return None


def registry_of(report: Report, ended_at: float) -> "CollectorRegistry":
    """Return the metrics of `report`; `ended_at` is in seconds since 1970. Labels of all: `command` and `lake`."""
    from prometheus_client import CollectorRegistry, Gauge

    registry = CollectorRegistry()
    shared = {"command": report.command, "lake": report.lake or ""}

    def gauge(name: str, text: str, values: dict[str, float], label: str | None = None) -> None:
        found = Gauge(f"strandline_{name}", text, [*shared, *([label] if label else [])], registry=registry)
        for key, value in values.items():
            found.labels(**shared, **({label: key} if label else {})).set(value)

    gauge("run_exit_code", "Exit code of the last run: 0 ok, 1 found, 2 usage, 3 fault.", {"": report.exit})
    gauge("run_ended_timestamp_seconds", "When the last run ended.", {"": ended_at})
    gauge("run_duration_seconds", "Time of the last run, with the start of Spark.", {"": report.seconds})
    gauge("run_session_seconds", "Time that the start of Spark took.", {"": report.session_seconds})
    gauge(
        "run_namespaces", "Namespaces that the last run touched; of a stream, the most that one batch touched.",
        {"": report.namespaces},
    )  # fmt: skip
    gauge("run_count", "Counts of the last run, such as records by verdict.", {**report.counts}, "count")
    gauge("run_reason_records", "Records of the last run by reason code.", {**report.reasons}, "reason")
    gauge(
        "table_version", "Version of a table after the last run.",
        {table: change.version for table, change in report.tables.items()}, "table",
    )  # fmt: skip
    gauge(
        "table_inserted_rows", "Rows that the last run inserted into a table.",
        {table: change.inserted for table, change in report.tables.items()}, "table",
    )  # fmt: skip
    return registry
