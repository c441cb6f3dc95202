"""The page on installing: its versions, extras, jobs and features of Delta are those of the package."""

import re
import tomllib

from strandline.contracts.load import contract, tables
from strandline.session.java import NAMED
from support.packaged import ROOT

PAGE = (ROOT / "docs/install.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text("utf-8")


def row(start: str) -> list[str]:
    """The cells of the row of a table that begins so."""
    [found] = [line for line in PAGE.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in found.strip("|").split("|")]


def needed(name: str) -> str:
    """The versions of a dependency that the package asks for."""
    every = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["spark"]]
    [found] = [each.removeprefix(name) for each in every if re.match(rf"{name}[<>=]", each)]
    return found


def locked(name: str) -> str:
    """The version of a package that the tests run with."""
    [found] = re.findall(rf"^{name}==(\S+)", LOCK, re.MULTILINE)
    return found


def test_the_versions_of_the_page_are_those_of_the_package_and_the_lock_file() -> None:
    for name in ("deltalake", "pyarrow", "pandas"):
        _, required, tested, _ = row(f"`{name}`")
        least, below = re.fullmatch(r"(\S+) or later, below (\S+)", required).groups()  # type: ignore[union-attr]
        assert (f">={least},<{below}", tested) == (needed(name), locked(name))
    for start, name in (("Spark, of a local", "pyspark"), ("Delta on Spark", "delta-spark")):
        _, required, tested, _ = row(start)
        assert (f"=={tested}", tested) == (needed(name), locked(name))
        assert required.startswith(f"{tested}, by the extra `spark`")
    assert row("Spark, of a session of a host")[2] == locked("pyspark")
    versions = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if "Python :: 3." in each]
    assert re.findall(r"3\.\d+", row("Python |")[1]) == versions
    assert f"Java {row('Java')[1]}" == NAMED
    for page in ("README.md", "docs/start.md", "Makefile"):
        assert f" {NAMED}" in (ROOT / page).read_text("utf-8")
    assert f"dist/strandline-{PROJECT['version']}-py3-none-any.whl" in PAGE


def test_the_page_lists_every_extra_and_every_job() -> None:
    part = PAGE.partition("## Extras")[2].partition("## Versions")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) == PROJECT["optional-dependencies"].keys()
    jobs = {path.name for path in (ROOT / "jobs").glob("*.py")}
    assert set(re.findall(r"`jobs/(\w+\.py)`", PAGE)) == jobs


def test_the_features_of_delta_on_the_page_are_those_of_the_contracts() -> None:
    every = {name: contract(name) for name in tables()}
    feed = {
        name for name, each in every.items() if each.properties.get("delta.enableChangeDataFeed") == "true"
    }
    assert set(re.findall(r"`(\w+)`", row("change data feed")[1])) == every.keys() - feed
    assert all(each.checks and any(column.required for column in each.columns) for each in every.values())
    only = {name for name, each in every.items() if each.properties.get("delta.appendOnly") == "true"}
    assert set(re.findall(r"`(\w+)`", row("append-only")[1])) == only
    assert {each.properties["delta.checkpointPolicy"] for each in every.values()} == {"classic"}
    assert {each.properties["delta.enableDeletionVectors"] for each in every.values()} == {"false"}
    assert not any("columnMapping" in name for each in every.values() for name in each.properties)
    stated = set(re.findall(r"\d\.\d\.\d", row("tables | Each has a contract")[1]))
    assert stated == {each.version for each in every.values()}
