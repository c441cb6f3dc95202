"""The pages of the reference, from contracts, registries, the parser and the settings."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from docsite import commands, markdown, measured, reasons, tables, views
from strandline.contracts.load import contracts
from strandline.contracts.reasons import reasons as registry
from strandline.contracts.resources import text
from strandline.contracts.views import Query
from strandline.contracts.views import views as all_views
from strandline.dialects import health_queries

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference"


WRITERS: dict[str, Callable[[], str]] = {
    "commands.md": commands.page,
    "measured.md": measured.page,
    "reasons.md": lambda: reasons.page(registry()),
    "settings.md": lambda: _settings(),
    "tables.md": lambda: tables.page(contracts()),
    "views.md": lambda: views.page(_queries(), contracts()),
}
"""What writes each page, by the name of its file."""


@cache
def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    return {name: write_page() for name, write_page in WRITERS.items()}


def write() -> None:
    """Write the pages that differ."""
    FOLDER.mkdir(exist_ok=True)
    for name, content in pages().items():
        (FOLDER / name).write_text(content, encoding="utf-8")


def _queries() -> Mapping[str, Query]:
    return all_views(behind=(part.select for health in health_queries() for part in health.behind))


def _settings() -> str:
    return markdown.page(
        "Settings",
        "The file `conf/base.yaml`: every setting with its default and its meaning."
        " [Commands, settings, exit codes](../usage.md#settings) says how to change one.",
        markdown.block("yaml", text("conf", "base.yaml")),
    )
