"""`unpack`: copies the blocks of a node's folder to one file for `ingest`. It verifies nothing and starts no JVM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strandline.core.errors import UsageError
from strandline.core.safe_files import open_file
from strandline.dialect_api.unpacking import Unpacking
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.tables.blockstores import Database, Stores, content_of, copied_databases, find_stores
from strandline.tables.newfile import NewFile, check_free


@dataclass(frozen=True, slots=True)
class UnpackRequest:
    """The folder of a node, and the file for its blocks."""

    folder: Path
    out: Path


def run(unpackings: Sequence[Unpacking], request: UnpackRequest, context: RunContext) -> Report:
    """Copy all blocks below a folder to one file, which appears only when it is complete. The folder is only read.

    If the file has no room for all roots, further files hold the rest; they appear before it, and those that a killed
    run left stay. `counts` are `blocks`, `roots` and `passed_over`: files and keys that look like blocks
    but are none, or are larger than the dialect's limit. Members: `dialect` (that reads the files), `out`, `bytes`,
    `sha256`, `more` (the further files), `databases` (LevelDB folders).

    Raises: UsageError OUT_EXISTS, OUT_IS_FOLDER, OUT_NAME, NO_BLOCK_STORE; FaultError SOURCE_UNREADABLE,
        LEVELDB_MISSING, LEVELDB_LOCKED, LEVELDB_DAMAGED, DISK_TOO_SMALL, OUT_NOT_WRITABLE.
    """
    check_free(request.out)
    unpacking = _for(request.out, unpackings)
    stores = find_stores(request.folder, unpacking.stored_ending)
    counts = {"blocks": 0, "roots": 0, "passed_over": 0}

    def add(found: bytes | None) -> None:
        counts["passed_over" if found is None else "blocks"] += 1
        if found is not None:
            file.write(found)

    with (
        copied_databases(stores.databases, request.out.parent) as databases,
        NewFile(request.out) as file,
    ):
        context.progress.stage("reading roots")
        roots = _roots(databases, unpacking)
        counts["roots"] = len(roots)
        first, *rest = unpacking.heads(roots)
        more = _more(request.out, rest)
        file.write(first)
        context.progress.stage("copying blocks", lambda: counts["blocks"])
        for path in stores.files:
            content = content_of(path, unpacking.most_bytes)
            name = path.name.removesuffix(unpacking.stored_ending)
            add(None if content is None else unpacking.of_file(name, content))
        for database in databases:
            for key, value in database.entries():
                if key != unpacking.roots_key:
                    add(unpacking.of_entry(key, value) if len(value) <= unpacking.most_bytes else None)
        if not counts["blocks"]:
            raise _no_block(request, stores)
        context.faults.reach("unpack.copied")
        for path, begin in more.items():
            if not _has_content(path, begin):
                _write(path, begin)
            context.faults.reach("unpack.more")
        written = file.publish(new=True)
    return context.report(
        counts=counts,
        members={
            "out": str(written.path), "bytes": written.bytes, "sha256": written.sha256,
            "dialect": unpacking.dialect, "databases": len(stores.databases), "more": [str(path) for path in more],
        },
    )  # fmt: skip


def _more(out: Path, contents: Sequence[bytes]) -> dict[Path, bytes]:
    """Return the names of further files, `x-2.car`, `x-3.car`, with their contents.

    One that has its content already was left by a killed run. Raises: UsageError as `check_free`.
    """
    more = {out.with_name(f"{out.stem}-{no}{out.suffix}"): content for no, content in enumerate(contents, 2)}
    for path, content in more.items():
        try:
            if not _has_content(path, content):
                check_free(path)
        except UsageError as error:
            raise UsageError(
                error.code,
                f"{error.message}; it would hold roots that have no room in {out.name}",
                "name a new file with --out, or remove that one, if an unpack that was killed left it",
            ) from None
    return more


def _has_content(path: Path, content: bytes) -> bool:
    try:
        with open_file(path, follow=False) as file:
            return file.read(len(content) + 1) == content
    except OSError:
        return False


def _write(path: Path, content: bytes) -> None:
    with NewFile(path) as file:
        file.write(content)
        file.publish(new=True)


def _for(out: Path, unpackings: Sequence[Unpacking]) -> Unpacking:
    """Return the unpacking that writes files of that name. Raises: UsageError OUT_NAME."""
    for each in unpackings:
        if out.name.lower().endswith(each.ending):
            return each
    endings = " or ".join(each.ending for each in unpackings)
    raise UsageError(
        "OUT_NAME", f"the name {out.name} does not show a format", f"name a file that ends in {endings}"
    )


def _roots(databases: Sequence[Database], unpacking: Unpacking) -> list[bytes]:
    """Return the distinct addresses that the databases name as roots."""
    found = [value for value in (each.get(unpacking.roots_key) for each in databases) if value is not None]
    return list(dict.fromkeys(root for value in found for root in unpacking.roots(value)))


def _no_block(request: UnpackRequest, stores: Stores) -> UsageError:
    checked = f"{len(stores.files)} files and {len(stores.databases)} LevelDB folders were checked"
    return UsageError(
        "NO_BLOCK_STORE",
        f"the folder {request.folder} has no block: {checked}",
        "name the folder in which a node stores its blocks",
    )
