"""A file and its manifest appear together, and belong together."""

import hashlib
import json

import pytest

from strandline.core.errors import UsageError
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
