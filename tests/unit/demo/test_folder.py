"""The demo's folder is made anew, and never one that somebody else made."""

import json
from pathlib import Path

import pytest

from strandline.core.errors import UsageError
from strandline.dialects import every
from strandline.pipelines.demo.folder import DEMO_FOLDER, MARKER, recreate, write_files


def test_a_new_folder_holds_the_marker_and_an_empty_folder_for_the_input(tmp_path: Path) -> None:
    folder = recreate(tmp_path / "demo-lake")
    assert list(folder.iterdir()) == []
    assert (tmp_path / "demo-lake" / DEMO_FOLDER / MARKER).is_file()
    assert [each.name for each in tmp_path.iterdir()] == ["demo-lake"]


def test_what_an_earlier_demo_left_is_removed(tmp_path: Path) -> None:
    lake = tmp_path / "demo-lake"
    (recreate(lake) / "old.journal").write_bytes(b"x")
    (lake / "run" / "_delta_log").mkdir(parents=True)
    (lake / "stray").write_bytes(b"x")
    folder = recreate(lake)
    assert list(folder.iterdir()) == []
    assert [each.name for each in lake.iterdir()] == [DEMO_FOLDER]


def test_a_demo_that_was_killed_while_it_cleaned_can_be_run_again(tmp_path: Path) -> None:
    lake = tmp_path / "demo-lake"
    recreate(lake).rmdir()
    assert recreate(lake).is_dir()


@pytest.mark.parametrize("content", [None, "README.md", f"{DEMO_FOLDER}/notes"])
def test_a_folder_that_demo_did_not_make_is_refused_and_stays_as_it_is(
    tmp_path: Path, content: str | None
) -> None:
    lake = tmp_path / "demo-lake"
    lake.mkdir()
    if content is not None:
        (lake / content).parent.mkdir(exist_ok=True)
        (lake / content).write_text("mine")
    with pytest.raises(UsageError) as refused:
        recreate(lake)
    assert refused.value.code == "DEMO_FOLDER_FOREIGN"
    assert content is None or (lake / content).read_text() == "mine"


def test_a_link_and_a_file_of_that_name_are_refused(tmp_path: Path) -> None:
    recreate(tmp_path / "elsewhere")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "file").write_text("mine")
    for name in ("link", "file"):
        with pytest.raises(UsageError):
            recreate(tmp_path / name)


def test_a_link_inside_is_removed_and_not_followed(tmp_path: Path) -> None:
    lake = tmp_path / "demo-lake"
    recreate(lake)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept").write_text("mine")
    (lake / "link").symlink_to(tmp_path / "mine")
    recreate(lake)
    assert (tmp_path / "mine" / "kept").read_text() == "mine"
    assert not (lake / "link").exists()


def test_the_files_of_a_dialect_lie_in_a_folder_of_their_own_beside_a_manifest_that_states_them(
    tmp_path: Path,
) -> None:
    for dialect in every():
        demo = dialect.demo()
        written = write_files(tmp_path, dialect)
        assert written[0] == tmp_path / dialect.info.name
        of_folders = [demo.files] + ([] if demo.pruning is None else [(demo.pruning.file,)])
        for folder, files in zip(written, of_folders, strict=True):
            [manifest] = folder.glob("*.manifest.json")
            stated = {
                each["name"]: (each["records"], each["bytes"])
                for each in json.loads(manifest.read_text())["files"]
            }
            assert stated == {file.name: (file.records, len(file.content)) for file in files}
            assert {file.name: (folder / file.name).read_bytes() for file in files} == {
                file.name: file.content for file in files
            }
