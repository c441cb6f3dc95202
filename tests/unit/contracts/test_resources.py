"""The data files are found in a checkout, and in a wheel that was never unpacked."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from strandline.contracts import load, resources
from strandline.core.errors import FaultError

ROOT = Path(__file__).resolve().parents[3]


def test_a_checkout_reads_them_where_they_stand():
    assert resources.text("schemas", "run.odcs.yaml") == (ROOT / "schemas" / "run.odcs.yaml").read_text(
        "utf-8"
    )


def test_names_are_listed_without_their_ending():
    assert "quarantine_age" in resources.stems("schemas", "views", suffix=".sql")


@pytest.mark.parametrize("names", [("schemas", "no.yaml"), ("no_such_folder", "x"), ("schemas", "views")])
def test_a_missing_file_is_a_fault_that_names_it(names: tuple[str, ...]):
    with pytest.raises(FaultError, match=names[-1] if names[0] == "schemas" else names[0]) as missing:
        resources.text(*names)
    assert missing.value.code == "RESOURCE_MISSING"


@pytest.mark.large
def test_contracts_are_read_from_a_zip_that_holds_the_wheel_and_needs_no_spark(tmp_path: Path):
    wheel = tmp_path / "strandline-0-py3-none-any.whl"
    package = ROOT / "lib" / "strandline"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in (package / "__init__.py", *package.glob("core/**/*.py"), *package.glob("contracts/*.py")):
            archive.write(path, path.relative_to(ROOT / "lib"))
        for path in (ROOT / "schemas").rglob("*.*"):
            archive.write(path, Path("strandline") / path.relative_to(ROOT))
    program = f"""
import sys
sys.path.insert(0, {str(wheel)!r})
for banned in ("pyspark", "pyarrow", "pandas", "numpy", "deltalake"):
    sys.modules[banned] = None
from strandline.contracts import checks, ddl, load, merge, reasons, views
assert load.__file__.startswith({str(wheel)!r}), load.__file__
print(len(load.contracts()), len(views.view_names()) > 0, len(checks.checks(buckets=16)) > 0, reasons.rules_version())
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.stdout.split() == [str(len(load.tables())), "True", "True", "1"], ran.stderr
