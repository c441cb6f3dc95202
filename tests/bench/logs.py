"""Made-up logs: signed ones as files, made once, and rows of accepted entries that nobody signed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.data import BUCKETS, Data, kept
from strandline.dialects.ipfslog.author import Identity, sign_entry, to_blocks, to_lines
from strandline.dialects.ipfslog.types import Entry, Variant
from strandline.frames.buckets import bucket_of

TABLE: Final = "ipfs_log_entry"
KEYS: Final = 100
"""Keys of the store that each log is."""

CID_CHARACTERS: Final = 45
"""Of a CID of CBOR in base 58, behind the `zdpu` that it begins with."""

TYPES: Final = {"v2": "orbitdb", "core2": "publickey"}


def author(variant: str) -> Identity:
    """Return the one author of all made-up entries."""
    secrets = (hashlib.sha256(f"strandline/bench/{role}".encode()).digest() for role in ("id", "sign"))
    return Identity.from_keys(*secrets, TYPES[variant])


def chain(log_id: str, length: int, variant: Variant = "v2") -> Iterator[Entry]:
    """Yield the entries of a log in which each follows the one before."""
    identity, parents = author(variant), []
    for time in range(1, length + 1):
        payload = {"op": "PUT", "key": f"key {time % KEYS}", "value": time}
        entry = sign_entry(identity, log_id, payload, time=time, next=parents, refs=[], variant=variant)
        parents = [entry.cid]
        yield entry


def folders(data: Data, logs: int) -> tuple[str, ...]:
    """Return folders that hold the logs 0 to `logs`, a file of JSON lines a log, made if they are not there."""
    length = data.sizes.length
    shares = [range(start, min(start + data.sizes.journals // 5, logs)) for start in _starts(data, logs)]
    targets = [data.folder / "logs" / f"{share.start:06d}-{share.stop:06d}" for share in shares]
    missing = [
        (str(target), share, length)
        for target, share in zip(targets, shares, strict=True)
        if not target.exists()
    ]
    if missing:
        with ProcessPoolExecutor(min(len(missing), os.cpu_count() or 1)) as pool:
            list(pool.map(_make, *zip(*missing, strict=True)))
    return tuple(map(str, targets))


def _starts(data: Data, logs: int) -> range:
    return range(0, logs, max(1, data.sizes.journals // 5))


def _make(target: str, share: range, length: int) -> None:
    made = Path(target + ".part")
    made.mkdir(parents=True, exist_ok=True)
    for number in share:
        (made / f"{number:06d}.jsonl").write_bytes(to_lines(chain(f"/log/{number}", length)))
    made.replace(target)


def one_log(data: Data, logs: int) -> Path:
    """Return the folder of one log that is as long as `logs` logs together, as JSON lines."""

    def make(folder: Path) -> None:
        (folder / "long.jsonl").write_bytes(to_lines(chain("/log/long", logs * data.sizes.length)))

    return kept(data.folder / f"log-long-{logs}", make)


def peer_logs(data: Data, as_blocks: bool, deep: bool, logs: int) -> list[Path]:
    """Return files of as many entries as `logs` logs have, in so many logs or all in one.

    As JSON lines of variant v2, or as lines of blocks of variant core2.
    """

    def make(folder: Path) -> None:
        count, length = (1, logs * data.sizes.length) if deep else (logs, data.sizes.length)
        for number in range(count):
            log = chain(f"/log/peer/{number}", length, "core2" if as_blocks else "v2")
            (folder / f"{number:06d}.jsonl").write_bytes(to_blocks(log) if as_blocks else to_lines(log))

    shape, form = "deep" if deep else "wide", "blocks" if as_blocks else "json"
    return sorted(kept(data.folder / f"log-peer-{shape}-{form}-{logs}", make).iterdir())


def entry_rows(spark: SparkSession, logs: int, first: int, last: int) -> DataFrame:
    """Return rows of `ipfs_log_entry`: of each of `logs` chains the entries `first` to `last`, counted from 1."""
    name = F.format_string("log:%%2Flog%%2F%d", F.col("log"))
    each = (
        spark.range(logs).withColumnRenamed("id", "log")
        .withColumn("time", F.explode(F.sequence(F.lit(first), F.lit(last)))).withColumn("namespace", name)
    )  # fmt: skip
    key = F.lit("02" + "0" * 64)
    digest = _digest(F.col("time"))
    none = F.array().cast("array<binary>")
    op = F.struct(
        F.lit("PUT").alias("op"), F.format_string("key %d", F.col("time") % KEYS).alias("op_key"),
        F.col("time").cast("string").alias("value_json"), F.lit(0).alias("item"),
        F.lit(None).cast("string").alias("target"),
    )  # fmt: skip
    return each.select(
        "namespace", bucket_of(F.col("namespace"), BUCKETS).alias("bucket"), digest.alias("record_id"),
        F.concat(F.lit("zdpu"), F.hex(digest).substr(1, CID_CHARACTERS)).alias("cid"), F.lit("v2").alias("variant"),
        F.format_string("/log/%d", F.col("log")).alias("log_id"), key.alias("key"), F.lit("").alias("sig"),
        F.col("time").cast("bigint").alias("clock_time"), key.alias("clock_id"), key.alias("writer"),
        digest.alias("identity_digest"), digest.alias("block"),
        F.when(F.col("time") > 1, F.array(_digest(F.col("time") - 1))).otherwise(none).alias("next"),
        none.alias("refs"), F.lit("{}").alias("payload_json"), F.col("time").cast("string").alias("value_json"),
        F.array(op).alias("ops"), F.array().cast("array<string>").alias("flags"), F.lit("bench").alias("run_id"),
        F.lit("/bench/logs").alias("source"), F.current_timestamp().alias("landed_at"),
    )  # fmt: skip


def _digest(time: Column) -> Column:
    return F.unhex(F.sha2(F.concat_ws(" ", "namespace", time.cast("string")), 256))
