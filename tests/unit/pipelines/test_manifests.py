"""What manifests say of files where nothing needs to be read: which are named, which are missing, how it is told."""

import json
import os
from pathlib import Path

import pytest

from strandline.config import defaults
from strandline.core.errors import UsageError
from strandline.core.verdict import MAX_EVIDENCE_BYTES, encode_evidence
from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.kernels import manifests as of_bytes
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.manifests import Invalid, StatedFile, StatedNamespace
from strandline.pipelines.ingest_input import find_input
from strandline.pipelines.manifests import (
    MOST_STATING,
    ManifestFindings,
    _Checked,
    _disagreement,
    _evidence,
    _not_compared,
    check_manifests,
    require_manifests,
)
from strandline.pipelines.micro_batches import MicroBatchOptions, MicroBatchRun
from strandline.tables import manifests as read_manifests
from strandline.tables.beside import KnownManifests
from strandline.tables.findings import refused_links
from strandline.tables.manifests import load_manifests
from strandline.tables.new_manifests import write_manifest
from strandline.tables.sources import select
from strandline.tables.stream import MicroBatch

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


def test_of_one_file_a_bounded_number_of_manifests_has_its_namespaces_compared(folder: Path) -> None:
    def crowd(count: int, *others: str) -> list[_Checked]:
        made = [_Checked(None, {0: told}, (space,)) for _ in range(count)]
        return [*made, *(_Checked(None, dict.fromkeys(map(int, other), told), (space,)) for other in others)]

    told, space = StatedFile("a", 1, 1, "00"), StatedNamespace("node:x", 1, "00", ())
    assert _not_compared(crowd(MOST_STATING)) == set()
    # One that states none, or names another file, is none of them; a file that was passed over counts for nothing.
    given = [_Checked(None, {0: told}), *crowd(MOST_STATING, "1", "10", "2", "1")]
    assert _not_compared(given) == {0, 1}
    assert [each.namespaces for each in given].count(None) == 2
    assert [len(each.mismatches) for each in given[-4:]] == [0, 1, 0, 0]


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


class Stream:
    """The batches of a stream of a folder: what each reads of manifests, and which it finds wrong."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.start()
        self.opened: list[str] = []
        opened, really = self.opened, read_manifests.open_input

        def counting(path: bytes):
            opened.append(os.path.basename(os.fsdecode(path)).removesuffix(".manifest.json"))
            return really(path)

        monkeypatch.setattr(read_manifests, "open_input", counting)

    def start(self) -> None:
        asked = MicroBatchOptions(os.fsencode(self.folder))
        self.batches = MicroBatchRun(None, SDMP, asked, defaults(), None, None)

    def batch(self, name: str) -> tuple[list[str], list[str], dict[str, int]]:
        self.opened.clear()
        request, _ = self.batches._files(MicroBatch(0, None, (os.fsencode(self.folder / name),)))
        found = find_input(SDMP, request, defaults())
        told = check_manifests(found.selection, found.manifests, None, None, StreamLimits(2**36, 100))
        wrong = [os.path.basename(each.source).removesuffix(".manifest.json") for each in told.findings]
        return sorted(self.opened), wrong, dict(told.counts)


def test_a_batch_reads_manifests_of_its_files_and_what_is_new_and_no_wrong_one_is_told_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Stream(tmp_path, monkeypatch)

    def land(*names: str) -> None:
        for name in names:
            (tmp_path / name).write_bytes(b"x\n")
            write_manifest([tmp_path / name], dialect="sdmp", records_in=SDMP.count_records)

    land("old", "a", "b", "c", "d")
    stated(tmp_path, "b", "d")
    (tmp_path / "cut.manifest.json").write_text('{"strandline_manifest": 1, "dialect": "sdmp"')
    (tmp_path / "c.manifest.json").write_text('{"strandline_manifest": 1, "dialect": "sdmp"')
    (tmp_path / "none.manifest.json").write_text("{}")
    # `other` is of another dialect, and `later` comes after its manifest.
    write_manifest([tmp_path / "d"], dialect="aura", records_in=SDMP.count_records, name="other")
    land("later")
    (tmp_path / "later").unlink()
    complete = {"complete": 1, "damaged": 0, "open_ended": 0}
    assert stream.batch("a") == (["a", "cut", "later", "m", "none", "other"], ["cut"], complete)
    assert stream.batch("b") == (["b", "m"], [], complete)
    assert stream.batch("c") == (["c"], ["c"], {"complete": 0, "damaged": 0, "open_ended": 1})
    assert stream.batch("d") == (["d", "m", "other"], ["other"], complete)
    (tmp_path / "later").write_bytes(b"x\n")
    assert stream.batch("later") == (["later"], [], complete)
    # One that is written again is read again, but not that of an earlier file.
    (tmp_path / "cut.manifest.json").write_text('{"strandline_manifest": 1, "dialect": 7')
    (tmp_path / "a.manifest.json").write_text('{"strandline_manifest": 1, "dialect": 7')
    assert stream.batch("b") == (["b", "cut", "m"], ["cut"], complete)
    # If the file is gone, its manifest is another one.
    (tmp_path / "a").unlink()
    assert [stream.batch("b")[:2] for _ in range(2)] == [(["a", "b", "m"], ["a"]), (["b", "m"], [])]
    assert {os.path.basename(path)[:-14] for path in stream.batches._manifests._named} == {
        b"a", b"cut", b"m", b"none", b"other",
    }  # fmt: skip
    write_manifest([tmp_path / "c", tmp_path / "d"], dialect="sdmp", records_in=SDMP.count_records, name="c")
    assert [stream.batch(name)[0] for name in "cd"] == [["c"], ["c", "d", "m", "other"]]
    # A new start of the stream reads what has no file of its own once more.
    stream.start()
    assert stream.batch("b") == (["a", "b", "cut", "m", "none", "other"], ["a", "cut"], complete)


def test_manifests_of_earlier_files_are_not_counted_against_the_limit_of_a_batch(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}").write_bytes(b"x\n")
        stated(tmp_path, f"{number}").rename(tmp_path / f"{number}.manifest.json")
    asked = {"most": 3, "within": os.fsencode(tmp_path), "known": KnownManifests()}
    for number in range(9):
        assert len(select([str(tmp_path / f"{number}")], **asked).manifests) == 1
    with pytest.raises(UsageError) as caught:
        select([str(tmp_path / "0")], most=3)
    assert caught.value.code == "TOO_MANY_FILES"


def test_a_stream_keeps_nothing_of_manifests_that_are_gone(tmp_path: Path) -> None:
    folder, link, known = tmp_path / "in", tmp_path / "link", KnownManifests()
    (folder / "sub").mkdir(parents=True)
    link.symlink_to(folder)

    def batch(number: int) -> int:
        files = [folder / f"{number}.{part}" for part in "ab"]
        for file in files:
            file.write_bytes(b"x\n")
        manifest = stated(folder, *(file.name for file in files)).rename(folder / f"{number}.manifest.json")
        sources = [str(link / file.name) for file in files]
        selection = select(sources, most=3, within=os.fsencode(link), known=known)
        load_manifests(selection, dialect="sdmp", keep=KEEP, known=known)
        # As a program that removes what was read.
        for file in (*files, manifest):
            file.unlink()
        return len(known._named)

    (folder / "sub" / "c").write_bytes(b"x\n")
    stated(folder / "sub", "c").rename(folder / "sub" / "other.manifest.json")
    in_sub = select([str(link / "sub" / "c")], most=3, within=os.fsencode(link), known=known)
    load_manifests(in_sub, dialect="sdmp", keep=KEEP, known=known)
    # The one of a folder that no batch lists stays.
    assert [batch(number) for number in range(20)] == [2] * 20


def test_of_a_large_file_with_the_name_of_a_manifest_no_more_is_read_than_a_manifest_may_have(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_manifests, "MAX_MANIFEST_BYTES", 100)
    monkeypatch.setattr(of_bytes, "MAX_MANIFEST_BYTES", 100)
    read = 0

    class Counted:
        def __init__(self, path: bytes) -> None:
            self.stream = really(path)

        def read(self, most: int) -> bytes:
            nonlocal read
            block = self.stream.read(most)
            read += len(block)
            return block

        def seek(self, offset: int, whence: int) -> int:
            return self.stream.seek(offset, whence)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.stream.close()

    really = read_manifests.open_input
    monkeypatch.setattr(read_manifests, "open_input", Counted)
    large = folder / "m.manifest.json"
    with open(large, "wb") as file:
        file.truncate(1 << 20)
    assert loaded(folder / "a")[1] == ()
    assert read == 101
    # Tasks read it as input; of a manifest that is too large the length is told.
    selection, manifests = loaded(folder)
    assert (manifests, [file.size for file in selection.files]) == ((), [2, 2, 1 << 20])
    content = b'{"strandline_manifest"' + b" " * (1 << 20)
    large.write_bytes(content)
    _, [manifest] = loaded(folder / "a")
    assert manifest.content == Invalid({"cause": "too_large", "expected": 100, "actual": len(content)})
    assert (manifest.raw.length, read) == (101, 3 * 101)
