"""Figures of device logs in one process: 51, 52, 53, 55."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from bench.bench import Bench
from bench.devices import DEVICES, NEWS, feed, group
from bench.measure import Run, alternate, seconds_case, timed
from bench.results import Case, Side
from strandline.core.ed25519 import verify_ed25519
from strandline.dialects.devicelog.codec import read_documents, write_entry
from strandline.dialects.devicelog.kernels.increments import WHOLE, grown, windows
from strandline.dialects.devicelog.kernels.reduction import reduced
from strandline.dialects.devicelog.types import Entry
from strandline.dialects.devicelog.verify import signature_findings, signed_message
from support.device_rows import batches, in_windows, row_of, stored_batches, stored_parts, total

MEDIAN_OF: Final = 5
KERNEL, BARE = "lines to verdicts", "bare libsodium"
STORED, ALL = "from stored rows", "from all entries"
SIGNED: Final = 5_000
"""Entries of figures 51 and 52: many enough for a second."""


def measure(bench: Bench) -> None:
    """Measure verdicts and reductions, each beside what it is compared with."""
    count = min(SIGNED, bench.data.sizes.lines)
    if bench.wants(51):
        lines = b"".join(
            write_entry(entry) + b"\n" for entry, _ in zip(group(count), range(count), strict=False)
        )
        _verdicts(bench, 51, f"{count:,} entries of {DEVICES} devices", lines)
    if bench.wants(52):
        _verdicts(bench, 52, f"{count:,} messages of one feed", b"\n".join(feed(count)) + b"\n")
    if bench.wants(53):
        _news(bench)
    if bench.wants(55):
        _growth(bench)


def _verdicts(bench: Bench, number: int, name: str, text: bytes) -> None:
    signed = [(each.log, signed_message(each), each.sig) for each in _read(text)]

    def judged() -> None:
        for document in read_documents(text, "lines"):
            if not isinstance(document.found, Entry) or signature_findings(document.found):
                raise RuntimeError("a line was refused")

    def bare() -> None:
        if not all(verify_ed25519(*each) for each in signed):
            raise RuntimeError("a signature is not valid")

    repetitions = max(MEDIAN_OF, bench.repetitions)
    runs = alternate({KERNEL: lambda: timed(judged), BARE: lambda: timed(bare)}, repetitions)
    sides = (
        Side(what, "1/s", tuple(len(signed) / run.seconds for run in each)) for what, each in runs.items()
    )
    bench.keep(number, (Case(name, *sides),), repetitions, ())


def _read(text: bytes) -> list[Entry]:
    found = [each.found for each in read_documents(text, "lines")]
    entries = [each for each in found if isinstance(each, Entry)]
    if len(entries) != len(found):
        raise RuntimeError("a line is no entry")
    return entries


def _rows(found: Sequence[pa.RecordBatch]) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {part: [] for part in ("state", "view", "screw", "tip", "member", WHOLE)}
    for batch in found:
        for row in batch.to_pylist():
            rows[row["part"]].append(row.get(row["part"]))
    return rows


def _whole(given: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    return list(reduced(given, policy="keep-both"))


def _news(bench: Bench) -> None:
    count = bench.data.sizes.lines // 5
    entries = list(group(count))
    held, news = entries[:count], list(map(row_of, entries[count:]))
    namespace, bucket = news[0]["namespace"], news[0]["bucket"]
    parts = stored_parts(_rows(_whole(list(batches([held], 8192)))))
    asked = list(stored_batches(namespace, bucket, {"tip": parts["tip"], "new": news}))
    window = list(map(row_of, in_windows(held, windows(asked))))
    parts |= {"total": total(entries), "new": news, "window": window}
    given = list(stored_batches(namespace, bucket, parts))
    every = list(batches([entries], 8192))

    def increment() -> list[pa.RecordBatch]:
        return [*windows(asked), *grown(given, policy="keep-both")]

    found, expected = _rows(list(grown(given, policy="keep-both"))), _rows(_whole(every))
    positions = [row["position"] for row in found["view"]]
    if found["state"] != expected["state"] or max(positions) != len(expected["view"]) - 1:
        raise RuntimeError("the increment has another state")
    runs = alternate(
        {STORED: _contender(increment), ALL: _contender(lambda: _whole(every))}, bench.repetitions
    )
    name = f"{NEWS} messages into {count:,} entries of {DEVICES} devices"
    case = seconds_case(name, (STORED, runs[STORED]), (ALL, runs[ALL]))
    note = f"{len(positions):,} of {len(expected['view']):,} rows of the view changed."
    bench.keep(53, (case,), bench.repetitions, (note,))


def _growth(bench: Bench) -> None:
    count = bench.data.sizes.lines // 10
    twice, once = (list(batches([list(group(each))[:each]], 8192)) for each in (2 * count, count))
    work, against = "twice the entries", "the entries"
    runs = alternate(
        {work: _contender(lambda: _whole(twice)), against: _contender(lambda: _whole(once))},
        bench.repetitions,
    )
    case = seconds_case(f"{2 * count:,} / {count:,} entries", (work, runs[work]), (against, runs[against]))
    bench.keep(55, (case,), bench.repetitions, ())


def _contender(work: Callable[[], object]) -> Callable[[], Run]:
    return lambda: timed(work)
