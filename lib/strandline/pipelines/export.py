"""`export`: writes accepted records to one file that `ingest` reads, with a manifest. No table changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pyspark.sql import functions as F

from strandline.contracts.shared_tables import PRUNED, RUNS
from strandline.core.errors import UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.export import ExportFile
from strandline.frames.listed import is_listed
from strandline.frames.sets import set_hashes
from strandline.kernels.formats import format_of
from strandline.kernels.manifests import StatedNamespace
from strandline.pipelines.namespace_lookup import resolve
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.as_of import TablesAsOf, versions_read
from strandline.tables.new_manifests import check_new
from strandline.tables.newfile import NewFile
from strandline.tables.outfile import publish_with_manifest, write_contents
from strandline.tables.recorded_versions import WHICH_RUNS, RecordedVersions, versions_of
from strandline.tables.run_order import run_order
from strandline.tables.store import TableStore

HEADS_STATED: Final = 10_000
"""Maximum number of heads in a manifest; with more heads it does not state namespaces."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """Namespaces as given, the file, the run whose records are exported (None: the current records), the format.

    Without a format the name of the file shows it.
    Raises: UsageError OUT_EXISTS, OUT_IS_FOLDER, OUT_NAME, MANIFEST_REFUSED; FaultError OUT_NOT_WRITABLE.
    """

    namespaces: tuple[str, ...]
    out: Path
    as_of: str | None = None
    format: str | None = None

    def __post_init__(self) -> None:
        """Check that the file does not exist and can be written, and that its manifest replaces none but its own."""
        check_new(self.out)


def run(
    store: TableStore, dialects: Mapping[str, Dialect], request: ExportRequest, context: RunContext
) -> Report:
    """Write the accepted records of namespaces of one dialect; `ingest` of the file gives the same sets.

    The manifest appears right before the file, so a file that exists is complete and has a manifest. `counts` has
    `records` (the count `read` of an ingest of the file), `pruned` (records that are missing since they were pruned;
    then the outcome is `found`) and the counts of the dialect. Members: `form`, `dialect`, `out`, `manifest`, `bytes`,
    `sha256`, `read_versions`, `as_of`, and `sets` with records and set_hash of each namespace.

    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, TABLE_MISSING; NAMESPACE_UNKNOWN,
        NAMESPACE_AMBIGUOUS, DIALECTS_DIFFER; OUT_NAME, FORMAT_UNKNOWN; RUN_UNKNOWN, RUN_READ_NOTHING, TABLE_RECREATED,
        VERSION_VACUUMED; OUT_EXISTS (a file appeared meanwhile). FaultError OUT_NOT_WRITABLE.
    """
    lake.check_there(store)
    context.progress.stage("reading versions")
    recorded, known = _recorded(store, dialects, request.as_of)
    versions = recorded.versions
    tables = TablesAsOf(store, versions)
    work_bytes = sum(store.stored_bytes(each.info.record_table) for each in known.values())
    tables_read = {table for each in known.values() for table in each.info.tables}
    with (
        NewFile(request.out) as file,
        store.sized(work_bytes, tables_read),
        _reading(recorded, request.as_of),
        SparkJobs(context.progress) as jobs,
    ):
        context.progress.stage("finding namespaces")
        name, namespaces = resolve(request.namespaces, known, tables, jobs)
        dialect = known[name]
        form = _format(request, dialect)
        found = (
            dialect.export(tables, jobs, namespaces)
            if form is None
            else dialect.export_as(tables, jobs, namespaces, form)
        )
        stated = _stated(found, jobs)
        heads = _with_heads(stated, found, jobs)
        pruned = _pruned(store, namespaces, found, request.as_of, jobs)
        context.progress.stage(f"writing {found.form}")
        file.write(found.head)
        records = write_contents(found.rows, file, found.separator)
        file.write(found.tail)
        written, manifest = publish_with_manifest(
            file, lambda: context.faults.reach("export.manifest"),
            dialect=name, records=records, namespaces=heads,
        )  # fmt: skip
    read = {table: versions[table] for table in dialect.info.ingest_tables}
    return context.report(
        store.location.describe(),
        outcome="found" if pruned else "ok",
        counts={"records": records, **found.counts, "pruned": pruned},
        namespaces=len(namespaces),
        members={
            "form": found.form, "dialect": name, "out": str(written.path), "manifest": str(manifest),
            "bytes": written.bytes, "sha256": written.sha256, "read_versions": read, "as_of": request.as_of,
            "sets": [
                {"namespace": each.namespace, "records": each.records, "set_hash": each.set_hash}
                for each in stated
            ],
        },
    )  # fmt: skip


def _recorded(
    store: TableStore, dialects: Mapping[str, Dialect], as_of: str | None
) -> tuple[RecordedVersions, dict[str, Dialect]]:
    """Return the table versions to read, and the dialects all of whose tables have one that is still theirs."""
    tables = [table for each in dialects.values() for table in each.info.ingest_tables]
    if as_of is None:
        return RecordedVersions("export", {table: store.version(table) for table in tables}), dict(dialects)
    recorded = versions_of(store, as_of, tables)
    read = {
        name: each
        for name, each in dialects.items()
        if recorded.versions.keys() >= set(each.info.ingest_tables)
    }
    if not read:
        raise UsageError(
            "RUN_READ_NOTHING", f"the run {as_of} ({recorded.command}) did not read records", WHICH_RUNS
        )
    known = {
        name: each for name, each in read.items() if recorded.recreated.isdisjoint(each.info.ingest_tables)
    }
    if not known:
        recorded.check_same(as_of)
    return recorded, known


@contextmanager
def _reading(recorded: RecordedVersions, as_of: str | None) -> Iterator[None]:
    """Read the versions of an earlier run: a vacuumed version is wrong usage, not damage.

    A namespace that is not found may have been in a table that was made anew.
    """
    if as_of is None:
        yield
        return
    with versions_read(recorded.versions, as_of):
        try:
            yield
        except UsageError as error:
            if error.code == "NAMESPACE_UNKNOWN":
                recorded.check_same(as_of)
            raise


def _format(request: ExportRequest, dialect: Dialect) -> str | None:
    """Return the format that is asked for or that the name of the file shows; None if the dialect has no choice.

    Raises: UsageError OUT_NAME, FORMAT_UNKNOWN.
    """
    info, out = dialect.info, request.out
    known = info.written_formats
    if request.format is not None:
        if request.format not in known:
            raise UsageError(
                "FORMAT_UNKNOWN",
                f"records of {info.name} are not written as {request.format}",
                f"name one of {', '.join(known)}" if known else "leave --format out",
            )
        return request.format
    if not known:
        return None
    shown = format_of(out.name, info.formats)
    if shown in known:
        return shown
    ending = info.formats[known[0]][0]
    raise UsageError(
        "OUT_NAME",
        f"records of {info.name} are written as {' or '.join(known)}, but the name {out.name} means another format",
        f"name a file that ends in {ending}, for example --out {out.stem or 'export'}{ending}",
    )


def _stated(found: ExportFile, jobs: SparkJobs) -> list[StatedNamespace]:
    """Return the number and set_hash of the records of each namespace, ascending; few, since each was given by name."""
    values = found.ids.select("namespace", F.col("record_id").alias("value"))
    listed = F.collect_list(F.struct("namespace", "size", F.lower(F.hex("set_hash")).alias("hash")))
    rows = jobs.row(set_hashes(values).agg(F.array_sort(listed).alias("sets")))["sets"]
    return [StatedNamespace(row["namespace"], row["size"], row["hash"], ()) for row in rows]


def _pruned(
    store: TableStore, namespaces: Sequence[str], found: ExportFile, as_of: str | None, jobs: SparkJobs
) -> int:
    """Return how many records of the namespaces are not in the file since they were pruned.

    What runs after `as_of` pruned was there when it read, or came later. A run that was killed counts as one before it.
    """
    if not store.stored_bytes(PRUNED):
        return 0
    rows = store.read(PRUNED).where(is_listed("namespace", namespaces))
    if as_of is not None:
        runs = store.read(RUNS)
        then = runs.where(F.col("run_id") == as_of).select(run_order().alias("then"))
        later = runs.join(F.broadcast(then), run_order() > F.col("then"), "left_semi")
        rows = rows.join(later.select("run_id"), "run_id", "left_anti")
    lacking = rows.join(found.ids.select("record_id"), "record_id", "left_anti")
    return int(jobs.row(lacking.agg(F.count_distinct("namespace", "record_id").alias("rows")))["rows"])


def _with_heads(
    stated: Sequence[StatedNamespace], found: ExportFile, jobs: SparkJobs
) -> list[StatedNamespace]:
    """Return the namespaces of the manifest with their heads; none if there are too many heads."""
    few = found.heads.select("namespace", F.lower(F.hex("record_id")).alias("head")).limit(HEADS_STATED + 1)
    rows = jobs.row(few.agg(F.collect_list(F.struct("namespace", "head")).alias("heads")))["heads"]
    if len(rows) > HEADS_STATED:
        return []
    heads: dict[str, list[str]] = {}
    for row in sorted(rows):
        heads.setdefault(row["namespace"], []).append(row["head"])
    return [replace(each, heads=tuple(heads[each.namespace])) for each in stated]
