"""`docs/mutants.md`, written from a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mutants.verdicts import Row

_TEXT = """# Mutants

A mutant is the code with one small fault: a comparison turned, a constant changed, an argument left out. A mutant
survives if the tests still pass. `make mutants` draws a sample of all mutants, judges each by the tests without a JVM
that call its function, and writes this page.

{date}, commit `{commit}`: of {made:,} mutants a sample of {judged} (seed {seed}), **{share:.1%} survived**.

| part | mutants | judged | killed | survived | met by no test | surviving share |
|---|---|---|---|---|---|---|
{rows}

Versions: {versions}.

Some survivors change nothing that anybody can see: an equal default, a faster way, the wording of an error. Tests with
a JVM kill some others; they are no part of this run. `make mutants N=300 SEED=2` draws another sample.
`build/mutants/lived.txt` names the survivors, and `mutmut show NAME`, called in `build/mutants`, shows one.
"""


def page(rows: Sequence[Row], *, date: str, commit: str, seed: int, versions: Mapping[str, str]) -> str:
    """Return the page's text; the last row is the sum of the others."""
    lines = (
        f"| `{row.part}` | {row.made:,} | {row.judged} | {row.killed} | {row.survived} | {row.untested} "
        f"| {row.surviving_share:.1%} |"
        for row in rows
    )
    return _TEXT.format(
        date=date, commit=commit, made=rows[-1].made, judged=rows[-1].judged, seed=seed, share=rows[-1].surviving_share,
        rows="\n".join(lines), versions=", ".join(f"{name} {version}" for name, version in versions.items()),
    )  # fmt: skip
