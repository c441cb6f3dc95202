"""README and other pages: they list what there is, link to what exists, and tell to type what parses."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from strandline.cli.app import command_names, commands
from strandline.config.settings import keys
from strandline.contracts.listing import table_list, view_list
from strandline.contracts.load import contracts
from strandline.contracts.views import view_names, views

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
GROUP = commands()


def _commands(text: str) -> list[list[str]]:
    """Every `strandline ..` line of the page's shell blocks, as words."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("strandline ")]


def test_the_readme_lists_the_tables_and_views_that_there_are() -> None:
    assert table_list(contracts()) in README
    assert view_list(views(behind=())) in README


def test_the_readme_lists_every_command() -> None:
    listed = re.findall(r"^\| `strandline (\w+)", README, re.MULTILINE)
    assert sorted(listed) == sorted(command_names())


def test_the_readme_asks_every_view_something() -> None:
    asked = "\n".join(words[2] for words in _commands(README) if words[1] == "sql")
    assert [view for view in view_names() if not re.search(rf"FROM\s+{view}\b", asked)] == []


@pytest.mark.parametrize("words", [*_commands(README), *_commands(OPERATIONS)], ids=" ".join)
def test_every_command_of_the_readme_and_the_page_of_operations_has_a_name_and_options_that_exist(
    words: list[str],
) -> None:
    options = {option for parameter in GROUP.commands[words[1]].params for option in parameter.opts}
    assert [
        word for word in words[2:] if word.startswith("-") and word.partition("=")[0] not in options
    ] == []


def test_settings_that_the_readme_names_exist() -> None:
    named = re.findall(r"--set ([a-z_]+\.[a-z_]+)=", README)
    assert named
    assert [name for name in named if name not in keys()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


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


def test_modules_that_the_architecture_names_exist() -> None:
    named = re.findall(
        r"`((?:[a-z_]+/)+[a-z_]+\.py)`", (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    )
    assert len(named) > 20
    assert [name for name in named if not (ROOT / "lib/strandline" / name).exists()] == []
