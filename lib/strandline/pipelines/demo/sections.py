"""The sections that the demo prints: each has a title, then lines, a table or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from strandline.contracts.reasons import reasons
from strandline.core.sentences import amount
from strandline.dialect_api.demo import DemoFile, DemoPruning, DemoRejection
from strandline.pipelines.report import Report

Section = dict[str, Any]

_SHOWN_ID: Final = 16
_EVIDENCE: Final = ("position", "field", "expected", "actual", "note")
_HEALTH: Final = ("health", "namespace", "records", "waiting", "rejected", "forks", "state_hash")


def input_files(folder: Path, files: Sequence[DemoFile]) -> Section:
    """List the files that were ingested."""
    return {
        "title": f"Journals, in {folder}",
        "columns": ["file", "records", "what it is"],
        "rows": [[file.name, file.records, file.what] for file in files],
    }


def counts(ingest: Report, reduce: Report) -> Section:
    """Show the records by verdict, and the number of each reason."""
    found = ingest.counts
    verdicts = ("new", "known", "rejected", "deferred")
    lines = [f"read {found['read']:,} = " + " + ".join(f"{name} {found[name]:,}" for name in verdicts)]
    lines += [
        f"{count:>8,}  {code}"
        for code, count in sorted(ingest.reasons.items(), key=lambda one: (-one[1], one[0]))
    ]
    lines.append(f"{amount(reduce.namespaces, 'namespace')} reduced to their state")
    return {"title": "Every record gets one verdict", "lines": lines}


def health(status: Report) -> Section:
    """Show the health of each namespace, worst first."""
    rows = [[_short(name, row[name]) for name in _HEALTH] for row in status.members["rows"]]
    return {"title": "Health, worst first", "columns": list(_HEALTH), "rows": rows}


def rejected(
    record: Mapping[str, Any], rejection: DemoRejection, *, accepted_before: int, where: str
) -> Section:
    """Explain one rejected record: expected and actual value, meaning and advice.

    `record` is that of `quarantine show`; `where` is the option that names the lake.
    """
    reason, evidence = reasons()[rejection.reason], dict(record["evidence"][rejection.reason])
    if "position" in evidence:
        before = f"{accepted_before} records of the file before it were accepted"
        evidence["position"] = f"{evidence['position']}; {before}"
    return {
        "title": rejection.title,
        "lines": [
            f"reason    {rejection.reason}",
            *(f"{name:<10}{evidence[name]}" for name in _EVIDENCE if name in evidence),
            f"meaning   {reason.meaning}",
            f"advice    {reason.advice}",
            f"more      strandline quarantine show {record['quarantine_id'][:12]} {where}",
        ],
    }


def query(text: str, result: Report) -> Section:
    """Show a query and its rows."""
    return {
        "title": "One query",
        "lines": text.splitlines(),
        "columns": result.members["columns"],
        "rows": result.members["rows"],
    }


def pruned(pruning: DemoPruning, report: Report, stored: Sequence[int], where: str) -> Section:
    """Show how many records of a namespace were stored before and after a collection, and what proved it.

    `report` is that of `gc`.
    """
    [done] = report.members["collections"]
    hashes = (done["before_hash"], done["after_hash"])
    return {
        "title": "Records that decide nothing any more are pruned",
        "lines": [
            f"strandline gc --namespace {pruning.namespace} --skip-window {pruning.skip_window} {where}",
            "Two full reductions, with and without them, gave the same rows; the second line is what stays.",
        ],
        "columns": ["namespace", "stored_records", "hash_of_reduced_rows"],
        "rows": [
            [pruning.namespace, count, hash_[:_SHOWN_ID]] for count, hash_ in zip(stored, hashes, strict=True)
        ],
    }


def next_commands(commands: Sequence[str]) -> Section:
    """List commands to try next."""
    return {"title": "Try next", "lines": list(commands)}


def _short(name: str, value: Any) -> Any:
    if name == "namespace":
        return f"{value[: _SHOWN_ID + 5]}…"
    return value[:_SHOWN_ID] if name == "state_hash" and value is not None else value
