"""Who may import whom: the contracts hold, and each of them notices the import that it forbids."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# `make lint` runs the same program.
pytestmark = pytest.mark.large
ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "lib" / "strandline"

# For each contract: a module, an import it must not have, and the words of the contract's name.
FORBIDDEN = (
    ("core/ids.py", "import strandline.contracts.model", "layers: arrows point down only"),
    ("contracts/model.py", "import strandline.config", "layers: arrows point down only"),
    ("frames/buckets.py", "import strandline.tables.location", "layers: arrows point down only"),
    ("pipelines/status.py", "import strandline.pipelines.explain", "pipelines do not call each other"),
    ("dialects/sdmp/types.py", "import strandline.dialects.sdmp.codec", "inside a dialect"),
    ("dialects/ipfslog/types.py", "import strandline.dialects.ipfslog.codec.cids", "inside a dialect"),
    ("dialects/ipfslog/reduce/dag.py", "import strandline.dialects.ipfslog.author.log", "inside a dialect"),
    ("dialects/ipfslog/codec/cids.py", "import numpy", "run without Spark, Arrow and pandas"),
    ("dialects/ipfslog/author/log.py", "import pyarrow", "run without Spark, Arrow and pandas"),
    (
        "dialects/ipfslog/verify/signature.py",
        "import coincurve",
        "only core.signatures and core.ed25519 import crypto",
    ),
    ("core/ids.py", "import cryptography", "only core.signatures and core.ed25519 import crypto"),
    ("core/hashing.py", "import pyarrow", "run without Spark, Arrow and pandas"),
    ("config/settings.py", "import pandas", "run without Spark, Arrow and pandas"),
    ("kernels/lines.py", "import pyspark", "kernels run without a JVM"),
    ("dialects/ipfslog/kernels/entries.py", "import pyspark", "kernels run without a JVM"),
    ("pipelines/explain.py", "import delta.tables", "only classic sessions import py4j"),
    ("lake.py", "import py4j", "only classic sessions import py4j"),
    ("effects/known.py", "import deltalake", "only tables import deltalake"),
    ("core/safe_files.py", "import nacl", "only core.signatures and core.ed25519 import crypto"),
    ("dialect_api/export.py", "import cryptography", "only core.signatures and core.ed25519 import crypto"),
    (
        "pipelines/reduce.py",
        "import strandline.dialects.sdmp.author",
        "code for all dialects imports none of them",
    ),
    (
        "pipelines/demo/folder.py",
        "import strandline.dialects.sdmp",
        "code for all dialects imports none of them",
    ),
    (
        "cli/commands/status.py",
        "import strandline.dialects.sdmp.types",
        "code for all dialects imports none of them",
    ),
    (
        "tables/store.py",
        "import strandline.dialects.sdmp.spark",
        "code for all dialects imports none of them",
    ),
    ("tables/reads.py", "import py4j", "only classic sessions import py4j"),
    ("pipelines/stream.py", "import py4j", "only classic sessions import py4j"),
    ("session/connect.py", "import py4j", "only classic sessions import py4j"),
    ("session/conf.py", "import strandline.tables.commits", "layers: arrows point down only"),
    ("dialect_api/dialect.py", "import strandline.dialects.sdmp.types", "layers: arrows point down only"),
    ("dialects/ipfslog/types.py", "import strandline.dialects.sdmp.types", "dialects do not know each other"),
)


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "lint-imports"
    environment = os.environ | {"PYTHONPATH": str(folder), "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(
        [str(program), "--config", str(ROOT / "pyproject.toml"), "--no-cache"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_contracts_hold() -> None:
    found = _lint(ROOT / "lib")
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what lint-imports says of a copy of the package with every forbidden import, and one stray module."""
    folder = tmp_path_factory.mktemp("broken")
    shutil.copytree(PACKAGE, folder / "strandline", ignore=shutil.ignore_patterns("__pycache__"))
    for path, statement, _ in FORBIDDEN:
        module = folder / "strandline" / path
        if not module.exists():
            module = folder / "strandline" / path.removesuffix(".py") / "__init__.py"
        module.write_text(f"{module.read_text()}\n{statement}\n")
    (folder / "strandline" / "stray.py").write_text("")
    found = _lint(folder)
    assert found.returncode == 1, found.stdout + found.stderr
    return found.stdout


@pytest.mark.large
@pytest.mark.parametrize(("path", "statement", "contract"), FORBIDDEN)
def test_a_forbidden_import_breaks_its_contract(
    broken: str, path: str, statement: str, contract: str
) -> None:
    importer = "strandline." + path.removesuffix(".py").replace("/", ".")
    imported = statement.removeprefix("import ")
    broken_contracts = [line for line in broken.splitlines() if " BROKEN" in line]
    assert any(contract in line for line in broken_contracts)
    chains = [line for line in broken.splitlines() if f"{importer} -> {imported.split('.tables')[0]}" in line]
    assert chains, f"{importer} -> {imported} is not named in:\n{broken}"


def test_a_module_without_a_layer_is_noticed(broken: str) -> None:
    assert "stray" in broken
