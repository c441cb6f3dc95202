"""The wheel goes to Python workers under a name that Spark puts on their path."""

import importlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import strandline
from strandline.contracts.load import tables
from strandline.session.classic.shipping import archive_of, ship_package
from strandline.session.package_archive import pack


class Context:
    """What of a SparkContext is asked: which files were added."""

    def __init__(self) -> None:
        self.listFiles: list[str] = []

    def addPyFile(self, path: str) -> None:  # noqa: N802
        self.listFiles.append(f"spark://driver:1/files/{Path(path).name}")
        self.sent = Path(path).read_bytes()


def packed(folder: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, ModuleType]:
    """Return an archive with a package in it, and the package imported from there."""
    archive, name = folder / f"shipped-1.0{suffix}", f"shipped_{suffix[1:]}"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr(f"{name}/__init__.py", "")
    monkeypatch.syspath_prepend(str(archive))
    module = importlib.import_module(name)
    monkeypatch.delitem(sys.modules, name)
    return archive, module


def test_a_wheel_goes_once_with_its_own_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive, module = packed(tmp_path, ".whl", monkeypatch)
    assert archive_of(module) == archive
    context = Context()
    for _ in range(2):
        ship_package(context, module)  # type: ignore[arg-type]
    assert context.listFiles == ["spark://driver:1/files/shipped-1.0.zip"]
    assert context.sent == archive.read_bytes()


@pytest.mark.parametrize("suffix", [".zip", ".egg"])
def test_an_archive_that_spark_itself_puts_on_the_path_does_not_go_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    _, module = packed(tmp_path, suffix, monkeypatch)
    context = Context()
    ship_package(context, module)  # type: ignore[arg-type]
    assert context.listFiles == []


def test_a_package_in_a_folder_stays_where_it_is() -> None:
    context = Context()
    ship_package(context, strandline)  # type: ignore[arg-type]
    assert archive_of(strandline) is None
    assert context.listFiles == []


@pytest.mark.large
def test_a_packed_package_is_read_like_a_wheel(tmp_path: Path) -> None:
    archive = pack(strandline, tmp_path)
    with zipfile.ZipFile(archive) as inside:
        names = inside.namelist()
    assert len(names) == len(set(names))
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    code = (
        "import strandline; from strandline.contracts.load import tables; from strandline.config import defaults;"
        " from strandline.dialects import every; defaults(); every(); print(strandline.__file__, len(tables()))"
    )
    # Without the packages of this environment's own folders, the checkout would be found, too.
    ran = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(archive)!r}); {code}"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert ran.stdout.split() == [f"{archive}/strandline/__init__.py", str(len(tables()))], ran.stderr


def test_an_archive_is_packed_again_with_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, module = packed(tmp_path, ".whl", monkeypatch)
    with zipfile.ZipFile(pack(module, tmp_path)) as inside:
        assert f"{module.__name__}/__init__.py" in inside.namelist()


def test_equal_files_make_equal_archives_and_other_files_one_of_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, module = tmp_path / "twice", ModuleType("twice")
    folder.mkdir()
    monkeypatch.setattr("strandline.session.package_archive.files", lambda _: folder)
    (folder / "__init__.py").write_text("")
    first = pack(module, tmp_path)
    content = first.read_bytes()
    os.utime(folder / "__init__.py", (1e9, 1e9))
    assert (pack(module, tmp_path), first.read_bytes()) == (first, content)
    (folder / "__init__.py").write_text("changed = True")
    assert pack(module, tmp_path).name != first.name
    assert first.read_bytes() == content
