"""Which files a run reads, whatever the folders hold."""

import os
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from strandline.core.errors import UsageError
from strandline.tables import sources
from strandline.tables.beside import KnownManifests
from strandline.tables.sources import Selection, select, tasks_for
from support.effort import peak_bytes
from support.selections import read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files, hidden names, a folder below, and another folder beside it."""
    root = tmp_path / "in"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "_hidden").mkdir()
    (root / ".git").mkdir()
    (tmp_path / "out").mkdir()
    for name in (
        "b",
        "a",
        "sub/c",
        "sub/deep/d",
        "_x",
        ".y",
        "_hidden/e",
        ".git/f",
        "sub/_z",
        "sub/_a=b",
        "sub/_metadata.journal",
        "sub/half._COPYING_",
        "../out/secret",
    ):
        (root / name).write_text(name)
    return root


def chosen(*sources: Path | str, most: int = 1000) -> Selection:
    return select([str(source) for source in sources], most=most)


def names(selection: Selection, root: Path) -> list[str]:
    return [os.path.relpath(os.fsdecode(file.path), root) for file in selection.files]


def code_of(*sources: Path | str, most: int = 1000) -> tuple[str, str]:
    with pytest.raises(UsageError) as caught:
        chosen(*sources, most=most)
    assert caught.value.exit_code == 2
    assert caught.value.next
    return caught.value.code, caught.value.message


def test_a_folder_gives_its_files_all_the_way_down_in_the_order_of_their_paths(folder: Path) -> None:
    selection = chosen(folder)
    assert names(selection, folder) == ["a", "b", "sub/c", "sub/deep/d"]
    assert [file.file_no for file in selection.files] == [0, 1, 2, 3]
    assert [file.size for file in selection.files] == [1, 1, 5, 10]


def test_hidden_names_are_read_where_they_are_given(folder: Path) -> None:
    assert names(chosen(folder / "_x", folder / ".git"), folder) == [".git/f", "_x"]


def test_globs_and_files_in_any_order_are_read_once_and_give_one_selection(folder: Path) -> None:
    sources = [
        f"{folder}/*",
        f"{folder}/**/d",
        str(folder),
        f"{folder}/sub/../a",
        f"{folder}//b",
        f"file:{folder}/a",
    ]
    expected = chosen(*sources)
    once = chosen(folder, folder / "_x", folder / "_hidden")
    assert {file.real for file in expected.files} == {file.real for file in once.files}
    assert len(expected.files) == len(once.files) == 6
    for seed in range(6):
        random.Random(seed).shuffle(sources)
        assert chosen(*sources) == expected


@pytest.mark.parametrize("source", ["in", "in/", "./in/.", "in//", "i[n]", "out/../in"])
def test_paths_are_absolute_whatever_was_given(
    folder: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "up").symlink_to("in/sub/deep")
    monkeypatch.chdir(folder.parent)
    # Not os.path.normpath: behind a link `..` leads elsewhere than the text tells.
    base = os.fsencode(folder.parent / "out/../in" if ".." in source else folder)
    for given in (source, f"{folder.parent}/{source}"):
        assert [file.path for file in chosen(given).files] == [
            os.path.join(base, name) for name in (b"a", b"b", b"sub/c", b"sub/deep/d")
        ]
    assert chosen("up/../c").files[0].real == os.fsencode(folder / "sub/c")


def test_a_name_with_wild_signs_that_exists_is_that_file(folder: Path) -> None:
    (folder / "[ab]").write_text("")
    assert names(chosen(folder / "[ab]"), folder) == ["[ab]"]


def test_a_folder_whose_name_is_a_pattern_is_that_folder_and_not_what_the_pattern_matches(
    folder: Path,
) -> None:
    for name in ("x[1]", "x1", "x*", "x2"):
        (folder / name).mkdir()
        (folder / name / "file").write_text(name)
    assert names(chosen(folder / "x[1]"), folder) == ["x[1]/file"]
    assert names(chosen(folder / "x[1]" / "file"), folder) == ["x[1]/file"]
    assert names(chosen(folder / "x*"), folder) == ["x*/file"]
    assert names(chosen(folder / "x[12]"), folder) == ["x1/file", "x2/file"]


def test_what_does_not_exist_is_named(folder: Path) -> None:
    assert code_of(folder / "gone") == ("SOURCE_MISSING", f"The source {folder}/gone does not exist.")
    assert code_of(f"{folder}/*.gz") == ("SOURCE_MISSING", f"No file matches {folder}/*.gz.")


def test_more_files_than_the_limit_are_refused(folder: Path) -> None:
    assert code_of(folder, most=3)[0] == "TOO_MANY_FILES"
    assert len(chosen(folder, folder, most=4).files) == 4


def test_refused_links_count_as_files_do(folder: Path) -> None:
    """Each is a row of quarantine that the driver makes: a folder of strangers can have millions of them."""
    (folder / "links").mkdir()
    for number in range(4):
        (folder / "links" / f"out{number}").symlink_to("../../out/secret")
    assert len(chosen(folder / "links", most=4).refused) == 4
    assert code_of(folder / "links", most=3)[0] == "TOO_MANY_FILES"
    assert code_of(f"{folder}/links/*", most=3)[0] == "TOO_MANY_FILES"


def test_a_folder_is_read_no_further_than_to_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        (folder / f"file{number}").write_text("")
    seen = []
    scan = os.scandir

    class Counted:
        """A folder that notes the names that were read of it."""

        def __init__(self, path: bytes) -> None:
            self._entries = scan(path)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self._entries.close()

        def __iter__(self) -> Iterator[os.DirEntry[bytes]]:
            for entry in self._entries:
                seen.append(entry.name)
                yield entry

    monkeypatch.setattr(os, "scandir", Counted)
    # Of its other names, some are hidden or folders.
    assert code_of(folder, most=10)[0] == "TOO_MANY_FILES"
    assert len(seen) <= 10 + 1 + 7


def test_a_large_folder_of_a_given_file_is_not_held_in_memory(folder: Path) -> None:
    for number in range(5_000):
        (folder / f"{number:04d} of many files with long names").touch()
    (folder / "a.manifest.json").write_text("{}")
    selection = chosen(folder / "a")
    assert [os.path.basename(each.path) for each in selection.manifests] == [b"a.manifest.json"]
    assert peak_bytes(lambda: chosen(folder / "a")) < 100_000


def test_pipes_and_sockets_are_refused_where_given_and_passed_over_in_folders(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        before = os.getcwd()
        os.chdir(folder)  # a socket's path is short
        try:
            listening.bind("socket")
        finally:
            os.chdir(before)
        for name in ("pipe", "socket"):
            code, message = code_of(folder / name)
            assert code == "SOURCE_NOT_A_FILE"
            assert str(folder / name) in message
        assert code_of("/dev/null")[0] == "SOURCE_NOT_A_FILE"
        selection = chosen(folder, f"{folder}/*")
        assert not {"pipe", "socket"} & set(names(selection, folder))
        assert selection.refused == ()


def test_links_inside_the_root_are_followed_and_their_files_read_once(folder: Path) -> None:
    (folder / "link").symlink_to("sub/c")
    (folder / "again").symlink_to("sub")
    (folder / "sub" / "up").symlink_to("..")
    selection = chosen(folder)
    assert len({file.real for file in selection.files}) == len(selection.files) == 4
    assert selection.refused == ()


def test_links_that_leave_the_root_are_refused_with_where_they_lead(folder: Path) -> None:
    (folder / "leak").symlink_to("../out/secret")
    (folder / "sub" / "leaks").symlink_to("../../out")
    (folder / "etc").symlink_to("/etc")
    selection = chosen(folder)
    assert names(selection, folder) == ["a", "b", "sub/c", "sub/deep/d"]
    assert [os.path.relpath(os.fsdecode(path), folder) for path, _ in selection.refused] == [
        "etc",
        "leak",
        "sub/leaks",
    ]
    assert dict(selection.refused)[os.fsencode(folder / "leak")] == os.fsencode(
        folder.parent / "out" / "secret"
    )


def test_a_sibling_whose_name_begins_like_the_root_is_outside(folder: Path) -> None:
    (folder.parent / "inner").mkdir()
    (folder.parent / "inner" / "x").write_text("")
    (folder / "leak").symlink_to("../inner/x")
    assert len(chosen(folder).refused) == 1


def test_a_glob_does_not_lead_out_of_the_folder_before_its_first_wild_sign(folder: Path) -> None:
    (folder / "leak").symlink_to("../out/secret")
    (folder / "leaks").symlink_to("../out")
    (folder / "inside").symlink_to("a")
    selection = chosen(f"{folder}/*")
    assert not any(b"secret" in file.real for file in selection.files)
    assert [path for path, _ in selection.refused] == [bytes(folder / "leak"), bytes(folder / "leaks")]
    assert names(chosen(f"{folder.parent}/*/leak"), folder) == ["leak"]


def test_a_link_that_is_given_itself_is_followed(folder: Path) -> None:
    link = folder / "leak"
    link.symlink_to("../out/secret")
    (folder.parent / "root").symlink_to("in")
    assert names(chosen(link), folder) == ["leak"]
    assert len(chosen(folder.parent / "root").files) == 4


def test_links_to_nothing_and_to_themselves_end_no_run(folder: Path) -> None:
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    assert len(chosen(folder).refused) == 2
    assert code_of(folder / "dangling")[0] == "SOURCE_MISSING"
    assert code_of(folder / "loop")[0] == "SOURCE_MISSING"


def test_names_that_are_not_utf_8_are_read_and_shown(folder: Path) -> None:
    path = os.fsencode(folder) + b"/n\xffm\n"
    with open(path, "wb"):
        pass
    [file] = [file for file in chosen(folder).files if file.size == 0]
    assert file.path == path
    assert file.source == f"{folder}/n\\xffm\n"
    assert chosen(os.fsdecode(path)).files[0].path == path


def found(selection: Selection) -> list[tuple[str, str]]:
    return [(os.path.basename(os.fsdecode(file.path)), file.found_by) for file in selection.manifests]


def test_manifests_are_no_input_and_it_is_known_how_they_were_found(folder: Path) -> None:
    for name in ("all.manifest.json", "sub/c.manifest.json", "_no.manifest.json"):
        (folder / name).write_text("{}")
    assert found(chosen(folder)) == [("all.manifest.json", "folder"), ("c.manifest.json", "folder")]
    assert found(chosen(folder / "a", folder / "b")) == [("all.manifest.json", "beside")]
    assert found(chosen(folder / "a", folder / "all.manifest.json")) == [("all.manifest.json", "given")]
    assert found(chosen(f"{folder}/[ab]", f"{folder}/sub/c")) == [
        ("all.manifest.json", "beside"),
        ("c.manifest.json", "beside"),
    ]
    assert found(chosen(folder / "a", folder, folder / "all.manifest.json"))[0] == (
        "all.manifest.json",
        "folder",
    )
    assert names(chosen(folder), folder) == ["a", "b", "sub/c", "sub/deep/d"]


def test_a_manifest_beside_is_not_followed_out_of_the_folder(folder: Path) -> None:
    (folder.parent / "out" / "x.manifest.json").write_text("{}")
    (folder / "x.manifest.json").symlink_to("../out/x.manifest.json")
    assert found(chosen(folder / "a")) == []
    assert len(chosen(folder).refused) == 1


def test_a_stream_reads_a_manifest_that_is_named_after_what_is_no_input_as_one_without_a_file_of_its_own(
    folder: Path,
) -> None:
    for name in ("sub", "b", "b.manifest.json"):
        (folder / f"{name}.manifest.json").write_text("{}")
    asked = {"most": 1000, "within": os.fsencode(folder)}
    without = [("b.manifest.json.manifest.json", "beside"), ("sub.manifest.json", "beside")]
    assert found(select([str(folder / "a")], known=KnownManifests(), **asked)) == without
    every = [("b.manifest.json", "beside"), *without]
    assert found(select([str(folder / "b")], known=KnownManifests(), **asked)) == every


@pytest.mark.parametrize(
    ("sizes", "tasks"),
    [
        ([], 1),
        ([0], 1),
        ([1 << 30], 1),
        ([0] * 2, 2),
        ([0] * 900, 2),
        ([0] * 5000, 10),
        ([32 << 20] * 7, 7),
        ([16 << 20] * 8, 4),
    ],
)
def test_files_are_opened_by_tasks_of_so_many_bytes_and_files(sizes: list[int], tasks: int) -> None:
    assert tasks_for(sizes) == tasks


@pytest.mark.parametrize(
    ("sizes", "tasks"),
    [
        ([4 << 20] * 9, 9),
        ([1 << 20] * 9, 2),
        ([40 << 20], 1),
        ([4 << 20] * 10_000, 4096),
        ([4 << 20] * 40_000, 5000),
    ],
)
def test_files_that_are_judged_as_they_are_read_have_smaller_tasks_up_to_a_number(sizes, tasks) -> None:
    assert tasks_for(sizes, 4 << 20) == tasks


def test_what_changed_since_it_was_found_is_one_rejected_record_named_by_its_path(folder: Path) -> None:
    for name in ("gone", "pipe", "folder", "link"):
        (folder / name).write_text(name)
    (folder / "inner").symlink_to(folder / "sub" / "c")
    selection = chosen(folder)
    (folder / "gone").unlink()
    for name in ("pipe", "folder", "link"):
        (folder / name).unlink()
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to(folder.parent / "out" / "secret")
    found = read(selection)
    link = "a link replaced it or a folder above it"
    causes = {
        "gone": "no such file or directory",
        "pipe": "it is a pipe",
        "folder": "it is a folder",
        "link": link,
    }
    for name, cause in causes.items():
        assert found[name] == (os.fsencode(folder / name), "FILE_UNREADABLE", cause)
    assert {name for name, (_, damage, _) in found.items() if damage is None} == {"a", "b", "inner", "d"}
    # The path that sorts first stands for a file with two.
    assert found["inner"] == (b"sub/c", None, None)


def test_a_folder_above_that_became_a_link_is_not_followed(folder: Path) -> None:
    selection = chosen(str(folder / "*" / "deep" / "d"))
    (folder / "sub").rename(folder.parent / "moved")
    (folder.parent / "out" / "deep").mkdir()
    (folder.parent / "out" / "deep" / "d").write_text("secret")
    (folder / "sub").symlink_to(folder.parent / "out")
    assert read(selection)["d"][1] == "FILE_UNREADABLE"


def test_a_file_that_is_gone_before_its_size_is_asked_has_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked = sources.walk

    def then_gone(root: bytes, inside: bytes) -> Iterator[tuple[bytes, bytes | None]]:
        yield from walked(root, inside)
        (folder / "a").unlink()

    monkeypatch.setattr(sources, "walk", then_gone)
    selection = chosen(folder)
    assert [file.size for file in selection.files] == [0, 1, 5, 10]
    assert read(selection)["a"][1] == "FILE_UNREADABLE"


def test_a_folder_that_is_gone_before_it_is_entered_holds_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = os.scandir

    def gone(path: bytes) -> object:
        if path.endswith(b"sub"):
            raise FileNotFoundError(2, "No such file or directory", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", gone)
    assert names(chosen(folder), folder) == ["a", "b"]


def test_a_found_file_that_is_gone_by_now_is_rejected_and_its_name_is_no_pattern(folder: Path) -> None:
    (folder / "a*").write_text("star")
    found = [str(folder / name) for name in ("a", "a*", "gone", "[b]")]
    selection = select(found, most=10, within=os.fsencode(folder))
    assert {name: damage for name, (_, damage, _) in read(selection).items()} == {
        "a": None, "a*": None, "gone": "FILE_UNREADABLE", "[b]": "FILE_UNREADABLE",
    }  # fmt: skip
