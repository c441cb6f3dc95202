"""The whole tampering matrix and every vector in few Spark runs: each case is a namespace of one lake.

What the unit tests ask of the reference is asked here of tables, with the same expected rows.
"""

import hashlib
import json
from collections import Counter
from dataclasses import astuple, fields
from datetime import timedelta
from pathlib import Path

import pytest

from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from support import sdmp_cases
from support.agreement import assert_reduced_equal, expected_lines, stored_lines
from support.lakes import counted, plain, write_files
from support.mutations import tampered
from support.reference import Counts, ReferenceLake
from support.tampering import digest

NAMES = [field.name for field in fields(Counts)]
STORED = (
    "namespace", "status", "reasons", "raw", "waits_for", "quarantine_id", "evidence", "raw_bytes", "raw_whole",
    "raw_sha256", "record_id", "source", "source_offset",
)  # fmt: skip
LITERAL = ("J(0, 5) in 0.9", "J(0, 5) in 0.12", "a fork with branches of equal length")
"""Cases whose published state hash is of journals 0: they are not shifted."""
PUBLISHED = ("the published 0.12 journal", "the published 0.9 example, corrected")
"""Cases whose published state hash is that of the lake, whose journals have the lines of all cases."""

MUTATIONS, VECTORS = 10_000, 100
SIBLINGS = "siblings:J0.2:50000"
UNREADABLE = {
    "cut.gz": b"\x1f\x8b\x08\0\0\0\0\0\0\x03cut", "nested.gz": b"\x1f\x8b", "archive.zip": b"PK\x03\x04",
    "zeros": bytes(100_000), "brackets.jsonl": b"[" * 10_000,
}  # fmt: skip
"""Files from which nothing can be read; each leaves one row at least."""
WITHOUT_LINES = {"empty": b"", "mark": b"\xef\xbb\xbf"}
"""Files that have no line and leave no row."""


def vectors(strict: bool, siblings: int):
    """The cases of the vectors for one of the two lakes, each with the shift of its journals.

    The fork of two equal branches is of journal 0, as J(0, 5) is: it goes to the other lake, which reads it alike.
    """
    shifts = filter(is_altered, range(VECTORS, MUTATIONS, 2))
    for case in sdmp_cases.cases():
        shift = 0 if case["name"] in LITERAL else next(shifts)
        if (case.get("strict", False) or case["name"] == LITERAL[-1]) == strict:
            fewer = json.dumps(case).replace(SIBLINGS, f"siblings:J0.2:{siblings}")
            yield json.loads(fewer), shift


def is_altered(shift: int) -> bool:
    """The cases that alter a character make it `0`: in journals of this shift it is another."""
    third, fifth = sdmp_cases.line("J0.3", shift), sdmp_cases.line("J0.5", shift)
    return b"0" not in (third[:1], third[-1:], fifth[-1:])


def files_of(run: int, mutations, cases) -> dict[str, bytes]:
    files = {f"m{at:03}": case.data for at, case in enumerate(mutations) if run == 0}
    for at, (case, shift) in enumerate(cases):
        for name, recipe in (case["runs"][run] if run < len(case["runs"]) else {"files": {}})[
            "files"
        ].items():
            files[f"v{at:03}-{name}"] = sdmp_cases.file(recipe, shift)
    return files


def state_hash(namespace: str, lines: set[bytes]) -> str:
    """The state hash by its formula, from the lines alone."""
    by_hash = {digest(line): line for line in lines}

    def n(line: bytes) -> int:
        steps = 1
        while b"@" in line:
            line, steps = by_hash[line.partition(b"@")[0].decode()], steps + 1
        return steps

    followed = {line.partition(b"@")[0].decode() for line in lines}
    leaves = [(-n(line), hashlib.sha256(line).hexdigest()) for line in lines if digest(line) not in followed]
    told = "".join(f"{-below} {id_}\n" for below, id_ in sorted(leaves))
    text = f"strandline/sdmp/state/1\n{namespace}\n{len(lines)}\n{told}"
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("strict", "siblings"),
    [
        pytest.param(False, 500, id="weak"),
        pytest.param(True, 0, id="strict"),
        pytest.param(False, 50_000, id="weak, 50,000 siblings", marks=pytest.mark.slow),
    ],
)
def test_every_tampered_file_and_every_vector_leaves_its_lines_rows_and_state(
    new_lake, tmp_path, strict, siblings
):
    lake, reference = new_lake(strict=strict), ReferenceLake(strict)
    mutations = [case for case in tampered(MUTATIONS) if case.strict == strict]
    cases = list(vectors(strict, siblings))
    for run in range(max(len(case["runs"]) for case, _ in cases)):
        files = files_of(run, mutations, cases)
        counts = reference.ingest(files)
        # The clock goes back by a day from run to run: no row depends on it.
        clock = timedelta(days=-run)
        report = lake.ingest(write_files(tmp_path / f"run{run}", files), clock=clock)
        assert counted(report, NAMES) == dict(zip(NAMES, astuple(counts), strict=True))
        lake.reduce(clock=clock)
    assert_reduced_equal(lake, reference)
    assert stored_lines(lake) == expected_lines(reference)

    lines: dict[str, set[bytes]] = {}
    for case in mutations:
        lines.setdefault(case.node, set()).update(case.accepted)
    for case, shift in cases:
        for node, accepted in sdmp_cases.accepted(case, shift).items():
            lines.setdefault(node, set()).update(accepted)
    lines = {f"node:{node}": accepted for node, accepted in lines.items() if accepted}
    held: dict[str, set[bytes]] = {}
    for namespace, _, _, raw in stored_lines(lake):
        held.setdefault(namespace, set()).add(raw)
    assert held == lines

    if siblings:
        [members] = lake.store().read("equivocation").where("member_count > 2").collect()
        assert members["member_count"] == len(members["members"]) == siblings + 1
    states = {name: value.hex() for name, value in lake.rows("namespace_state", "namespace", "state_hash")}
    assert states == {name: state_hash(name, accepted) for name, accepted in lines.items()}
    forks = dict(lake.rows("node_journal", "namespace", "fork_count"))
    for case, shift in cases:
        for label, count in case.get("forks", {}).items():
            assert forks[f"node:{sdmp_cases.line(label, shift).decode()}"] == count, case["name"]
        for label, value in case.get("state_hash", {}).items():
            if case["name"] in LITERAL or case["name"] in PUBLISHED:
                assert states[f"node:{sdmp_cases.line(label).decode()}"] == value, case["name"]
    assert_rows(lake, mutations, cases)
    if not strict:
        assert_clean_journals_land(lake, tmp_path / "clean")


def assert_clean_journals_land(lake, folder: Path) -> None:
    """After all hostile input, and beside unreadable files, every journal that was altered lands whole."""
    count = sum(1 for _ in tampered(MUTATIONS))
    clean = {
        f"{number}-{profile}": render(synthetic(number, 5, profile))
        for number in range(MUTATIONS, MUTATIONS + 2 * count)
        for profile in ("0.9", "0.12")
    }
    report = lake.ingest(write_files(folder, clean | UNREADABLE | WITHOUT_LINES))
    rows = lake.rows("quarantine", "source", "last_run")
    assert {Path(source).name for source, run in rows if run == report.run_id} == set(UNREADABLE)
    stored = {raw for *_, raw in stored_lines(lake)}
    assert stored >= {line for text in clean.values() for line in text.split(b"\n") if line}


def assert_rows(lake, mutations, cases) -> None:
    """Every row of quarantine is one that a case states: verdict, bytes, place and evidence; and none is missing."""
    stored = [
        dict(zip(STORED, plain(tuple(row)), strict=True))
        for row in lake.store().read("quarantine").select(*STORED).collect()
    ]
    by_key = {tuple(row[name] for name in STORED[:5]): row for row in stored}
    assert len(by_key) == len(stored)
    expected = Counter(row.key for case, shift in cases for row in sdmp_cases.rows(case, shift))
    by_place = {}
    for at, case in enumerate(mutations):
        for row in case.rows:
            key = (row.namespace, row.status, row.reasons, row.kept, row.waits_for)
            by_place.setdefault(key, []).append((f"m{at:03}", row))
    assert set(by_key) == {*expected, *by_place}
    assert not set(expected) & set(by_place)

    for case, shift in cases:
        for row in sdmp_cases.rows(case, shift):
            found = json.loads(by_key[row.key]["evidence"])[row.reasons[0]]
            assert row.evidence.items() <= found.items(), case["name"]
    for key, places in by_place.items():
        found, (file, row) = by_key[key], places[0]
        assert found["quarantine_id"] == row.id(kept=True)
        assert found["evidence"] == min(each.evidence_text for _, each in places)
        assert (Path(found["source"]).name, found["source_offset"]) == (file, row.offset)
        whole = (found["raw_bytes"], found["raw_whole"], found["raw_sha256"])
        assert whole == (len(row.raw), row.raw == row.kept, hashlib.sha256(row.raw).digest())
        has_form = (
            not {"MALFORMED_LINE", "FIRST_LINE_MISPLACED", "NOT_OWN_NODE"} & set(row.reasons)
            and row.namespace is not None
        )
        assert found["record_id"] == (hashlib.sha256(row.raw).digest() if has_form else None)
