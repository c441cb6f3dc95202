"""The charts of the page: SVG without scripts, in the colours of the page's style sheet."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from xml.etree import ElementTree

from markupsafe import Markup

from strandline.pipelines.health_rows import HEALTHS

VERDICTS: Final = ("accepted", "waiting", "rejected")
_STEPS: Final = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
_MOST_BARS: Final = 100


def health_chart(fleet: Sequence[Mapping[str, Any]]) -> Markup:
    """Return bars of namespaces by dialect, divided by health; the first dialect is on top, as in the table."""
    # The library draws the first label at the bottom.
    dialects = list(dict.fromkeys(row["dialect"] for row in reversed(fleet)))
    counted = {(row["dialect"], row["health"]): row["namespaces"] for row in fleet}
    series = {health: [counted.get((dialect, health), 0) for dialect in dialects] for health in HEALTHS}
    return _chart("HorizontalStackedBar", "health", dialects, series, height=90 + 50 * len(dialects))


def ingest_chart(ingested: Mapping[str, Any]) -> Markup:
    """Return bars of records by time, divided by verdict."""
    times = filled(ingested)
    labels = [_label(row["at"], ingested["unit"]) for row in times]
    return _chart(
        "StackedBar", "ingest", labels, {name: [row[name] for row in times] for name in VERDICTS}, height=260
    )


def filled(ingested: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the times with those between them at which nothing was read, unless they are too many to draw."""
    rows, step = ingested["times"], _STEPS[ingested["unit"]]
    if not rows:
        return []
    known = {datetime.fromisoformat(row["at"]): row for row in rows}
    first, last = min(known), max(known)
    count = (last - first) // step + 1
    if count > _MOST_BARS:
        return list(rows)
    nothing = dict.fromkeys(VERDICTS, 0)
    return [
        {**nothing, "at": (at := first + step * number).isoformat(), **known.get(at, {})}
        for number in range(count)
    ]


def _label(at: str, unit: str) -> str:
    return at[5:10] + " " + at[11:16] if unit == "hour" else at[:10]


def _chart(
    kind: str, name: str, labels: list[str], series: Mapping[str, list[int]], *, height: int
) -> Markup:
    import pygal
    from pygal.style import Style

    given = {each: counts for each, counts in series.items() if any(counts)}
    style = Style(
        background="transparent", plot_background="transparent", foreground="var(--ink)",
        foreground_strong="var(--ink)", foreground_subtle="var(--soft)", opacity="1", opacity_hover="1",
        transition="0s", colors=tuple(f"var(--{each})" for each in given), font_family="inherit", label_font_size=12,
        major_label_font_size=12, legend_font_size=13,
    )  # fmt: skip
    chart = getattr(pygal, kind)(
        style=style, js=[], width=720, height=height, disable_xml_declaration=True, legend_at_bottom=True,
        legend_at_bottom_columns=5, truncate_legend=-1, truncate_label=-1, show_minor_x_labels=len(labels) <= 12,
        x_labels_major_count=8 if len(labels) > 12 else None, x_label_rotation=30 if len(labels) > 6 else 0,
        formatter=lambda count: f"{count:,.0f}", margin=8, margin_bottom=28,
    )  # fmt: skip
    chart.uuid = f"chart-{name}"
    chart.x_labels = labels
    for each, counts in given.items():
        chart.add(each, counts)
    tree = chart.render_tree()
    for parent in list(tree.iter()):
        for script in [each for each in parent if str(each.tag).endswith("script")]:
            parent.remove(script)
    # The labels are names of dialects and times, and the library builds its XML from a tree: it escapes them.
    return Markup(ElementTree.tostring(tree, encoding="unicode"))
