"""The pages as mkdocs takes them: all are in the menu, links lead from page to page, code stays as it is."""

import re

import pytest
import yaml

from docsite import markdown, stage
from docsite.stage import ROOT, on_site, rewritten, sources

CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def test_a_link_that_leads_nowhere_ends_the_build():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndocs:")[2].partition("\n\n")[0]
    # mkdocs counts the warnings that it logs: with --quiet it logs none, and --strict finds nothing.
    assert "mkdocs build --strict" in recipe
    assert "--quiet" not in recipe
    assert {"absolute_links", "unrecognized_links", "anchors"} <= CONFIG["validation"].keys()


def _paths(entry: object) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    parts = entry if isinstance(entry, list) else list(entry.values()) if isinstance(entry, dict) else []
    return [path for part in parts for path in _paths(part)]


def test_the_menu_has_every_page_but_single_decisions():
    pages = {on_site(page) for page in sources() if page.endswith(".md")}
    single = {page for page in pages if page.startswith("decisions/")}
    assert sorted(_paths(CONFIG["nav"])) == sorted(pages - single | {"decisions/index.md"})


def test_links_lead_from_page_to_page_and_others_become_words():
    text = "[a](docs/limits.md#x) [b](docs/decisions) [c](examples/dashboards) ![d](docs/images/log.svg) [e](https://e.org)"
    assert rewritten("README.md", text) == (
        "[a](limits.md#x) [b](decisions/index.md) c ![d](images/log.svg) [e](https://e.org)"
    )
    assert rewritten("docs/decisions/0001.md", "[f](../../README.md) [g](../aura.md) [h](#i)") == (
        "[f](../index.md) [g](../aura.md) [h](#i)"
    )
    nested = "[![i](docs/images/log.svg)](docs/start.md) [![j](docs/images/log.svg)](https://e.org)"
    assert rewritten("README.md", nested) == (
        "[![i](images/log.svg)](start.md) [![j](images/log.svg)](https://e.org)"
    )
    code = "```sh\n[a](docs/limits.md)\n```\n"
    assert rewritten("README.md", code) == code


@pytest.mark.large
def test_every_page_and_picture_is_copied(tmp_path):
    stage.copy(tmp_path / "pages")
    found = {path.relative_to(tmp_path / "pages").as_posix() for path in (tmp_path / "pages").rglob("*.*")}
    assert found == {on_site(source) for source in sources()} | {"decisions/index.md"}
    listed = re.findall(r"\]\((\d{4}[^)]*)\)", (tmp_path / "pages/decisions/index.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in (ROOT / "docs/decisions").glob("*.md"))


def test_cells_and_texts_cannot_break_out():
    assert markdown.table(("a",), [("x | y",)]) == "| a |\n| --- |\n| x \\| y |\n"
    assert markdown.words("node:<id>") == "node:&lt;id>"


def test_the_site_asks_no_other_server_for_fonts_or_scripts():
    assert CONFIG["theme"]["font"] is False
    assert "extra_javascript" not in CONFIG
    assert [name for name in CONFIG["plugins"] if name != "search"] == []
