"""What manifests say of files where nothing needs to be read: which are named, which are missing, how it is told."""

import json
import os
from pathlib import Path

import pytest

from strandline.core.errors import UsageError
from strandline.core.verdict import MAX_EVIDENCE_BYTES, encode_evidence
from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.pipelines.manifests import (
    ManifestFindings,
    _disagreement,
    _evidence,
    check_manifests,
    require_manifests,
)
from strandline.tables.findings import refused_links
from strandline.tables.manifests import load_manifests, write_manifest
from strandline.tables.sources import select

KEEP = RawLimits(4 << 20, 64 << 10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x\n")
    return tmp_path


def stated(folder: Path, *names: str) -> Path:
    return write_manifest(
        [folder / name for name in names], dialect="sdmp", records_in=SDMP.count_records, name="m"
    )


def loaded(*sources: Path):
    return load_manifests(select(map(str, sources), most=99), dialect="sdmp", keep=KEEP)


def checked(*sources: Path) -> ManifestFindings:
    """What is found where nothing was admitted: then there is no session to ask."""
    return check_manifests(*loaded(*sources), None, None, StreamLimits(2**36, 100))


def test_without_a_manifest_every_file_is_open_ended_and_spark_is_not_asked(folder: Path) -> None:
    assert checked(folder) == ManifestFindings((), {"complete": 0, "damaged": 0, "open_ended": 2}, 0)


def test_the_first_open_ended_file_is_named_where_manifests_are_required(folder: Path) -> None:
    stated(folder, "a")
    with pytest.raises(UsageError, match=str(folder / "b")) as caught:
        require_manifests(*loaded(folder))
    assert (caught.value.code, caught.value.exit_code) == ("MANIFEST_REQUIRED", 2)
    require_manifests(*loaded(folder / "a"))
    stated(folder, "a", "b")
    require_manifests(*loaded(folder))


def test_an_invalid_manifest_names_no_file(folder: Path) -> None:
    manifest = stated(folder, "a", "b")
    manifest.write_bytes(manifest.read_bytes()[:-3])
    with pytest.raises(UsageError, match=str(folder / "a")):
        require_manifests(*loaded(folder))
    found = checked(folder)
    assert (found.disagreements, found.counts["open_ended"]) == (1, 2)
    [row] = found.findings
    assert (row.scope, row.reasons, row.raw.raw) == ("manifest", ("MANIFEST_INVALID",), manifest.read_bytes())


def missing(*sources: Path) -> list[tuple[str, str]]:
    told = [json.loads(row.evidence)["MANIFEST_FILE_MISSING"] for row in checked(*sources).findings]
    return [(each["file"], each["actual"]) for found in told for each in (found, *found.get("more", ()))]


def test_a_file_that_is_gone_is_missing_from_a_folder_and_not_beside_a_file_that_was_given(
    folder: Path,
) -> None:
    manifest = stated(folder, "a", "b")
    assert missing(folder) == missing(folder / "a") == missing(folder / "a", manifest) == []
    os.remove(folder / "b")
    assert missing(folder) == [("b", "absent")]
    assert missing(folder / "a") == []
    assert missing(folder / "a", manifest) == missing(manifest) == [("b", "absent")]


def test_a_file_that_is_there_and_not_read_is_told_of_in_a_folder(folder: Path) -> None:
    (folder / "_c").write_bytes(b"")
    (folder.parent / "outside").write_bytes(b"")
    manifest = json.loads(stated(folder, "a", "_c", "b").read_text())
    (folder / "b").unlink()
    (folder / "b").symlink_to("../outside")
    (folder / "m.manifest.json").write_text(json.dumps(manifest))
    assert [name for name, _ in missing(folder)] == ["_c", "b"]
    [refused] = refused_links(loaded(folder)[0])
    assert (refused.scope, refused.reasons, refused.raw.raw) == (
        "record",
        ("PATH_REFUSED",),
        bytes(folder / "b"),
    )
    assert json.loads(refused.evidence)["PATH_REFUSED"]["actual"] == str(folder.parent / "outside")


def test_evidence_of_many_disagreements_has_room_in_a_row_and_tells_how_many() -> None:
    worst = [
        _disagreement("namespace", "\U0001f600" * 500, "heads", "f" * 80, "\U0001f600" * 500)
        for _ in range(900)
    ]
    told = _evidence(worst, {"files": 0, "namespaces": 900})
    both = {"MANIFEST_FILE_MISSING": told, "MANIFEST_MISMATCH": told}
    assert len(encode_evidence(both)) <= MAX_EVIDENCE_BYTES
    assert told["disagreeing"]["namespaces"] == 900
    assert "more" not in _evidence(worst[:1], {})
