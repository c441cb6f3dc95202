"""Parses manifests, untrusted JSON with statements about files and their content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.limits import MAX_MANIFEST_VALUES
from strandline.core.verdict import Evidence, shown

MANIFEST_MEMBER: Final = "strandline_manifest"
VERSION: Final = 1
MAX_MANIFEST_BYTES: Final = 16 * 1024 * 1024
MAX_NESTING: Final = 32
MAX_COUNT: Final = 2**63 - 1

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_NOT_IN_A_NAME: Final = re.compile(r"[/\\\0]")


@dataclass(frozen=True, slots=True)
class StatedFile:
    """The statement of a manifest about one file, decompressed. `sha256` is lower-case hex."""

    name: str
    records: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class StatedNamespace:
    """The statement of a manifest about the distinct record ids of a namespace in its files. Digests are hex."""

    namespace: str
    records: int
    set_hash: str
    heads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A valid manifest. `namespaces` is None if it states none."""

    files: tuple[StatedFile, ...]
    namespaces: tuple[StatedNamespace, ...] | None


@dataclass(frozen=True, slots=True)
class Invalid:
    """A manifest that is not valid (MANIFEST_INVALID).

    `of_others` are the names of its files if it is a manifest of another dialect, else None.
    """

    evidence: Evidence
    of_others: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class NotAManifest:
    """A file that only has the name of a manifest."""


class _WrongField(Exception):  # noqa: N818 - a verdict on the bytes, not an error of the program
    def __init__(self, field: str, expected: str, actual: Any) -> None:
        super().__init__(field)
        self.evidence: Evidence = {"field": field, "expected": expected, "actual": _as_evidence(actual)}


def parse_manifest(head: bytes, length: int, *, dialect: str) -> Statement | Invalid | NotAManifest:
    """Return the statement of the bytes of a `*.manifest.json`.

    `head` are its bytes up to 16 MiB, `length` is its whole length. These hold for a statement:
    - it has at most 16 MiB (`too_large`) and is one strict JSON value with at most 32 levels (cause of the reader);
    - `strandline_manifest` is 1 and `dialect` is that of the run;
    - `files` is a list; each has a plain `name` (no separator, not `.` or `..`, no NUL) that is not repeated, `records`
      and `bytes` in 0..2^63-1, `sha256` as 64 lower-case hex characters;
    - `namespaces`, if present, is a list; each has a `namespace` that is not repeated, `records`, `set_hash` and
      distinct `heads`.

    Bytes that are not JSON are an invalid manifest if they contain the name of the member, else not a manifest.
    """
    if length > MAX_MANIFEST_BYTES:
        evidence: Evidence = {"cause": "too_large", "expected": MAX_MANIFEST_BYTES, "actual": length}
        return Invalid(evidence) if has_member(head) else NotAManifest()
    try:
        value = strict_json(head, nesting=MAX_NESTING, most_values=MAX_MANIFEST_VALUES)
    except JsonRefused as refused:
        return Invalid(refused.evidence) if has_member(head) else NotAManifest()
    if not isinstance(value, dict) or MANIFEST_MEMBER not in value:
        return NotAManifest()
    try:
        return _statement(value, dialect)
    except _WrongField as wrong:
        return Invalid(wrong.evidence, _of_others(value, dialect))


def has_member(head: bytes) -> bool:
    """Return whether the first bytes of a file contain the name of the member that makes it a manifest."""
    return f'"{MANIFEST_MEMBER}"'.encode("ascii") in head


def _statement(value: Mapping[str, Any], dialect: str) -> Statement:
    version = value[MANIFEST_MEMBER]
    if not _is_integer(version) or version != VERSION:
        raise _WrongField(MANIFEST_MEMBER, str(VERSION), version)
    if value.get("dialect") != dialect:
        raise _WrongField("dialect", dialect, value.get("dialect"))
    files = tuple(_file(each, place) for each, place in _objects(value, "files"))
    _once(((file.name, f"files[{at}].name") for at, file in enumerate(files)))
    if "namespaces" not in value:
        return Statement(files, None)
    namespaces = tuple(_namespace(each, place) for each, place in _objects(value, "namespaces"))
    _once(((each.namespace, f"namespaces[{at}].namespace") for at, each in enumerate(namespaces)))
    return Statement(files, namespaces)


def _of_others(value: Mapping[str, Any], dialect: str) -> tuple[str, ...] | None:
    """Return the files that a manifest of another dialect names; None for this dialect, or if it cannot be read."""
    stated, files = value.get("dialect"), value.get("files")
    if stated == dialect or not _is_text(stated) or not isinstance(files, list):
        return None
    names: list[Any] = [each.get("name") if isinstance(each, dict) else None for each in files]
    return tuple(names) if all(map(_is_plain_name, names)) else None


def _objects(value: Mapping[str, Any], name: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    for at, each in enumerate(_field(value, name, name, "list", lambda found: isinstance(found, list))):
        place = f"{name}[{at}]"
        if not isinstance(each, dict):
            raise _WrongField(place, "object", each)
        yield each, place


def _file(value: Mapping[str, Any], place: str) -> StatedFile:
    return StatedFile(
        name=_field(value, "name", f"{place}.name", "plain file name", _is_plain_name),
        records=_count(value, "records", place),
        bytes=_count(value, "bytes", place),
        sha256=_digest(value, "sha256", place),
    )


def _namespace(value: Mapping[str, Any], place: str) -> StatedNamespace:
    heads = _field(value, "heads", f"{place}.heads", "list", lambda found: isinstance(found, list))
    for at, head in enumerate(heads):
        if not _is_digest(head):
            raise _WrongField(f"{place}.heads[{at}]", "64 lower-case hex characters", head)
    _once((head, f"{place}.heads[{at}]") for at, head in enumerate(heads))
    return StatedNamespace(
        namespace=_field(value, "namespace", f"{place}.namespace", "text", _is_text),
        records=_count(value, "records", place),
        set_hash=_digest(value, "set_hash", place),
        heads=tuple(sorted(heads)),
    )


def _count(value: Mapping[str, Any], name: str, place: str) -> int:
    def fits(found: Any) -> bool:
        return _is_integer(found) and 0 <= found <= MAX_COUNT

    count: int = _field(value, name, f"{place}.{name}", "integer in 0..2^63-1", fits)
    return count


def _digest(value: Mapping[str, Any], name: str, place: str) -> str:
    digest: str = _field(value, name, f"{place}.{name}", "64 lower-case hex characters", _is_digest)
    return digest


def _field(
    value: Mapping[str, Any], name: str, place: str, expected: str, fits: Callable[[Any], bool]
) -> Any:
    found = value.get(name)
    if not fits(found):
        raise _WrongField(place, expected, found)
    return found


def _once(found: Iterator[tuple[str, str]]) -> None:
    seen: set[str] = set()
    for text, place in found:
        if text in seen:
            raise _WrongField(place, "each once", text)
        seen.add(text)


def _is_integer(found: Any) -> bool:
    return isinstance(found, int) and not isinstance(found, bool)


def _is_text(found: Any) -> bool:
    return isinstance(found, str)


def _is_digest(found: Any) -> bool:
    return isinstance(found, str) and _DIGEST.fullmatch(found) is not None


def _is_plain_name(found: Any) -> bool:
    return isinstance(found, str) and found not in ("", ".", "..") and not _NOT_IN_A_NAME.search(found)


def _as_evidence(actual: Any) -> str | int | None:
    """Return an untrusted value in the form for evidence."""
    if isinstance(actual, str):
        return shown(actual)
    if actual is None or isinstance(actual, bool):
        return actual
    if isinstance(actual, int):
        return actual if abs(actual) <= MAX_COUNT else shown(f"integer of {actual.bit_length()} bits")
    if isinstance(actual, list | dict):
        return "list" if isinstance(actual, list) else "object"
    return shown(str(actual.text))
