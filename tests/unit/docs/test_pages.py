"""README and other pages: they list what there is, link to what exists, and tell to type what parses."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from bench.results import read_figures
from docsite import reference
from strandline.cli.app import command_names, commands
from strandline.config.settings import keys
from strandline.contracts.load import contract, tables
from strandline.contracts.reasons import reasons
from strandline.contracts.views import view_names
from support import typed_pages

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TYPED = [words for page in PAGES for words in typed_pages.commands(page.read_text(encoding="utf-8"))]
GROUP = commands()


@pytest.mark.large
@pytest.mark.parametrize("name", sorted(reference.WRITERS))
def test_the_pages_of_the_reference_are_what_the_product_says(name: str) -> None:
    assert (reference.FOLDER / name).read_text(encoding="utf-8") == reference.pages()[name], (
        "run `make reference`"
    )


def test_the_page_of_tables_says_which_rows_an_erasure_changes() -> None:
    page = (ROOT / "docs/reference/tables.md").read_text(encoding="utf-8")
    parts = {each.partition("\n")[0]: " ".join(each.split()) for each in page.split("\n## ")[1:]}
    # Where `gc --erase` empties a column, the column of its time is there.
    assert {name for name, part in parts.items() if "bodies that `gc --erase` empties" in part} == {
        name for name in tables() if any(column.name == "erased_at" for column in contract(name).columns)
    }


@pytest.mark.large
def test_the_reference_has_every_command_table_view_and_reason() -> None:
    pages = reference.pages()
    for name, each in (
        ("commands.md", [f"## strandline {command}" for command in command_names()]),
        ("tables.md", [f"## {table}" for table in tables()]),
        ("views.md", [f"## {view}" for view in view_names()]),
        ("reasons.md", [f"### {code}" for code in reasons()]),
    ):
        headings = [line for line in pages[name].splitlines() if line.startswith("##")]
        assert [heading for heading in each if heading not in headings] == []
    assert {path.name for path in reference.FOLDER.iterdir()} == pages.keys()


def test_the_readme_is_one_screen_and_leads_to_the_limits_and_the_figures() -> None:
    assert len(README.splitlines()) <= 60
    targets = re.findall(r"\]\(([^)#]+)", README)
    assert {"docs/limits.md", "docs/performance.md", "docs/start.md", "docs/images/report.png"} <= {*targets}
    assert README.count("\n* **") == 3


def test_no_page_that_is_written_by_hand_says_whether_a_bar_is_met() -> None:
    by_hand = [
        page for page in (ROOT / "docs").glob("*.md") if page.name not in ("performance.md", "faults.md")
    ]
    said = [
        (page.name, found) for page in by_hand for found in re.findall(r"bar is \S+", page.read_text("utf-8"))
    ]
    assert said == []


def test_many_journals_take_about_as_long_as_the_pages_say_of_figure_28() -> None:
    limits = (ROOT / "docs/limits.md").read_text("utf-8")
    assert "Verified ingest of many journals takes [about as long](docs/performance.md#figure-28)" in README
    assert "Verified ingest of many journals takes about as long" in limits
    [figure] = [figure for figure in read_figures(ROOT / "docs/bench") if figure.number == 28]
    [many] = [case for case in figure.cases if " journals of " in case.name]
    assert 1 / 1.2 <= many.ratio <= 1.2


def test_an_operation_that_is_admitted_takes_as_much_memory_as_the_pages_say_of_figure_50() -> None:
    [figure] = [figure for figure in read_figures(ROOT / "docs/bench") if figure.number == 50]
    [case] = figure.cases
    assert case.name.startswith("1,000,000 operations")
    kilobytes = case.work.median * 2**20 / 1_000_000 / 1000
    for page in ("aura.md", "security.md"):
        text = " ".join((ROOT / "docs" / page).read_text("utf-8").split())
        assert f"holds the operations of one authority: about {kilobytes:.1f} KB each" in text


def test_the_page_of_commands_lists_every_command() -> None:
    listed = re.findall(r"^\| `strandline (\w+)", (ROOT / "docs/usage.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(command_names())


def test_the_changelog_names_every_table_and_view_below_tables() -> None:
    told = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("### Tables")[2]
    assert [name for name in (*tables(), *view_names()) if f"`{name}`" not in told] == []


def test_the_page_of_settings_shows_what_each_environment_changes() -> None:
    page = (ROOT / "docs/usage.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    shown = {
        (name, row[0].strip("`")): value.strip("`")
        for row in rows
        if len(row) == 5 and row[0].strip("`") in keys()
        for name, value in zip(("base", "dev", "prod"), row[1:4], strict=True)
        if value
    }
    files = {name: ROOT / "conf" / f"{name}.yaml" for name in ("base", "local", "dev", "prod")}
    stated = {
        (name, f"{section}.{key}"): str(value)
        for name, path in files.items()
        for section, values in yaml.safe_load(path.read_text("utf-8")).items()
        for key, value in values.items()
    }
    changed = {key for name, key in stated if name != "base"}
    assert shown == {(name, key): value for (name, key), value in stated.items() if key in changed}


def test_every_view_is_asked_something() -> None:
    asked = "\n".join([*typed_pages.QUERIES, *typed_pages.DASHBOARDS.values()])
    assert [view for view in view_names() if not re.search(rf"FROM\s+{view}\b", asked)] == []


@pytest.mark.parametrize("words", TYPED, ids=" ".join)
def test_every_command_of_a_page_has_a_name_and_options_that_exist(words: list[str]) -> None:
    options = {option for parameter in GROUP.commands[words[1]].params for option in parameter.opts}
    assert [
        word for word in words[2:] if word.startswith("-") and word.partition("=")[0] not in options
    ] == []


def test_settings_that_pages_name_exist() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES if "decisions" not in page.parts]
    named = re.findall(r"--set ([a-z_]+\.[a-z_]+)=", "\n".join(texts))
    assert named
    assert [name for name in named if name not in keys()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_row_of_a_table_is_below_its_head(page: Path) -> None:
    above, lost = "", []
    in_table = False
    for line in page.read_text(encoding="utf-8").splitlines():
        is_row = line.startswith("|")
        in_table = is_row and (in_table or not above.strip())
        lost += [line] if is_row and not in_table else []
        above = line
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def _anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page: lower case, without punctuation, a hyphen for each space."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.large
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_a_place_in_a_page_lead_to_a_heading(page: Path) -> None:
    found = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    targets = [((page.parent / target) if target else page, anchor) for target, anchor in found]
    assert [anchor for target, anchor in targets if anchor not in _anchors(target)] == []


def test_a_decision_has_a_number_of_its_own_that_its_heading_says() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    numbers = [int(page.name[:4]) for page in pages]
    assert len(set(numbers)) == len(numbers)
    for number, page in zip(numbers, pages, strict=True):
        assert page.read_text(encoding="utf-8").startswith(f"# {number}. "), page.name


def test_no_page_and_no_message_installs_strandline_by_a_name_that_is_not_registered() -> None:
    texts = [path.read_text(encoding="utf-8") for path in [*PAGES, *(ROOT / "lib").rglob("*.py")]]
    assert [
        found for text in texts for found in re.findall(r"pip install [^`\"\n]*\bstrandline\b", text)
    ] == []
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {extra for text in texts for extra in re.findall(r"pip install [^`\n]*\[([a-z]+)\]", text)}
    assert named <= extras.keys()
    assert "leveldb" in named


def test_the_page_on_databricks_lists_the_jobs_and_the_variables_of_the_bundle() -> None:
    rows = re.findall(
        r"^\| (`.+?`) \| (.*?) \|", (ROOT / "docs/databricks.md").read_text("utf-8"), re.MULTILINE
    )
    shown = {name: default for names, default in rows for name in re.findall(r"`(\w+)`", names)}
    texts = [path.read_text("utf-8") for path in (ROOT / "conf" / "bundle").glob("*.yml")]
    jobs = {name for text in texts for name in yaml.safe_load(text).get("resources", {}).get("jobs", {})}
    bundle = yaml.safe_load((ROOT / "databricks.yml").read_text("utf-8"))
    assert shown.keys() == jobs | bundle["variables"].keys()
    changed = {
        (name, value)
        for each in bundle["targets"].values()
        for name, value in each.get("variables", {}).items()
    }
    defaults = {(name, str(each["default"])) for name, each in bundle["variables"].items()}
    assert [(name, value) for name, value in defaults | changed if value not in shown[name]] == []
