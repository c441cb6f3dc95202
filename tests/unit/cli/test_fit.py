"""A table of status fits the terminal, and what is left of a name still names one namespace."""

import io

import pytest
from rich.console import Console

from strandline.cli.show import status
from strandline.cli.show.fit import CUT, fitted
from strandline.core.ids import namespace_prefixes, only_one
from strandline.pipelines.report import Report
from strandline.pipelines.status import HEALTHS

NODES = [f"node:{at:02x}{'ab' * 31}" for at in range(7)] + [f"log:shop-{at}-{'x' * 30}" for at in range(5)]


def report(namespaces: list[str]) -> Report:
    rows = [
        {
            "health": HEALTHS[at % 5], "namespace": name, "dialect": "ipfslog", "records": 10**at, "waiting": 7,
            "rejected": at, "forks": 1, "behind": 0, "state_hash": "5f" * 32, "reducer_version": "sdmp-1",
            "reduced_at": "2026-01-31T09:30:00.123456Z",
        }
        for at, name in enumerate(namespaces)
    ]  # fmt: skip
    members = {"rows": rows, "unreduced": [], "stopped": {}, "damaged_files": [], "damaged_files_total": 0}
    return Report("status", "r", namespaces=len(rows), counts={"ok": len(rows)}, members=members)


def lines(width: int, *, terminal: bool = True, namespaces: list[str] = NODES) -> list[str]:
    out = io.StringIO()
    status(
        Console(file=out, width=width, force_terminal=terminal, no_color=True, soft_wrap=True),
        report(namespaces),
    )
    return [
        line for line in out.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines() if line
    ]


@pytest.mark.parametrize("width", [80, 100, 120, 160, 200])
def test_a_table_is_as_wide_as_the_terminal_allows_and_no_wider(width):
    shown = lines(width)[: len(NODES) + 1]
    assert max(map(len, shown)) <= width
    names = [line.split()[1].rstrip(CUT) for line in shown[1:]]
    fits = [[node for node in NODES if node.startswith(namespace_prefixes(name))] for name in names]
    assert fits == [[node] for node in NODES]
    assert ("reducer" in shown[0]) == (width >= 160)


def test_off_a_terminal_nothing_is_cut():
    shown = lines(80, terminal=False)
    assert all(name in line for name, line in zip(NODES, shown[1:], strict=False))
    assert shown[0].split()[-1] == "reduced_at"


def test_columns_go_before_names_look_alike_and_what_is_still_too_wide_is_cut():
    names = [f"log:{'x' * 20}{at}" for at in range(2)]
    rows = [[name, 1000] for name in names]
    assert fitted(("name", "n"), rows, 26, named="name", spare=("n",)) == (
        ["name"],
        [[name] for name in names],
    )
    _, cut = fitted(("name", "n"), rows, 20, named="name", spare=("n",))
    assert cut == [[names[0][:19] + CUT]] * 2


def test_an_empty_table_fits():
    assert lines(80, namespaces=[])[0].startswith("health")


def test_no_name_is_none():
    assert only_one("x", ()) is None
