"""Compares input files with their manifests, which state hashes, counts and namespaces."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import DataFrame, Row, SparkSession

from strandline.core.errors import UsageError
from strandline.core.safe_files import why_unreadable
from strandline.core.verdict import MAX_EVIDENCE_BYTES, JsonValue, encode_evidence, shown
from strandline.dialect_api.admission import Admission
from strandline.frames.manifests import disagreeing_files, disagreeing_namespaces
from strandline.kernels.containers import StreamLimits
from strandline.kernels.inputs import exists, real_path
from strandline.kernels.manifests import Invalid, StatedFile, StatedNamespace
from strandline.tables.findings import FileFinding
from strandline.tables.manifests import Manifest
from strandline.tables.sources import InputFile, Selection
from strandline.tables.stated import content_of, stated_files, stated_namespaces

_EVIDENCE_BYTES = MAX_EVIDENCE_BYTES // 2 - 256
"""Maximum bytes of the disagreements of one reason; a row has at most two reasons."""

MOST_STATING: Final = 16
"""Maximum number of manifests of a file whose namespaces are compared: each is a pass over the records of the file."""

Disagreement = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ManifestFindings:
    """Rows of scope `manifest`, the numbers of files by completeness, and the number of wrong manifests."""

    findings: tuple[FileFinding, ...]
    counts: Mapping[str, int]
    disagreements: int

    @staticmethod
    def none() -> ManifestFindings:
        """Return the findings of a run without manifests."""
        return ManifestFindings((), {}, 0)


@dataclass(slots=True)
class _Checked:
    """One manifest, the files of the run that it names (by number), and its disagreements.

    `namespaces` is None if the manifest states none, or also names files that were not given. `disagreeing` counts the
    files and namespaces that disagree; `mismatches` has the first ones.
    """

    manifest: Manifest
    named: Mapping[int, StatedFile] = field(default_factory=dict)
    namespaces: tuple[StatedNamespace, ...] | None = None
    missing: list[Disagreement] = field(default_factory=list)
    mismatches: list[Disagreement] = field(default_factory=list)
    disagreeing: dict[str, int] = field(default_factory=dict)

    def finding(self) -> FileFinding | None:
        """Return its quarantine row, or None if nothing disagrees."""
        content = self.manifest.content
        evidence: dict[str, JsonValue] = {}
        if isinstance(content, Invalid):
            evidence["MANIFEST_INVALID"] = content.evidence
        if self.missing:
            evidence["MANIFEST_FILE_MISSING"] = _evidence(self.missing, {"files": len(self.missing)})
        if self.mismatches:
            evidence["MANIFEST_MISMATCH"] = _evidence(self.mismatches, self.disagreeing)
        if not evidence:
            return None
        raw, source = self.manifest.raw, self.manifest.source
        return FileFinding("manifest", tuple(sorted(evidence)), raw, encode_evidence(evidence), source)


def require_manifests(selection: Selection, manifests: Sequence[Manifest]) -> None:
    """Check that a valid manifest names every input file.

    Raises:
        UsageError: MANIFEST_REQUIRED, which names the first file without one.
    """
    named = {file_no for each in _paired(selection, manifests) for file_no in each.named}
    for file in selection.files:
        if file.file_no not in named:
            raise UsageError(
                "MANIFEST_REQUIRED",
                f"No manifest names {file.source}, so its completeness cannot be checked.",
                "Put its *.manifest.json into the folder of the file, or leave out --require-manifest.",
            )


def check_manifests(
    selection: Selection, manifests: Sequence[Manifest], admission: Admission | None, spark: SparkSession,
    limits: StreamLimits,
) -> ManifestFindings:  # fmt: skip
    """Compare the files with their manifests, in one Spark action; in none if no manifest names a file.

    A file is `complete` (every manifest that names it agrees), `damaged` (it differs from its manifest) or `open_ended`
    (no manifest names it). If a manifest disagrees about namespaces although all its files are present and agree, none
    of them is `complete`.
    """
    checked = _paired(selection, manifests)
    damaged = _compare(checked, selection, admission, spark, limits)
    named = {file_no for each in checked for file_no in each.named}
    found = tuple(finding for each in checked if (finding := each.finding()) is not None)
    counts = {
        "complete": len(named - damaged),
        "damaged": len(damaged),
        "open_ended": len(selection.files) - len(named),
    }
    return ManifestFindings(found, counts, len(found))


def _paired(selection: Selection, manifests: Sequence[Manifest]) -> list[_Checked]:
    """Return each manifest with the files of the run that it names, and the missing ones."""
    by_path = {file.real: file for file in selection.files} if manifests else {}
    return [_pair(manifest, by_path) for manifest in manifests]


def _pair(manifest: Manifest, by_path: Mapping[bytes, InputFile]) -> _Checked:
    content = manifest.content
    if isinstance(content, Invalid):
        return _Checked(manifest)
    named: dict[int, StatedFile] = {}
    missing: list[Disagreement] = []
    folder, is_partial = manifest.folder, False
    for stated in content.files:
        path = os.path.join(folder, stated.name.encode("utf-8"))
        file = by_path.get(real_path(path))
        if file is not None:
            named[file.file_no] = stated
        elif (why := _why_missing(manifest, path)) is not None:
            missing.append(
                _disagreement("file", stated.name, "name", "a file in the folder of the manifest", why)
            )
        else:
            is_partial = True
    return _Checked(manifest, named, None if is_partial else content.namespaces, missing)


def _why_missing(manifest: Manifest, path: bytes) -> str | None:
    """Return why a file that was not read counts as missing, or None if it was only not given."""
    if manifest.found_by == "beside":
        return None
    try:
        if not exists(path):
            return "absent"
    except OSError as error:
        return f"not known: {why_unreadable(error)}"
    return "not read: a hidden name, a refused link or not a file" if manifest.found_by == "folder" else None


def _compare(
    checked: Sequence[_Checked], selection: Selection, admission: Admission | None, spark: SparkSession,
    limits: StreamLimits,
) -> set[int]:  # fmt: skip
    """Add the disagreements to each manifest, and return the numbers of the damaged files."""
    unexplained = _not_compared(checked)
    disagreements = _disagreements(checked, selection, admission, spark, limits)
    if disagreements is None:
        return unexplained
    rows = sorted(disagreements.collect(), key=_order)
    damaged = {row["file_no"] for row in rows if row["file_no"] is not None}
    for row in rows:
        each, file_no = checked[row["manifest_no"]], row["file_no"]
        if file_no is None and not each.missing and not damaged.intersection(each.named):
            unexplained.update(each.named)
        each.disagreeing["namespaces" if file_no is None else "files"] = row["disagreeing"]
        if row["found"] is not None:
            about = ("namespace", row["namespace"]) if file_no is None else ("file", each.named[file_no].name)
            each.mismatches.extend(_disagreement(*about, *found) for found in row["found"])
    return damaged | unexplained


def _not_compared(checked: Sequence[_Checked]) -> set[int]:
    """Leave out the namespaces of a manifest if `MOST_STATING` others state those of one of its files.

    Return the numbers of the files of such manifests.
    """
    stating: Counter[int] = Counter()
    found: set[int] = set()
    for each in checked:
        if each.namespaces is None:
            continue
        if all(stating[file_no] < MOST_STATING for file_no in each.named):
            stating.update(each.named.keys())
            continue
        found.update(each.named)
        name = next(stated.name for at, stated in each.named.items() if stating[at] >= MOST_STATING)
        expected = f"at most {MOST_STATING} manifests that state namespaces of the file"
        each.mismatches.append(_disagreement("file", name, "namespaces", expected, "not compared"))
        each.disagreeing["namespaces"] = len(each.namespaces)
        each.namespaces = None
    return found


def _order(row: Row) -> tuple[int, bool, int, str]:
    return row["manifest_no"], row["file_no"] is None, row["file_no"] or 0, row["namespace"] or ""


def _disagreements(
    checked: Sequence[_Checked], selection: Selection, admission: Admission | None, spark: SparkSession,
    limits: StreamLimits,
) -> DataFrame | None:  # fmt: skip
    """Return, lazily, the disagreements (`frames.manifests.DISAGREEMENTS`), or None if no file is named."""
    if admission is None or admission.per_file is None or not any(each.named for each in checked):
        return None
    numbered = list(enumerate(checked))
    named = {file_no for each in checked for file_no in each.named}
    stated = stated_files(spark, [(number, each.named) for number, each in numbered])
    content = content_of(spark, [file for file in selection.files if file.file_no in named], limits)
    files = disagreeing_files(stated, content, admission.per_file())
    stating = [
        (number, each.namespaces) for number, each in numbered if each.named and each.namespaces is not None
    ]
    if not stating or admission.claims is None:
        return files
    of_these = stated_files(spark, [(number, checked[number].named) for number, _ in stating])
    places = of_these.select("manifest_no", "file_no")
    return files.unionByName(
        disagreeing_namespaces(stated_namespaces(spark, stating), admission.claims(), places)
    )


def _disagreement(subject: str, name: str, field: str, expected: str, actual: str | None) -> Disagreement:
    found: Disagreement = {subject: shown(name), "field": field, "expected": expected}
    return {**found, "actual": None if actual is None else shown(actual)}


def _evidence(disagreements: Sequence[Disagreement], disagreeing: Mapping[str, int]) -> JsonValue:
    """Return the first disagreement, as many more as fit, and the number of files and namespaces."""
    first, *others = disagreements
    more: list[JsonValue] = []
    room = _EVIDENCE_BYTES - len(encode_evidence(first))
    for other in others:
        room -= len(encode_evidence(other)) + 1
        if room < 0:
            break
        more.append(other)
    return {**first, **({"more": more} if more else {}), "disagreeing": dict(disagreeing)}
