"""Figures about admission without any write: 2, 3, 4."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from bench.bench import Bench
from bench.engine import Engine, compute
from bench.measure import Contender, Run, alternate, seconds_case, timed
from bench.results import Case
from bench.rows import hashes_and_compares
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import elements
from strandline.dialects.sdmp.spark.chunks import CHUNK_LINES

ONE, MANY, LOOP = "admission", "admission, many journals", "Python loop"
UDF, BUILT_IN = "line_facts UDF", "sha2 and window"
LINE = r"\A[0-9a-f]{64}(?:@[0-9a-f]{64}/[0-9a-f]{64})?\z"


def measure(bench: Bench) -> None:
    """Measure admission of one and of many journals beside a loop, and the UDF beside Spark's own functions."""
    if bench.wants(2, 4):
        _admission(bench)
    if bench.wants(3):
        _line_facts(bench)


def _admission(bench: Bench) -> None:
    engine, sizes = bench.engine, bench.data.sizes
    one, many = bench.data.one(), bench.data.many()
    lake = engine.empty_lake()

    def loop() -> Run:
        found: list[int] = []
        done = timed(lambda: found.append(hashes_and_compares(one.read_bytes())))
        if found != [sizes.lines - 1]:
            raise RuntimeError(f"the loop saw {found} links, not {sizes.lines - 1}")
        return done

    contenders: dict[str, Contender] = {
        ONE: lambda: engine.admit(lake, (one,), lines=sizes.lines),
        LOOP: loop,
    }
    if bench.wants(4):
        contenders[MANY] = lambda: engine.admit(lake, many, lines=sizes.lines)
    runs = alternate(contenders, bench.repetitions)
    engine.drop(lake)
    if bench.wants(2):
        cases = [seconds_case(sizes.one, (ONE, runs[ONE]), (LOOP, runs[LOOP]))]
        if bench.wants(4):
            cases.append(seconds_case(sizes.many(), (MANY, runs[MANY]), (LOOP, runs[LOOP])))
        bench.keep(2, tuple(cases), bench.repetitions, ("The loop reads the one long journal.",))
    if bench.wants(4):
        case = seconds_case(f"{sizes.one} / {sizes.many()}", (ONE, runs[ONE]), (MANY, runs[MANY]))
        bench.keep(4, (case,), bench.repetitions, ())


def _line_facts(bench: Bench) -> None:
    sizes = bench.data.sizes
    cases = (
        _udf_case(bench, sizes.one, (bench.data.one(),)),
        _udf_case(bench, sizes.many(), bench.data.many()),
    )
    note = "The window sorts the lines of a file in one task: with one long journal it uses one core."
    bench.keep(3, cases, bench.repetitions, (note,))


def _udf_case(bench: Bench, name: str, sources: Sequence[str | Path]) -> Case:
    engine = bench.engine

    def udf() -> Run:
        return timed(lambda: compute(with_udf(engine, sources)))

    def built_in() -> Run:
        return timed(lambda: compute(with_window(engine, sources)))

    runs = alternate({UDF: udf, BUILT_IN: built_in}, bench.repetitions)
    return seconds_case(name, (UDF, runs[UDF]), (BUILT_IN, runs[BUILT_IN]))


def with_udf(engine: Engine, sources: Sequence[str | Path]) -> DataFrame:
    """Form, hash and claim of each line, as the product computes them: in chunks."""
    read = partial(kernels.read_content, chunks=kernels.ChunkRules(CHUNK_LINES))
    pieces = engine.scan(sources).pieces(read, kernels.ELEMENT_FIELDS)
    return elements.with_line_facts(pieces, strict=False).select(
        "file_no", "part", "idx", "raw", "hash", "code"
    )


def with_window(engine: Engine, sources: Sequence[str | Path]) -> DataFrame:
    """The same of profile 0.9 in Spark's own functions: the line before is that of a window over each file."""
    lines = engine.spark.read.text([str(source) for source in sources], lineSep="\n").select(
        F.col("_metadata.file_path").alias("file_no"),
        F.col("_metadata.file_block_start").alias("part"),
        F.col("value").cast("binary").alias("raw"),
    )
    hashed = lines.select(
        "file_no",
        "part",
        F.monotonically_increasing_id().alias("idx"),
        "raw",
        F.sha2("raw", 256).alias("hash"),
        F.col("raw").cast("string").rlike(LINE).alias("has_form"),
    )
    claim = F.lag("hash").over(Window.partitionBy("file_no").orderBy("part", "idx"))
    number = F.substring(F.col("raw").cast("string"), 1, 64)
    code = F.when(~F.col("has_form"), 1).when(claim.isNotNull() & (claim != number), 8).otherwise(0)
    return hashed.select("file_no", "part", "idx", "raw", "hash", code.alias("code"))
