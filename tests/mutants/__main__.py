"""Draw mutants, judge them, and write `docs/mutants.md`.

    PYTHONPATH=tests python -m mutants MUTMUT [--count 300] [--seed 1] [--minutes 60] [--processes 2]

A run that takes longer than `--minutes` ends, and the page counts the mutants that were judged by then.
"""

import argparse
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from mutants.page import page
from mutants.tree import ROOT, make_tree
from mutants.verdicts import lived, read_codes, rows_of, sample_of

FOLDER = ROOT / "build" / "mutants"
LOG = FOLDER / "mutmut.log"
PAGE = ROOT / "docs" / "mutants.md"
FIRST = "strandline.core.ids.*"
"""Few mutants, so that all are made before a sample is drawn."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mutmut", type=Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args(argv)
    mutmut = given.mutmut.resolve()
    words = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    judge = [str(mutmut), "run", "--max-children", str(given.processes)]
    tree = make_tree(FOLDER)
    if not run([*judge, FIRST], tree, given.minutes):
        print(f"mutmut did not come to its end: {LOG.relative_to(ROOT)}", file=sys.stderr)
        return 1
    sample = sample_of(read_codes(tree), given.count, given.seed)
    run([*judge, *sample], tree, given.minutes)
    codes = read_codes(tree)
    rows = rows_of(codes, sample)
    if rows[-1].judged < len(sample) // 2:
        print(f"{rows[-1].judged} of {len(sample)} were judged: {LOG.relative_to(ROOT)}", file=sys.stderr)
        return 1
    (FOLDER / "lived.txt").write_text("\n".join(lived(codes, sample)) + "\n", encoding="utf-8")
    asked = subprocess.run([mutmut, "--version"], cwd=tree, capture_output=True, text=True, check=True)
    versions = {
        "mutmut": asked.stdout.split()[-1], "Python": platform.python_version(), "pytest": version("pytest"),
        "Strandline": version("strandline"),
    }  # fmt: skip
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    PAGE.write_text(
        page(rows, date=date, commit=commit, seed=given.seed, versions=versions), encoding="utf-8"
    )
    print(f"{rows[-1].judged} judged, {rows[-1].surviving_share:.1%} survived: {PAGE.relative_to(ROOT)}")
    return 0


def run(words: list[str], tree: Path, minutes: int) -> bool:
    """Run mutmut in the tree; what it has judged when the time is over counts. Return whether it came to its end."""
    with LOG.open("ab") as log:
        started = subprocess.Popen(words, cwd=tree, start_new_session=True, stdout=log, stderr=log)
        try:
            return started.wait(minutes * 60) == 0
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()
            return False


if __name__ == "__main__":
    sys.exit(main())
