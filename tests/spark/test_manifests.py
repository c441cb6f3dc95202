"""Manifests and links of one delivery, judged in one run: what is whole, what is cut, what was never there."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from strandline.core.errors import UsageError
from strandline.core.hashing import set_hash
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import record_id, render
from strandline.dialects.sdmp.spark import chunks
from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.pipelines import manifests
from strandline.tables import file_scan
from strandline.tables.new_manifests import write_manifest
from support.lakes import write_files

J = [list(synthetic(i, 6)) for i in range(10)]
FORK = next(append(J[0][2], [(synthetic_id("author", 0), synthetic_id("resource", 99))]))


def stated(name: str, data: bytes, **changed) -> dict:
    told = {
        "name": name,
        "records": SDMP.count_records(data, None),
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    return {**told, **changed}


def place(lines: list[bytes], heads: list[bytes], **changed) -> dict:
    ids = {record_id(line) for line in lines}
    told = {"namespace": f"node:{lines[0].decode()}", "records": len(ids), "set_hash": set_hash(ids).hex()}
    return {**told, "heads": sorted(record_id(line).hex() for line in heads), **changed}


def manifest(files: list[dict], *namespaces: dict, **changed) -> bytes:
    told = {"strandline_manifest": 1, "dialect": "sdmp", "files": files, **changed}
    return json.dumps({**told, "namespaces": list(namespaces)} if namespaces else told).encode()


def delivery(root: Path) -> Path:
    text = [render(lines) for lines in J]
    forked = render([*J[0][:3], FORK])
    twice = render([*J[8], J[8][5]])
    packed = gzip.compress(text[5] + b"\n")
    files = {
        "whole/a.journal": text[0],
        "whole/b.journal.gz": gzip.compress(forked),
        "whole/x.manifest.json": manifest(
            [stated("a.journal", text[0]), stated("b.journal.gz", forked)],
            place([*J[0], FORK], [J[0][5], FORK]),
        ),
        "cut/a.journal": render(J[1][:5]),
        "cut/b.journal": text[2],
        "cut/x.manifest.json": manifest(
            [stated("a.journal", text[1]), stated("b.journal", text[2])],
            place(J[1], [J[1][5]]),
            place(J[2], [J[2][5]]),
        ),
        "missing/a.journal": text[3],
        "missing/_hidden.journal": text[3],
        "missing/x.manifest.json": manifest(
            [stated(n, text[3]) for n in ("a.journal", "gone.journal", "_hidden.journal")]
        ),
        "invalid/a.journal": text[4],
        "invalid/x.manifest.json": manifest([stated("a.journal", text[4])])[:-1],
        "tail/a.journal.gz": packed + b"tail",
        "tail/x.manifest.json": manifest([stated("a.journal.gz", text[5] + b"\n")]),
        "places/a.journal": text[6] + b"\n",
        "places/x.manifest.json": manifest(
            [stated("a.journal", text[6] + b"\n")],
            place(J[6], [J[6][4]], records=7, set_hash="00" * 32),
            place(J[7], [J[7][5]]),
        ),
        "repeated/a.journal": twice,
        "repeated/x.manifest.json": manifest([stated("a.journal", twice)], place(J[8], [J[8][5]])),
        "crowd/a.journal": text[9],
        **{
            f"crowd/{name}.manifest.json": manifest([stated("a.journal", text[9])], place(J[9], [J[9][5]]))
            for name in "xyz"
        },
        "open/a.journal": text[7],
        "open/empty": b"",
        "open/a.manifest.json": b"{}",
    }
    write_files(root, files)
    (root / "open" / "leak").symlink_to("/etc")
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return delivery(tmp_path / "in")


def found(lake) -> dict[str, tuple[tuple[str, ...], dict]]:
    """Reasons and evidence of the rows about files, by the folder of their source."""
    rows = (
        lake.store()
        .read("quarantine")
        .where("scope = 'manifest' OR array_contains(reasons, 'PATH_REFUSED')")
        .collect()
    )
    return {
        Path(row["source"]).parent.name: (tuple(row["reasons"]), json.loads(row["evidence"])) for row in rows
    }


def told(evidence: dict) -> set[tuple]:
    """All disagreements of one reason: (file or namespace, field, expected, actual)."""
    return {
        (each.get("file", each.get("namespace")), each["field"], each["expected"], each["actual"])
        for each in (evidence, *evidence.get("more", ()))
    }


@pytest.mark.parametrize("is_large", [False, True])
def test_each_file_is_complete_damaged_or_open_ended_and_every_disagreement_told(
    new_lake, folder: Path, monkeypatch, is_large: bool
) -> None:
    if is_large:
        monkeypatch.setattr(file_scan, "SMALL_BYTES", -1)
        monkeypatch.setattr(chunks, "CHUNK_LINES", 2)
    monkeypatch.setattr(manifests, "MOST_STATING", 2)
    lake = new_lake()
    report = lake.ingest(folder)
    assert (report.exit, report.outcome) == (1, "found")
    assert {name: report.counts[name] for name in ("complete", "damaged", "open_ended")} == {
        "complete": 5, "damaged": 4, "open_ended": 4,
    }  # fmt: skip
    assert report.counts["read"] == sum(
        report.counts[name] for name in ("new", "known", "rejected", "deferred")
    )
    rows = found(lake)
    assert set(rows) == {"cut", "missing", "invalid", "tail", "places", "crowd", "open"}

    reasons, evidence = rows["cut"]
    ids = [record_id(line).hex() for line in J[1]]
    names = [f"node:{lines[0].decode()}" for lines in J]
    assert reasons == ("MANIFEST_MISMATCH",)
    assert told(evidence["MANIFEST_MISMATCH"]) == {
        ("a.journal", "bytes", str(len(render(J[1]))), str(len(render(J[1][:5])))),
        ("a.journal", "records", "6", "5"),
        (
            "a.journal",
            "sha256",
            hashlib.sha256(render(J[1])).hexdigest(),
            hashlib.sha256(render(J[1][:5])).hexdigest(),
        ),
        (names[1], "records", "6", "5"),
        (
            names[1],
            "set_hash",
            set_hash(map(record_id, J[1])).hex(),
            set_hash(map(record_id, J[1][:5])).hex(),
        ),
        (names[1], "heads", ids[5], ids[4]),
    }
    assert evidence["MANIFEST_MISMATCH"]["disagreeing"] == {"files": 1, "namespaces": 1}

    reasons, evidence = rows["missing"]
    assert reasons == ("MANIFEST_FILE_MISSING",)
    assert {
        (name, actual.partition(":")[0]) for name, _, _, actual in told(evidence["MANIFEST_FILE_MISSING"])
    } == {
        ("gone.journal", "absent"),
        ("_hidden.journal", "not read"),
    }
    assert rows["invalid"] == (("MANIFEST_INVALID",), {"MANIFEST_INVALID": {"cause": "syntax"}})
    assert told(rows["tail"][1]["MANIFEST_MISMATCH"]) == {
        ("a.journal.gz", "content", "whole", "CONTAINER_DAMAGED"),
        ("a.journal.gz", "records", "6", "7"),
    }
    of_places = told(rows["places"][1]["MANIFEST_MISMATCH"])
    assert {(name, field) for name, field, _, _ in of_places} == {
        (names[at], field) for at in (6, 7) for field in ("records", "set_hash", "heads")
    }
    assert (names[7], "heads", record_id(J[7][5]).hex(), "none") in of_places
    # Two manifests agree; the third costs no pass over the records.
    expected = "at most 2 manifests that state namespaces of the file"
    assert rows["crowd"] == (
        ("MANIFEST_MISMATCH",),
        {
            "MANIFEST_MISMATCH": {
                "file": "a.journal", "field": "namespaces", "expected": expected, "actual": "not compared",
                "disagreeing": {"namespaces": 1},
            }
        },
    )  # fmt: skip
    assert rows["open"][0] == ("PATH_REFUSED",)
    [refused] = lake.store().read("quarantine").where("array_contains(reasons, 'PATH_REFUSED')").collect()
    assert (bytes(refused["raw"]), refused["namespace"]) == (bytes(folder / "open" / "leak"), None)

    again = lake.ingest(folder)
    assert found(lake) == rows
    assert again.counts["new"] == 0
    lake.ingest(from_quarantine=True, reason="PATH_REFUSED")
    assert found(lake) == rows


def test_open_ended_input_can_be_refused_before_anything_is_read(new_lake, folder: Path) -> None:
    lake = new_lake()
    before = lake.rows("run")
    with pytest.raises(UsageError, match=r"cut|invalid|open") as caught:
        lake.ingest(folder, require_manifest=True)
    assert caught.value.code == "MANIFEST_REQUIRED"
    assert lake.rows("run") == before
    write_manifest([folder / "open" / "a.journal"], dialect="sdmp", records_in=SDMP.count_records)
    report = lake.ingest(folder / "open" / "a.journal", folder / "whole", require_manifest=True)
    assert (report.exit, report.counts["complete"], report.counts["open_ended"]) == (0, 3, 0)
    one = lake.ingest(folder / "missing" / "a.journal", require_manifest=True)
    assert (one.exit, one.counts["complete"]) == (0, 1)
