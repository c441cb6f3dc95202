"""The pages of the reference, from contracts, registries, the parser and the settings."""

from pathlib import Path

from docsite import commands, markdown, measured, reasons, tables, views
from strandline.contracts.load import contracts
from strandline.contracts.reasons import reasons as registry
from strandline.contracts.resources import text
from strandline.contracts.views import views as all_views
from strandline.dialects import health_queries

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference"


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    queries = all_views(behind=(part.select for health in health_queries() for part in health.behind))
    return {
        "commands.md": commands.page(),
        "measured.md": measured.page(),
        "reasons.md": reasons.page(registry()),
        "settings.md": _settings(),
        "tables.md": tables.page(contracts()),
        "views.md": views.page(queries, contracts()),
    }


def write() -> None:
    """Write the pages that differ."""
    FOLDER.mkdir(exist_ok=True)
    for name, content in pages().items():
        (FOLDER / name).write_text(content, encoding="utf-8")


def _settings() -> str:
    return markdown.page(
        "Settings",
        "The file `conf/base.yaml`: every setting with its default and its meaning."
        " [Commands, settings, exit codes](../usage.md#settings) says how to change one.",
        markdown.block("yaml", text("conf", "base.yaml")),
    )
