"""Sends the start and the end of a run to OpenLineage, if its client's variable OPENLINEAGE_URL is set.

The client's files of configuration are not read: one in the working folder could send the events elsewhere.
"""

import os
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from strandline.kernels.object_stores import BY_SCHEME
from strandline.pipelines.report import Report

if TYPE_CHECKING:
    from strandline.cli.invocation import Invocation

URL: Final = "OPENLINEAGE_URL"
NAMESPACE: Final = "OPENLINEAGE_NAMESPACE"
ENDPOINT: Final = "OPENLINEAGE_ENDPOINT"
API_KEY: Final = "OPENLINEAGE_API_KEY"
DISABLED: Final = "OPENLINEAGE_DISABLED"
COMMANDS: Final = ("ingest", "stream", "reduce", "sync", "export", "maintain")
"""The commands that move data: no others are told."""
_RUNS: Final = uuid.UUID("5e2b0f5c-6c1d-5f0e-9a53-7f6d0a0d6a11")
"""Namespace of the UUIDs: OpenLineage names a run by a UUID, so that of a run is derived from its id and command."""
_ENDS: Final[Mapping[int, str]] = {0: "COMPLETE", 1: "COMPLETE", 129: "ABORT", 130: "ABORT", 143: "ABORT"}
_OF_AZURE: Final = ("abfs", "abfss", "wasb", "wasbs")
_MISSING: Final = (
    "the client is missing; install it: pip install 'WHEEL[lineage]', with the path of the wheel"
)


class Lineage:
    """The events of one call. After a failed event nothing more is sent, and `warning` says why."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._namespace = environ.get(NAMESPACE) or "strandline"
        self._is_on = bool(environ.get(URL)) and environ.get(DISABLED, "").strip().lower() != "true"
        self._server = _server(environ)
        self._started: str | None = None
        self.warning: str | None = None

    def started(self, call: "Invocation") -> None:
        """Send the start of the run, once."""
        if self._started is None and self._is_on and call.command in COMMANDS:
            self._started = call.location.describe()
            self._send(call, "START", call.started_at, self._inputs(call, {}), [])

    def ended(self, call: "Invocation", report: Report) -> None:
        """Send the end of a run that was started: COMPLETE, ABORT after a signal, or FAIL with the error."""
        if self._started is None:
            return
        facets: dict[str, Any] = {}
        if report.error is not None:
            facets["errorMessage"] = {"message": report.error.message, "programmingLanguage": "python"}
        outputs = [
            {
                **self._table(call, table),
                "version": change.version,
                "rows": change.inserted,
            }
            for table, change in report.tables.items()
        ]
        at = datetime.now(UTC)
        self._send(
            call,
            _ENDS.get(report.exit, "FAIL"),
            at,
            self._inputs(call, report.read_versions),
            outputs,
            facets,
        )

    def _inputs(self, call: "Invocation", versions: Mapping[str, int]) -> list[dict[str, Any]]:
        sources = [dataset_of(source) for source in call.sources]
        return sources + [
            {**self._table(call, table), "version": version} for table, version in versions.items()
        ]

    def _table(self, call: "Invocation", table: str) -> dict[str, Any]:
        location = call.location
        if location.is_path():
            return dataset_of(location.table_path(table))
        return {"namespace": self._namespace, "name": f"{location.describe()}.{table}"}

    def _send(
        self, call: "Invocation", kind: str, at: datetime, inputs: Sequence[Mapping[str, Any]],
        outputs: Sequence[Mapping[str, Any]], facets: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        if not self._is_on:
            return
        try:
            from openlineage.client.transport.http import HttpConfig, HttpTransport

            from strandline.cli.lineage_events import event
        except ImportError:
            self._is_on, self.warning = False, _MISSING
            return
        name = f"{self._started}.{call.command}"
        try:
            sent = event(
                kind, at, uuid.uuid5(_RUNS, f"{call.command}/{call.run_id}"), (self._namespace, name), inputs, outputs,
                facets or {}, producer=f"urn:strandline:{version('strandline')}",
            )  # fmt: skip
            HttpTransport(HttpConfig.from_dict(self._server)).emit(sent)
        except (OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
            # Without its text, which may show the URL with its credentials.
            self._is_on, self.warning = False, f"{URL} cannot be reached ({type(error).__name__})"


def _server(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the address of the server and how to log in there, in the words of the client's transport."""
    server: dict[str, Any] = {"url": environ.get(URL), "endpoint": environ.get(ENDPOINT) or "api/v1/lineage"}
    if key := environ.get(API_KEY):
        server["auth"] = {"type": "api_key", "apiKey": key}
    return server


def dataset_of(source: str) -> dict[str, Any]:
    """Return namespace and name of a file, folder, object or topic, as OpenLineage's naming rules say."""
    try:
        parts = urlsplit(source)
    except ValueError:
        # Brackets in what looks like a host: the path of a file.
        return {"namespace": "file", "name": os.path.abspath(source)}
    if len(parts.scheme) > 1 and parts.netloc:
        login, _, host = parts.netloc.rpartition("@")
        # Without a user and password. In an address of Azure the container is in the place of the user.
        container = login.partition(":")[0] if parts.scheme in _OF_AZURE else ""
        root = f"{container}@{host}" if container else host
        store = BY_SCHEME.get(parts.scheme)
        # A key of a store is literal; behind `?` of another address there may be a secret.
        key = parts.path if store is None else source.partition("://")[2].partition("/")[2]
        scheme = parts.scheme if store is None else store.scheme
        return {"namespace": f"{scheme}://{root}", "name": key.strip("/") or "/"}
    return {"namespace": "file", "name": os.path.abspath(source)}
