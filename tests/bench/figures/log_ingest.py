"""Figures 16, 39 and 40: ingest of deep and of wide logs, beside the public libraries and beside each other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bench import peers
from bench.bench import Bench
from bench.engine import IPFSLOG
from bench.figures.signatures import bare_checks
from bench.logs import chain, folders, one_log, peer_logs
from bench.measure import Contender, Run, alternate, median_run, seconds_case, seconds_side, timed
from bench.results import Case, Side

WIDE, DEEP, START = "ingest of many logs", "ingest of one log", "session start"
BARE: Final = "bare signatures"
LOGS: Final = 80
"""Logs of the wide case, each as long as a journal; the one log of the deep case has as many entries."""

SIGNATURES: Final = 3000
"""Signatures that a bare loop of one process checks."""

LOGS_OF_PEERS: Final = 10
"""So many of the logs, or the first entries of the one log, are what a library joins: it takes minutes for all."""

FIGURES: Final = {peers.IPFS_LOG: 16, peers.ORBITDB: 39}


def measure(bench: Bench) -> None:
    """Measure all in turns: what is not asked for costs little beside the rest."""
    engine, data = bench.engine, bench.data
    entries, of_peers = LOGS * data.sizes.length, LOGS_OF_PEERS * data.sizes.length
    sources = {WIDE: folders(data, LOGS), DEEP: (str(one_log(data, LOGS)),)}
    names = {
        WIDE: f"{LOGS} logs of {data.sizes.length:,} entries",
        DEEP: f"1 log of {entries:,} entries",
    }

    def ingested(shape: str) -> Run:
        lake = engine.empty_lake()
        done = engine.ingest(lake, sources[shape], new=entries, of=IPFSLOG).run
        engine.drop(lake)
        return done

    contenders: dict[str, Contender] = {
        WIDE: lambda: ingested(WIDE), DEEP: lambda: ingested(DEEP), START: engine.session_start,
    }  # fmt: skip
    bare = bare_checks(list(chain("/bare", SIGNATURES)))
    contenders[BARE] = lambda: timed(bare)
    libraries = [library for library, number in FIGURES.items() if bench.wants(number)]
    if libraries and not peers.are_installed():
        print("figures 16 and 39 are left out: `make peers` brings the libraries", flush=True)
        libraries = []
    for library in libraries:
        for shape in names:
            files = peer_logs(data, library == peers.ORBITDB, shape == DEEP, LOGS_OF_PEERS)
            contenders[_joined(library, shape)] = _join(library, files, of_peers)
    runs = alternate(contenders, bench.repetitions)
    for library in libraries:
        cases = []
        for shape, name in names.items():
            pairs = zip(runs[shape], runs[START], strict=True)
            rates = tuple(entries / (run.seconds + start.seconds) for run, start in pairs)
            joined = tuple(of_peers / run.seconds for run in runs[_joined(library, shape)])
            cases.append(
                Case(
                    f"{name}, session start included",
                    Side("ingest", "1/s", rates),
                    Side(peers.version_of(library), "1/s", joined),
                    (
                        seconds_side(START, runs[START]),
                        Side(
                            "session start, commits and bare signatures alone",
                            "1/s",
                            _without_work(entries, runs, shape),
                        ),
                    ),
                    median_run(runs[shape]).stages,
                )
            )
        bench.keep(FIGURES[library], tuple(cases), bench.repetitions, ())
    if bench.wants(40):
        case = seconds_case(f"{names[DEEP]} / {names[WIDE]}", (DEEP, runs[DEEP]), (WIDE, runs[WIDE]))
        bench.keep(40, (case,), bench.repetitions, ())


def _without_work(entries: int, runs: Mapping[str, tuple[Run, ...]], shape: str) -> tuple[float, ...]:
    """Return the entries a second if nothing but session start, commits and signatures on all cores took time."""
    commits = (run.writing for run in runs[shape])
    signatures = (run.seconds * entries / SIGNATURES / (os.cpu_count() or 1) for run in runs[BARE])
    every = zip(runs[START], commits, signatures, strict=True)
    return tuple(entries / (start.seconds + written + checked) for start, written, checked in every)


def _joined(library: str, shape: str) -> str:
    return f"{library}: {shape}"


def _join(library: str, files: list[Path], entries: int) -> Contender:
    return lambda: peers.join(library, files, entries=entries)
