"""A file and its manifest appear together, and belong together."""

import hashlib
import json

import pytest

from strandline.core.errors import UsageError
from strandline.tables import outfile
from strandline.tables.newfile import NewFile
from strandline.tables.outfile import publish_with_manifest


def published(path, raw, reach=lambda: None):
    with NewFile(path) as file:
        file.write(raw)
        return publish_with_manifest(file, reach, dialect="sdmp", records=1)


def stated(manifest):
    [file] = json.loads(manifest.read_text())["files"]
    return file["name"], file["sha256"]


def test_the_manifest_appears_before_its_file(tmp_path):
    def reach():
        assert stated(tmp_path / "out.manifest.json") == ("out", hashlib.sha256(b"one").hexdigest())
        assert not (tmp_path / "out").exists()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        published(tmp_path / "out", b"one", reach)
    assert [path.name for path in tmp_path.iterdir()] == ["out.manifest.json"]
    written, manifest = published(tmp_path / "out", b"two")
    assert stated(manifest) == ("out", written.sha256)
    assert (tmp_path / "out").read_bytes() == b"two"


def test_of_two_files_for_one_path_the_first_stays_with_its_manifest(tmp_path):
    with NewFile(tmp_path / "out") as file:
        published(tmp_path / "out", b"first")
        with pytest.raises(UsageError, match="exists") as refused:
            publish_with_manifest(file, lambda: None, dialect="sdmp", records=0)
    assert refused.value.code == "OUT_EXISTS"
    assert (tmp_path / "out").read_bytes() == b"first"
    assert stated(tmp_path / "out.manifest.json")[1] == hashlib.sha256(b"first").hexdigest()


def test_a_file_that_appears_after_the_manifest_stays_and_gets_no_wrong_manifest(tmp_path):
    with pytest.raises(UsageError) as refused:
        published(tmp_path / "out", b"late", lambda: (tmp_path / "out").write_bytes(b"other"))
    assert refused.value.code == "OUT_EXISTS"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_bytes() == b"other"


@pytest.mark.parametrize("winner", [b"first", b"second"])
def test_a_file_that_gets_the_path_after_our_manifest_keeps_its_own(tmp_path, winner):
    with pytest.raises(UsageError) as refused:
        published(tmp_path / "out", b"first", lambda: published(tmp_path / "out", winner))
    assert refused.value.code == "OUT_EXISTS"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.manifest.json"]
    assert (tmp_path / "out").read_bytes() == winner
    assert stated(tmp_path / "out.manifest.json") == ("out", hashlib.sha256(winner).hexdigest())


def test_a_file_whose_manifest_we_replaced_gets_it_back(tmp_path, monkeypatch):
    path, check = tmp_path / "out", outfile.check_new

    def check_slowly(file):
        check(file)
        monkeypatch.setattr(outfile, "check_new", check)
        published(file, b"first")

    monkeypatch.setattr(outfile, "check_new", check_slowly)
    seen = []
    with pytest.raises(UsageError):
        published(path, b"second", lambda: seen.append(stated(tmp_path / "out.manifest.json")[1]))
    assert seen == [hashlib.sha256(b"second").hexdigest()]
    assert path.read_bytes() == b"first"
    assert stated(tmp_path / "out.manifest.json") == ("out", hashlib.sha256(b"first").hexdigest())


def test_an_old_manifest_that_we_replaced_does_not_come_back_to_another_file(tmp_path):
    path = tmp_path / "out"
    published(path, b"old")
    path.unlink()
    with pytest.raises(UsageError):
        published(path, b"late", lambda: path.write_bytes(b"other"))
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
