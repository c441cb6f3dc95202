"""Reads small tables of a local lake with delta-rs, into the driver.

For each scan Delta starts jobs that look for files, and a job that reads them: more than a second where the rows are
read in milliseconds. Of rows that the driver has, Spark knows the number, and often needs no job.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import StructType

from strandline.tables.delta_log import actions_of, content_of, json_of, newest_commit
from strandline.tables.location import Location

if TYPE_CHECKING:
    from deltalake import DeltaTable

MOST_FILES: Final = 64
MOST_BYTES: Final = 1024 * 1024
"""Of all files of a table, as they are stored."""
MOST_COMMITS: Final = 32
"""A log after its newest checksum, or a change data feed, is read only up to this number of commits."""
MOST_MEMORY: Final = 16 * 1024 * 1024
"""Bytes of the rows in Arrow's form."""
CHANGE_FEED: Final = "delta.enableChangeDataFeed"
MAPPING: Final = "delta.columnMapping.mode"
"""With it files can have other names of columns, which Arrow takes for columns without values."""
_STAGED: Final = ("_commits", "_staged_commits")
"""Folders of commits that a catalog manages, by the version of Delta."""
_ROWS: Final = 256
"""Rows that are decoded at once: some hostile bytes in few stored ones are noticed before they fill the memory."""

Small = tuple[pa.Table, StructType]


class SmallTables:
    """The small tables of one lake. Rows are kept for the newest version that was asked for.

    Of a lake that is not local, or of another (`is_trusted` is False), no table is read here.
    """

    def __init__(self, location: Location, *, is_trusted: bool) -> None:
        self._location = location
        self._is_read = is_trusted and location.is_local()
        self._kept: dict[str, tuple[int, Small | None]] = {}
        self._kept_changes: dict[str, tuple[tuple[int, int, int], Small | None]] = {}
        self._versions: dict[str, int] = {}

    def is_small(self, table: str) -> bool:
        """Return whether a table has few and small files at its current version; False if its log tells nothing."""
        log = self._log(table)
        try:
            return log is not None and _is_small(log, self._newest(table, log))
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def rows(self, table: str, version: int | None = None) -> Small | None:
        """Return the rows of a table at a version, or at the current one; None if Spark should read them.

        Spark reads tables that are not small, and everything that delta-rs cannot read: it tells what is damaged.
        """
        log = self._log(table)
        if log is None:
            return None
        asked = self._newest(table, log) if version is None else version
        kept, rows = self._kept.get(table, (None, None))
        if kept != asked:
            is_small = _is_small(log, asked)
            rows = _read(lambda: self._open(table, asked), _scanned) if is_small else None
            if kept is None or kept < asked:
                self._kept[table] = (asked, rows)
        return rows

    def has_commit(self, table: str, version: int) -> bool:
        """Return whether the log of a table has the commit of a version; False if its log tells nothing."""
        log = self._log(table)
        return log is not None and (log / f"{version:020}.json").is_file()

    def changes(self, table: str, first: int, last: int) -> Small | None:
        """Return the rows that the versions `first` to `last` inserted, or None as in `rows`."""
        log = self._log(table)
        if log is None or not _are_small_commits(log, first, last):
            return None
        # As with Spark, they have the columns of the current version.
        current = self._newest(table, log)
        kept, rows = self._kept_changes.get(table, (None, None))
        if kept != (asked := (first, last, current)):

            def inserted(opened: DeltaTable) -> Small | None:
                before = self._open(table, first).metadata().configuration
                return _inserted(opened, first, last) if _are_recorded(before, log, first, last) else None

            rows = _read(lambda: self._open(table, current), inserted)
            self._kept_changes[table] = (asked, rows)
        return rows

    def _log(self, table: str) -> Path | None:
        """Return the folder of the table's log, or None if it is not read, not there or does not have all commits."""
        if not self._is_read:
            return None
        log = Path(self._location.table_path(table), "_delta_log")
        # Commits that a catalog manages are newer.
        is_whole = log.is_dir() and not any(next(log.glob(f"{name}/*"), None) for name in _STAGED)
        return log if is_whole else None

    def _newest(self, table: str, log: Path) -> int:
        """Return the newest version of a table, -1 without one. Raises: OSError."""
        self._versions[table] = found = newest_commit(log, self._versions.get(table, -1))
        return found

    def _open(self, table: str, version: int) -> DeltaTable:
        from deltalake import DeltaTable

        return DeltaTable(self._location.table_path(table), version=version)


def has_row_within(rows: pa.Table, buckets: tuple[int, ...], bounds: Mapping[str, tuple[int, int]]) -> bool:
    """Return whether a row is in one of these buckets, with each column of `bounds` in its range."""
    within = pc.is_in(rows["bucket"], pa.array(buckets, rows.schema.field("bucket").type))
    for name, (low, high) in bounds.items():
        is_inside = pc.and_(pc.greater_equal(rows[name], low), pc.less_equal(rows[name], high))
        within = pc.and_(within, is_inside)
    return bool(pc.any(within).as_py())


def _is_small(log: Path, version: int) -> bool:
    """Return whether the table is small by its newest checksum and the commits after it, or those of a short log.

    delta-rs, which adds the rows of `run`, writes no checksum: the newest one is that of the last maintenance.
    """
    for stated_at in range(version, max(version - MOST_COMMITS, -1), -1):
        try:
            stated = json_of(content_of(log / f"{stated_at:020}.crc"))
            return _are_small_commits(
                log, stated_at + 1, version, stated["numFiles"], stated["tableSizeBytes"]
            )
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return _are_small_commits(log, 0, version)


def _are_small_commits(log: Path, first: int, last: int, files: int = 0, size: int = 0) -> bool:
    """Return whether these commits are in the log and name few and small files, in the form that Delta gives them.

    `files` and `size` (bytes) are those of the version before.
    """
    if last - first >= MOST_COMMITS or not _are_few(files, size):
        return False
    try:
        for version in range(first, last + 1):
            commit = log / f"{version:020}.json"
            if not commit.is_file():
                return False
            for each in _file_sizes(commit):
                files, size = files + 1, size + each
                if not _are_few(files, size):
                    # The rest of its commits can name a million files.
                    return False
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def _are_few(files: int, size: int) -> bool:
    return files <= MOST_FILES and size <= MOST_BYTES


def _are_recorded(stated: Mapping[str, str], log: Path, first: int, last: int) -> bool:
    """Return whether the change data feed is on at each of these versions; `stated` are the properties at the first.

    Without it, a file that was rewritten would count as inserted rows.
    """
    commits = (log / f"{version:020}.json" for version in range(first + 1, last + 1))
    changed = (
        action["metaData"]["configuration"]
        for each in commits
        for action in actions_of(each)
        if "metaData" in action
    )
    return all(each.get(CHANGE_FEED) == "true" for each in (stated, *changed))


def _file_sizes(commit: Path) -> Iterator[int]:
    """Yield the bytes of each data file and each file of changes that a commit adds."""
    for action in actions_of(commit):
        for kind in ("add", "cdc"):
            if isinstance(named := action.get(kind), dict):
                yield int(named["size"])


def _read(open_table: Callable[[], DeltaTable], read: Callable[[DeltaTable], Small | None]) -> Small | None:
    """Return the result of `read`, or None after any error: Spark then reads the same files and tells it."""
    try:
        return read(open_table())
    except Exception:  # noqa: BLE001 - the readers of delta-rs raise the bare class
        return None


def _scanned(opened: DeltaTable) -> Small | None:
    import pyarrow.dataset as ds

    if opened.metadata().configuration.get(MAPPING, "none") != "none":
        return None
    rows = opened.to_pyarrow_dataset()
    scanner = rows.scanner(
        batch_size=_ROWS, batch_readahead=1, fragment_readahead=1, use_threads=False,
        fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True),
    )  # fmt: skip
    parts = (pa.Table.from_batches([batch]) for batch in scanner.to_batches())
    return _collected(parts, rows.schema, opened)


def _inserted(opened: DeltaTable, first: int, last: int) -> Small | None:
    schema = pa.schema(opened.schema().to_arrow())
    typed = schema.append(pa.field("_change_type", pa.string()))
    feed = pa.RecordBatchReader.from_stream(opened.load_cdf(first, last))
    # It has string views, which Arrow cannot filter.
    changes = (pa.Table.from_batches([batch]).select(typed.names).cast(typed) for batch in feed)
    inserts = (rows.filter(pc.equal(rows["_change_type"], "insert")) for rows in changes)
    return _collected((rows.select(schema.names) for rows in inserts), schema, opened)


def _collected(parts: Iterable[pa.Table], schema: pa.Schema, opened: DeltaTable) -> Small | None:
    """Return the parts as one table, or None if it is too large or has a null where none is allowed."""
    found: list[pa.Table] = [schema.empty_table()]
    size = 0
    for part in parts:
        size += part.nbytes
        if size > MOST_MEMORY:
            return None
        found.append(part)
    rows = pa.concat_tables(found).combine_chunks()
    if any(rows.column(field.name).null_count for field in schema if not field.nullable):
        return None
    return rows, StructType.fromJson(json.loads(opened.schema().to_json()))
