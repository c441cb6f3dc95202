"""Fills the page's template; every value of data is escaped there."""

import base64
import hashlib
import pkgutil
from typing import Any, Final

from strandline.cli.text import printable
from strandline.contracts.reasons import reasons
from strandline.core.errors import FaultError
from strandline.pipelines.health_rows import HEALTHS
from strandline.pipelines.report import Report

_NEXT: Final = (
    "Install the packages of the extra: .venv/bin/pip install --editable '.[report]' in the checkout, "
    "or pip install 'WHEEL[report]'."
)


def render(report: Report) -> str:
    """Return the page. Raises: FaultError `REPORT_EXTRA_MISSING` without the packages of the extra `report`."""
    try:
        import jinja2
        import pygal  # noqa: F401 - is there, or nothing is written

        from strandline.cli.page import charts
        from strandline.cli.page.lanes import graph
    except ImportError as error:
        raise FaultError(
            "REPORT_EXTRA_MISSING", f"The page needs the package {error.name}, which is not installed.", _NEXT
        ) from error
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=jinja2.FunctionLoader(lambda name: _text(name)),
        finalize=lambda value: printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value,
    )  # fmt: skip
    environment.filters["count"] = lambda count: f"{count:,}"
    environment.filters["when"] = lambda text: "" if text is None else f"{text[:10]} {text[11:19]}"
    script = _text("page.js")
    found = report.members
    numbers: dict[str, Any] = {
        "made_at": found["made_at"],
        "lake": report.lake,
        "counts": dict(report.counts),
    }
    return environment.get_template("page.html.j2").render(
        report=report, page=found, healths=HEALTHS, known=reasons(), numbers=numbers, script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        health_chart=charts.health_chart(found["fleet"]) if found["fleet"] else "",
        ingest_chart=charts.ingest_chart(found["ingested"]) if found["ingested"]["times"] else "",
        times=charts.filled(found["ingested"]),
        graphs=[(each, graph(each["nodes"], forks=each["health"] == "forked")) for each in found["drawings"]],
        records=sum(each["records"] for each in found["fleet"]),
        quarantined=sum(each["records"] for each in found["quarantined"]),
    )  # fmt: skip


def _text(name: str) -> str:
    """Return the text of a file beside this module, also from a wheel that is not unpacked."""
    return (pkgutil.get_data("strandline.cli.page", name) or b"").decode("utf-8")
