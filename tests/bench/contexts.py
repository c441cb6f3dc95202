"""Made-up charges of contexts: as signed facts, and as rows of `aura_fact` that Spark makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from bench.facts import chain
from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.aura import author
from strandline.dialects.aura.types import ZERO, Fact
from strandline.dialects.aura.verify import EMPTY, state_after
from strandline.frames.buckets import bucket_of

CBOR_BYTES: Final = 300
"""What stands for the CBOR of a fact; no reduction of contexts reads it."""

_KEY: Final = Ed25519Key(bytes([7]) * 32)


@dataclass(frozen=True, slots=True)
class Parties:
    """Who charges whom, and the state of the sender by which that is attested."""

    sender: UUID
    receiver: UUID
    commitment: bytes
    epoch: int


UNKNOWN: Final = Parties(UUID(int=1), UUID(int=2), ZERO, 0)
"""Parties of which no table knows a state."""


def charge_rows(
    spark: SparkSession,
    schema: StructType,
    buckets: int,
    contexts: int,
    nonces: range,
    parties: Parties = UNKNOWN,
) -> DataFrame:
    """Return rows of `aura_fact`: in each context one charge per nonce, all of one sender in one epoch."""
    count = len(nonces) * contexts
    ids = spark.range(count).select(
        (F.col("id") % contexts).alias("context"),
        (F.floor(F.col("id") / contexts) + nonces.start).alias("nonce"),
    )
    name = F.concat_ws("/", "context", "nonce")
    content = F.format_string(
        '{"Relational":{"FlowCharge":{"context":"%s","src":"%s","dst":"%s","epoch":%d,"cost":%d,"nonce":%d,"prev":"%s"}}}',
        _uuid(F.col("context")), F.lit(str(parties.sender)), F.lit(str(parties.receiver)), F.lit(parties.epoch),
        F.col("nonce") % 100, F.col("nonce"),
        F.sha2(name, 256),
    )  # fmt: skip
    return _as_rows(
        ids.withColumns({"name": name, "variant": F.lit("FlowCharge"), "content_json": content}),
        schema,
        buckets,
        parties,
    )


def genesis_rows(
    spark: SparkSession, schema: StructType, buckets: int, contexts: int, parties: Parties = UNKNOWN
) -> DataFrame:
    """Return the genesis of each context, as a row of `aura_fact`."""
    content = f'{{"Relational":{{"ContextGenesis":{{"members":["{parties.sender}","{parties.receiver}"],"salt":""}}}}}}'
    ids = spark.range(contexts).select(F.col("id").alias("context"))
    named = {"name": F.concat(F.lit("genesis/"), "context"), "variant": F.lit("ContextGenesis")}
    return _as_rows(ids.withColumns({**named, "content_json": F.lit(content)}), schema, buckets, parties)


def _as_rows(each: DataFrame, schema: StructType, buckets: int, parties: Parties) -> DataFrame:
    """Shape rows of context, name, variant and content_json; ids are hashes of the name."""
    namespace = F.concat(F.lit("context:"), _uuid(F.col("context")))
    signature = F.struct(
        F.lit(str(parties.sender)).alias("authority"),
        F.lit(parties.commitment).alias("commitment"),
        F.lit(bytes(64)).alias("sig"),
    )
    columns: dict[str, Column] = {
        "namespace": namespace, "bucket": bucket_of(namespace, buckets), "record_id": _digest("record"),
        "body_id": _digest("body"), "order_token": _digest("order"), "kind": F.lit("Relational"),
        "timestamp_kind": F.lit("OrderClock"), "timestamp_json": F.lit("{}"), "attest": F.array(signature),
        "fact_cbor": F.lit(bytes(CBOR_BYTES)),
    }  # fmt: skip
    made = columns | {name: F.col(name) for name in ("variant", "content_json")}
    return each.select(
        *(made.get(field.name, F.lit(None)).cast(field.dataType).alias(field.name) for field in schema)
    )


def _digest(kind: str) -> Column:
    return F.unhex(F.sha2(F.concat(F.lit(f"{kind}/"), "name"), 256))


def _uuid(number: Column) -> Column:
    return F.format_string("00000000-0000-4000-8000-%012x", number)


def charges(count: int) -> Iterator[Fact]:
    """Yield two authorities, the genesis of a context of them, then `count` signed charges of the first one."""
    first, second = _authorities()
    yield from (first, second)
    yield from _context(first, second, 0, count)


def small_contexts(contexts: range, facts: int) -> Iterator[Fact]:
    """Yield two authorities, then contexts of them with so many facts each: the genesis and signed charges."""
    first, second = _authorities()
    yield from (first, second)
    for number in contexts:
        yield from _context(first, second, number, facts - 1)


def _authorities() -> tuple[Fact, Fact]:
    first, second = (next(iter(chain(number, 0))) for number in (0, 1))
    return first, second


def _context(first: Fact, second: Fact, number: int, charges: int) -> Iterator[Fact]:
    genesis = author.context_genesis([first.namespace.id, second.namespace.id], number.to_bytes(16, "big"))
    yield genesis
    prev, state = ZERO, state_after(EMPTY, first)
    for nonce in range(charges):
        members: dict[str, Any] = {
            "context": genesis.namespace.id, "src": first.namespace.id, "dst": second.namespace.id,
            "epoch": state.epoch, "cost": nonce % 100, "nonce": nonce, "prev": prev,
        }  # fmt: skip
        token = nonce.to_bytes(32, "big")
        made = author.relational(
            genesis.namespace, "FlowCharge", members, order=token, timestamp={"OrderClock": token}
        )
        fact = author.attest(made, first.namespace.id, state.commitment, _KEY)
        yield fact
        prev = fact.body_id
