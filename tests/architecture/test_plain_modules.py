"""Plain modules run without Spark and Arrow, kernels without Spark, the quick commands without a JVM."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

LIB = Path(__file__).parents[2] / "lib"
SPARK = ("pyspark", "py4j", "delta")
ARROW = ("pyarrow", "pandas", "numpy", "deltalake")
PLAIN_OF_A_DIALECT = ("types", "codec", "verify", "reduce", "author")

BLOCKED = """
import importlib, sys

class Blocker:
    def __init__(self, names): self.names = names
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ImportError(f"{name} is blocked here")
        return None

sys.path.insert(0, sys.argv[1])
sys.meta_path.insert(0, Blocker(set(sys.argv[2].split(","))))
for module in sys.argv[3].split(","):
    importlib.import_module(module)
"""


def modules_of(*packages: str) -> list[str]:
    """Return the names of all modules in packages of strandline, found on disk, without importing any."""
    found = []
    for package in packages:
        place = LIB / "strandline" / package.replace(".", "/")
        found.append(f"strandline.{package}")
        if place.is_dir():
            found += [one.name for one in pkgutil.walk_packages([str(place)], f"strandline.{package}.")]
    return found


def import_blocked(modules: list[str], *, without: tuple[str, ...]) -> None:
    """Import `modules` in a new interpreter that cannot import `without`."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, str(LIB), ",".join(without), ",".join(modules)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def plain_modules() -> list[str]:
    """Return the plain modules: core, contracts, config, and those that each dialect has so far."""
    dialects = [
        path for path in (LIB / "strandline" / "dialects").iterdir() if (path / "__init__.py").exists()
    ]
    own = [
        f"dialects.{place.name}.{name}"
        for place in dialects
        for name in PLAIN_OF_A_DIALECT
        if (place / name).is_dir() or (place / f"{name}.py").is_file()
    ]
    assert len(own) > len(PLAIN_OF_A_DIALECT)
    return modules_of("core", "contracts", "config", *own)


@pytest.mark.large
def test_plain_modules_import_without_spark_and_arrow() -> None:
    import_blocked(plain_modules(), without=(*SPARK, *ARROW))


@pytest.mark.large
def test_kernels_import_without_spark() -> None:
    dialects = [path.parent for path in (LIB / "strandline" / "dialects").glob("*/kernels*")]
    import_blocked(
        modules_of("kernels", *(f"dialects.{place.name}.kernels" for place in dialects)), without=SPARK
    )


@pytest.mark.large
def test_what_status_needs_imports_without_spark() -> None:
    modules = ["strandline.cli", "strandline.pipelines.status", "strandline.pipelines.quarantine"]
    import_blocked([*modules, "strandline.pipelines.explain", "strandline.tables.delta_rs"], without=SPARK)


def test_the_blocker_blocks() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, str(LIB), ",".join(SPARK), "pyspark"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "pyspark is blocked here" in done.stderr
