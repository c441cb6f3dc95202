"""Manifests as files: which are read, which are input after all, and what is written."""

import gzip
import hashlib
import json
import os
from pathlib import Path

import pytest

from strandline.core.errors import FaultError, UsageError
from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.codec import announce, batch, render
from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.kernels.lines import RawLimits
from strandline.kernels.manifests import Invalid, Statement
from strandline.tables import manifests
from strandline.tables.manifests import load_manifests
from strandline.tables.new_manifests import check_manifest_free, write_manifest
from strandline.tables.sources import select

KEEP = RawLimits(4 << 20, 64 << 10)
LINES = list(synthetic(0, 5))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.journal").write_bytes(render(LINES))
    (tmp_path / "b.journal.gz").write_bytes(gzip.compress(render(LINES[:3])))
    return tmp_path


def loaded(*sources: Path, dialect: str = "sdmp"):
    return load_manifests(select(map(str, sources), most=99), dialect=dialect, keep=KEEP)


def written(folder: Path, *names: str, **more) -> Path:
    return write_manifest(
        [folder / name for name in names], dialect="sdmp", records_in=SDMP.count_records, **more
    )


def test_a_written_manifest_states_the_decompressed_content(folder: Path) -> None:
    path = written(folder, "b.journal.gz", "a.journal")
    assert path == folder / f"{folder.name}.manifest.json"
    content = render(LINES[:3])
    selection, [manifest] = loaded(folder)
    assert [file.path for file in selection.files] == [
        bytes(folder / "a.journal"),
        bytes(folder / "b.journal.gz"),
    ]
    assert isinstance(manifest.content, Statement)
    of_b = manifest.content.files[1]
    assert (of_b.name, of_b.records, of_b.bytes) == ("b.journal.gz", 3, len(content))
    assert of_b.sha256 == hashlib.sha256(content).hexdigest()
    assert (manifest.raw.raw, manifest.folder) == (path.read_bytes(), os.fsencode(folder.resolve()))
    assert manifest.source == str(path)


def test_a_manifest_of_one_file_has_its_name_and_leaves_nothing_else_behind(folder: Path) -> None:
    assert written(folder, "a.journal").name == "a.journal.manifest.json"
    assert written(folder, "a.journal", name="x").name == "x.manifest.json"
    assert written(folder, "a.journal", name="x").name == "x.manifest.json"
    assert len(os.listdir(folder)) == 4


def test_files_that_no_manifest_can_tell_are_refused(folder: Path) -> None:
    (folder / "cut.gz").write_bytes(gzip.compress(b"x")[:-1])
    (folder / "sub").mkdir()
    (folder / "sub" / "c").write_bytes(b"")
    unnamed = folder / os.fsdecode(b"\xff")
    unnamed.write_bytes(b"")
    for names in ([], ["cut.gz"], ["a.journal", "sub/c"], [unnamed.name]):
        with pytest.raises(UsageError, match="No manifest was written"):
            written(folder, *names)
    assert not list(folder.glob("*.manifest.json"))


def test_records_are_what_a_file_adds_to_read() -> None:
    node = synthetic_id("node", 0)
    frames = b"\n".join([batch(node, node, LINES), announce(node, [(node, node)] * 2), b"", b"{", b'{"a":1}'])
    assert SDMP.count_records(render(LINES), None) == 5
    assert SDMP.count_records(frames, None) == 5 + 2 + 2
    assert (SDMP.count_records(b"", None), SDMP.count_records(b"no journal\n\n", None)) == (0, 1)


def test_a_file_that_only_has_the_name_of_a_manifest_is_input(folder: Path) -> None:
    (folder / "c.manifest.json").write_bytes(batch(synthetic_id("node", 0), synthetic_id("node", 0), LINES))
    (folder / "0.manifest.json").write_bytes(b"")
    selection, manifests = loaded(folder)
    assert manifests == ()
    names = [os.path.basename(file.path) for file in selection.files]
    assert names == [b"0.manifest.json", b"a.journal", b"b.journal.gz", b"c.manifest.json"]
    assert [file.file_no for file in selection.files] == [0, 1, 2, 3]


def test_such_a_file_is_no_input_where_it_merely_lies_beside_one(folder: Path) -> None:
    (folder / "c.manifest.json").write_bytes(b"{}")
    selection, manifests = loaded(folder / "a.journal")
    assert (len(selection.files), manifests) == (1, ())
    selection, manifests = loaded(folder / "c.manifest.json")
    assert (len(selection.files), manifests) == (1, ())


def test_an_invalid_manifest_is_kept_with_its_bytes(folder: Path) -> None:
    raw = written(folder, "a.journal").read_bytes()[:-3]
    (folder / "a.journal.manifest.json").write_bytes(raw)
    _, [manifest] = loaded(folder)
    assert manifest.content == Invalid({"cause": "syntax"})
    assert manifest.raw.raw == raw


def test_a_manifest_of_another_dialect_is_invalid(folder: Path) -> None:
    written(folder, "a.journal")
    _, [manifest] = loaded(folder, dialect="devicelog")
    assert isinstance(manifest.content, Invalid)
    assert manifest.content.evidence == {"field": "dialect", "expected": "devicelog", "actual": "sdmp"}


def test_a_manifest_of_another_dialect_that_lies_beside_is_left_alone_unless_it_names_a_file_given(
    folder: Path,
) -> None:
    written(folder, "b.journal.gz")
    assert loaded(folder / "a.journal", dialect="devicelog")[1] == ()
    assert len(loaded(folder / "b.journal.gz", dialect="devicelog")[1]) == 1
    assert len(loaded(folder / "a.journal", dialect="sdmp")[1]) == 1
    [beside] = folder.glob("*.manifest.json")
    assert len(loaded(beside, dialect="devicelog")[1]) == 1
    for broken in ('"dialect": 7', '"dialect": "x", "files": 1', '"dialect": "x", "files": [{"name": ".."}]'):
        beside.write_text(f'{{"strandline_manifest": 1, {broken}}}')
        assert len(loaded(folder / "a.journal", dialect="devicelog")[1]) == 1


@pytest.mark.large
def test_of_a_manifest_beyond_16_mib_the_head_is_kept_and_its_length_told(folder: Path) -> None:
    content = {"strandline_manifest": 1, "dialect": "sdmp", "files": [], "x": "x" * (16 << 20)}
    (folder / "x.manifest.json").write_text(json.dumps(content))
    _, [manifest] = loaded(folder)
    assert isinstance(manifest.content, Invalid)
    assert manifest.content.evidence["cause"] == "too_large"
    assert (len(manifest.raw.raw), manifest.raw.whole) == (64 << 10, False)


@pytest.mark.large
@pytest.mark.parametrize("begin", [b'{"strandline_manifest": 1', b"{}"], ids=["a manifest", "input"])
def test_of_a_sparse_file_that_has_no_end_as_much_is_read_as_a_manifest_may_have(
    folder: Path, begin: bytes
) -> None:
    with (folder / "x.manifest.json").open("wb") as sparse:
        sparse.write(begin)
        sparse.truncate(8 << 40)
    selection, manifests = loaded(folder)
    if manifests:
        assert manifests[0].content == Invalid(
            {"cause": "too_large", "expected": 16 << 20, "actual": 8 << 40}
        )
        assert (len(manifests[0].raw.raw), manifests[0].raw.whole) == (64 << 10, False)
    else:
        assert [file.size for file in selection.files if file.path.endswith(b"json")] == [8 << 40]


def test_all_manifests_of_a_run_have_a_limit_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their statements are in the driver until the run ends, and a stranger's folder can have a million of them."""
    stated = sum(written(folder, name).stat().st_size for name in ("a.journal", "b.journal.gz"))
    invalid = (folder / "c.manifest.json").write_bytes(b'{"strandline_manifest":1}' + b" " * 100_000)
    # It only has the name of a manifest, and is input: the driver does not keep it.
    (folder / "d.manifest.json").write_bytes(b"{}" + b" " * 100_000)

    def found(keep: RawLimits) -> int:
        selection = select([str(folder)], most=99)
        return len(load_manifests(selection, dialect="sdmp", keep=keep)[1])

    monkeypatch.setattr(manifests, "MAX_MANIFESTS_BYTES", stated + invalid)
    assert found(KEEP) == 3
    monkeypatch.setattr(manifests, "MAX_MANIFESTS_BYTES", stated + invalid - 1)
    with pytest.raises(UsageError, match="0 MiB together") as caught:
        found(KEEP)
    assert (caught.value.code, caught.value.exit_code) == ("TOO_MANY_FILES", 2)
    # Of an invalid one no more counts than is kept of it.
    assert found(RawLimits(1_024, 1_024)) == 3


def test_a_manifest_that_cannot_be_opened_is_a_fault_that_names_it(folder: Path) -> None:
    selection = select([str(folder)], most=9)
    written(folder, "a.journal")
    selection = select([str(folder)], most=9)
    (folder / "a.journal.manifest.json").unlink()
    with pytest.raises(FaultError, match=r"a\.journal\.manifest\.json"):
        load_manifests(selection, dialect="sdmp", keep=KEEP)


def test_only_a_manifest_that_a_killed_run_left_makes_room_for_that_of_a_new_file(folder: Path) -> None:
    out = folder / "out.car"
    check_manifest_free(out)
    place = folder / "out.car.manifest.json"
    written(folder, "a.journal").rename(place)
    for left in (
        place.read_text(),
        None,
        "",
        "{}",
        "mine",
        written(folder, "a.journal", "b.journal.gz").read_text(),
    ):
        place.unlink()
        place.mkdir() if left is None else place.write_text(left)
        with pytest.raises(UsageError) as refused:
            check_manifest_free(out)
        assert (refused.value.code, str(place) in refused.value.message) == ("OUT_EXISTS", True)
        if left is None:
            place.rmdir()
            place.touch()
    place.unlink()
    place.symlink_to(folder / "nowhere")
    with pytest.raises(UsageError, match=r"out\.car\.manifest\.json exists"):
        check_manifest_free(out)
    place.unlink()
    for dialect in ("sdmp", "of another package"):
        out.write_bytes(b"")
        write_manifest([out], dialect=dialect, records_in=SDMP.count_records)
        out.unlink()
        check_manifest_free(out)
