"""Three operators exchange files until nothing moves, then a fourth, whose node forked, is named by each of them.

    make demo-sync        # or: python examples/exchange.py FOLDER

Each operator has a lake, one local node, and the nodes of the others as peers. Nothing but files goes from one to the
other: what one asks (`sync --requests`), what the others answer (`sync --answer`), which is then ingested.
"""

import contextlib
import io
import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from strandline.cli import main
from strandline.dialects.sdmp.author import append, synthetic_id
from strandline.dialects.sdmp.codec import announce, render

OPERATORS = ("east", "north", "west")
FOURTH = "south"
MARKER = ".made-by-demo-sync"
MAX_ROUNDS = 9


def node_of(operator: str) -> str:
    """The fingerprint of an operator's node: made up, as all ids here."""
    return synthetic_id("node", 1_000 + (*OPERATORS, FOURTH).index(operator))


def pairs_of(operator: str, first: int, count: int) -> list[tuple[str, str]]:
    """Resources that an operator's node created: (author, resource)."""
    number = (*OPERATORS, FOURTH).index(operator)
    author = synthetic_id("user", number)
    return [(author, synthetic_id("resource", 100 * number + k)) for k in range(first, first + count)]


def strandline(*words: str | Path) -> dict[str, Any]:
    """Run a command, and return its report."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = main([*map(str, words), "--json", "--quiet"])
    report: dict[str, Any] = json.loads(printed.getvalue())
    if code not in (0, 1):
        raise SystemExit(f"{words[0]}: {report['error']['message']} {report['error']['next']}")
    return report


def start(folder: Path) -> None:
    """Write each operator's nodes.json, and land what its node announces."""
    for operator in OPERATORS:
        home = folder / operator
        home.mkdir()
        peers = [node_of(other) for other in (*OPERATORS, FOURTH) if other != operator]
        own = {
            "node": node_of(operator),
            "user": synthetic_id("user", OPERATORS.index(operator)),
            "connections": [{"user": synthetic_id("user", 9), "nodes": peers}],
        }
        (home / "nodes.json").write_text(json.dumps({"nodes": [own]}))
        (home / "outbox.jsonl").write_bytes(announce(node_of(operator), pairs_of(operator, 0, 2)))
        ingest(home, home / "outbox.jsonl")


def ingest(home: Path, *sources: Path) -> dict[str, Any]:
    """Ingest files into an operator's lake."""
    return strandline(
        "ingest", *sources, "--dialect", "sdmp", "--nodes", home / "nodes.json", "--lake", home / "lake"
    )


def exchange(folder: Path, number: int) -> int:
    """One round: all sync and ask, then all answer, then all ingest the answers. Return how many lines moved."""
    moved = 0
    homes = [folder / operator for operator in OPERATORS]
    for home in homes:
        ask = home / f"ask-{number}.jsonl"
        done = strandline("sync", "--nodes", home / "nodes.json", "--requests", ask, "--lake", home / "lake")
        moved += done["counts"]["authored"]
    for home in homes:
        # What the others ask, in one file: requests that are not for this node are passed over, by name.
        asked = home / f"asked-{number}.jsonl"
        others = (other / f"ask-{number}.jsonl" for other in homes if other != home)
        asked.write_bytes(b"".join(path.read_bytes() for path in others))
        answers = folder / f"answers-{number}" / f"{home.name}.jsonl"
        answers.parent.mkdir(exist_ok=True)
        strandline(
            "sync", "--nodes", home / "nodes.json", "--answer", asked, "--out", answers, "--lake", home / "lake",
        )  # fmt: skip
    for home in homes:
        sources = [folder / f"answers-{number}" / f"{other.name}.jsonl" for other in homes if other != home]
        moved += ingest(home, *sources)["counts"]["new"]
    return moved


def fork(folder: Path) -> None:
    """Carry two histories of the fourth node to all: it went on, once from its journal, once from an old backup."""
    first = node_of(FOURTH).encode("ascii")
    backup = [first, *append(first, pairs_of(FOURTH, 0, 2))]
    for name, more in (("before", pairs_of(FOURTH, 2, 1)), ("after", pairs_of(FOURTH, 7, 2))):
        history = [*backup, *append(backup[-1], more)]
        (folder / f"{FOURTH}-{name}.journal").write_bytes(render(history))
    for operator in OPERATORS:
        home = folder / operator
        ingest(home, *sorted(folder.glob(f"{FOURTH}-*.journal")))
        strandline("reduce", "--nodes", home / "nodes.json", "--lake", home / "lake")


def told(folder: Path, query: str) -> list[list[list[Any]]]:
    """The rows of a query over each lake."""
    return [strandline("sql", query, "--lake", folder / each / "lake")["rows"] for each in OPERATORS]


def show(lines: Iterable[str]) -> None:
    """Print lines at once."""
    for line in lines:
        print(line, flush=True)  # noqa: T201


def run(folder: Path) -> None:
    """Play the example in a folder that is made anew."""
    if folder.exists() and not (folder / MARKER).is_file():
        raise SystemExit(f"{folder} is there, and this example did not make it: move it away")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / MARKER).touch()
    start(folder)
    for number in range(1, MAX_ROUNDS + 1):
        moved = exchange(folder, number)
        show([f"round {number}: {moved} lines moved"])
        if not moved:
            break
    held = told(folder, "SELECT recorded_count, lacking_count, count(*) FROM resource_spread GROUP BY ALL")
    for operator, rows in zip(OPERATORS, held, strict=True):
        show(
            f"{operator}: {pairs} pairs on {nodes} journals, lacking on {lacking}"
            for nodes, lacking, pairs in rows
        )
    fork(folder)
    query = "SELECT DISTINCT peer FROM peer_status WHERE diverged"
    for operator, rows in zip(OPERATORS, told(folder, query), strict=True):
        show(f"{operator}: {peer} has two histories ({FOURTH})" for [peer] in rows if peer == node_of(FOURTH))
    show([f"lakes and files are in {folder}; try: strandline status --lake {folder / OPERATORS[0] / 'lake'}"])


if __name__ == "__main__":
    run(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-sync"))
