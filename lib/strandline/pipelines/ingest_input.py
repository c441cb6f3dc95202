"""What `ingest` reads: its arguments, and the files and manifests that they name. Needs no Spark session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from strandline.config.settings import Settings
from strandline.dialect_api.dialect import Dialect
from strandline.pipelines.admission import raw_limits
from strandline.pipelines.manifests import require_manifests
from strandline.tables.beside import KnownManifests
from strandline.tables.contents import Contents
from strandline.tables.formats import with_formats
from strandline.tables.manifests import Manifest, load_manifests
from strandline.tables.sources import NOT_LISTED, Selection, select
from strandline.tables.topics import Messages


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """The arguments of `ingest`.

    `format` overrides the format by name; links must stay in the folder `within`; `drop_rejected_before` is in UTC.
    `options` is the result of the dialect's `parse_options`, or None. Instead of sources, `listed` are objects of a
    store with their bytes, `messages` those of a topic, and `contents` are records that the driver holds. `known`
    are manifests that earlier batches read.
    """

    sources: tuple[str, ...] = ()
    format: str | None = None
    within: bytes | None = None
    listed: Mapping[bytes, int] = field(default_factory=lambda: NOT_LISTED)
    fail_on_reject: bool = False
    require_manifest: bool = False
    from_quarantine: bool = False
    reason: str | None = None
    namespace: str | None = None
    drop_rejected_before: datetime | None = None
    options: object | None = None
    messages: Messages | None = None
    contents: Contents | None = None
    known: KnownManifests | None = None

    @property
    def as_rows(self) -> Messages | Contents | None:
        """The input that reaches the tasks as rows, not as files."""
        return self.messages or self.contents


@dataclass(frozen=True, slots=True)
class FoundInput:
    """The files that the sources of a request name, each with its format, and the manifests about them."""

    selection: Selection
    manifests: tuple[Manifest, ...]


def find_input(dialect: Dialect, request: IngestRequest, settings: Settings) -> FoundInput:
    """Return the files and manifests that a request names. Reads only manifests; needs no Spark.

    Raises: UsageError (a missing source, a name without a known format, with `require_manifest` a file that no
    manifest names), FaultError SOURCE_UNREADABLE.
    """
    found = select(
        request.sources, most=settings.limits.files, within=request.within, listed=request.listed, known=request.known
    )  # fmt: skip
    selection, manifests = load_manifests(
        found, dialect=dialect.info.name, keep=raw_limits(settings), known=request.known
    )
    selection = with_formats(selection, dialect.info.formats, request.format)
    if request.require_manifest:
        require_manifests(selection, manifests)
    return FoundInput(selection, manifests)
