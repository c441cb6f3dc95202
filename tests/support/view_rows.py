"""Rows of every table from which the views must tell all that they can: what the references make of records."""

import random
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from strandline.contracts.load import contract
from strandline.dialects import names
from strandline.dialects.aura.reduce.skeletons import encode_op_skeleton
from strandline.dialects.aura.types import Fact
from strandline.dialects.aura.verify import OpSkeleton
from strandline.dialects.devicelog.codec import read_line
from strandline.dialects.devicelog.verify import forks as device_forks
from support import devicelog_corpus
from support.aura_cases import b32, facts, first_context, other_authority, second_context
from support.context_cases import of_context
from support.device_groups import group
from support.devicelog_cases import compact, feed
from support.devicelog_reference import fork_row
from support.log_lakes import ReferenceLogs, entry_row
from support.places import BUCKETS
from support.planted import (
    Rows,
    authority,
    context,
    fact_rows,
    group_rows,
    held_row,
    journal,
    named_row,
    own_node,
    pruned_log,
    run_row,
)
from support.planted_cases import CASES
from support.pruning import gc_row, snapshot_id
from support.random_logs import random_log

NUMBER = 90
"""The rows that are planted for checks have smaller numbers."""
AGES = (timedelta(minutes=5), timedelta(hours=5), timedelta(days=5), timedelta(days=20), timedelta(days=90))
"""A time in each of the spans that `quarantine_age` tells apart."""
DELIVERED = {"source": "in/a", "source_offset": 7, "landed_at": datetime(2026, 1, 31, 9, tzinfo=UTC)}


def rows() -> Rows:
    """All rows by table, with the place and time of their delivery."""
    found: Rows = {}
    for part in _parts():
        for table, more in part.items():
            given = {name: value for name, value in DELIVERED.items() if name in contract(table).names}
            found.setdefault(table, []).extend(given | row for row in more)
    return found


def _parts() -> Iterator[Rows]:
    for number, make in enumerate(dict.fromkeys(case.make for case in CASES), NUMBER + 100):
        yield make(number)
    yield journal(NUMBER + 1, profile="0.12")
    yield _behind(journal(NUMBER + 2))
    yield _lacking(journal(NUMBER + 3))
    yield from (authority(number) for number in range(NUMBER + 1, NUMBER + 4))
    yield _damaged(authority(NUMBER + 4))
    yield from (context(number) for number in range(NUMBER, NUMBER + 4))
    yield _pruned(context(NUMBER + 4))
    yield fact_rows([*facts().values(), other_authority(), *second_context().values(), *_two_checkpoints()])
    yield fact_rows([*first_context().values()])
    waits = ("PARENT_MISSING",), b"waits", (f"record:{'0' * 64}",)
    yield {"quarantine": [held_row(second_context()["g"].namespace.text, "aura", "deferred", *waits)]}
    yield group_rows(group("every status").entries())
    yield group_rows(_random_group(12), "freeze")
    for entries in map(_random_group, range(12)):
        forks = [{**fork_row(each, BUCKETS), "members": list(each.members)} for each in device_forks(entries)]
        waits = held_row(entries[0].namespace, "devicelog", "deferred", ("DEP_MISSING",), b"waits", ())
        yield group_rows(entries) | {"equivocation": forks, "quarantine": [waits]}
    first, _, third = feed()[:3]
    yield group_rows(read_line(compact(value)) for value in (first, third))
    yield from map(_random_log, range(60))
    yield {"quarantine": list(_held())}
    yield {"run": list(_runs())}
    yield _collections(pruned_log(NUMBER + 1))


def _two_checkpoints() -> Iterator[Fact]:
    """Two checkpoints of one generation, attested by one authority."""
    for number in (1, 2):
        yield of_context(
            "AmpChannelCheckpoint", number, channel=b32(0xDE), chan_epoch=0, base_gen=7, window=1024,
            ck_commitment=b32(number), skip_window_override=None,
        )  # fmt: skip


def _behind(rows: Rows) -> Rows:
    """A journal that a local node has not recorded, that repeats a pair, and whose last delivery broke."""
    namespace = rows["namespace_state"][0]["namespace"]
    [local] = own_node(NUMBER + 1)["wanted_resource"]
    peer = {
        "namespace": local["namespace"], "bucket": local["bucket"], "peer": namespace.removeprefix("node:"),
        "user_fp": "0" * 64, "last_known_n": 1, "last_known_line": "x", "last_known_hash": "0" * 64, "recorded_n": 1,
        "unrecorded": 2, "deferred_lines": 0, "diverged": False,
    }  # fmt: skip
    broken = held_row(namespace, "sdmp", "rejected", ("LINE_NUMBER_MISMATCH",), b"broken", ())
    broken["evidence"] = '{"LINE_NUMBER_MISMATCH":{"actual":"1","expected":"0","position":3}}'
    repeated = [row | {"duplicate_pairs": 1} for row in rows["node_journal"]]
    return rows | {
        "node_journal": repeated, "peer_status": [peer], "quarantine": [broken],
    }  # fmt: skip


def _lacking(rows: Rows) -> Rows:
    """The journal of a local node that lacks a pair which a peer names."""
    [state], [wanted] = rows["namespace_state"], own_node(NUMBER + 3)["wanted_resource"]
    place = {name: state[name] for name in ("namespace", "bucket")}
    return rows | {"wanted_resource": [wanted | place | {"recorded": False}]}


def _damaged(rows: Rows) -> Rows:
    """Operations as only a damaged table can hold them: one that does not fit its state, one that nothing leads to."""
    first = next(row for row in rows["attested_op"] if row["siblings"] > 1)
    others = [
        first
        | {
            "op_id": bytes([number]) * 32,
            "fact_id": bytes([number]) * 32,
            "outcome": outcome,
            "reasons": reasons,
        }
        for number, (outcome, reasons) in enumerate((("invalid", ["OP_INVALID"]), ("unreachable", [])))
    ]
    return rows | {"attested_op": [*rows["attested_op"], *others]}


def _pruned(rows: Rows) -> Rows:
    """A context whose members have no operation left but as a skeleton, also where several are at one height."""
    pruned = [
        {name: op[name] for name in ("namespace", "bucket")}
        | {"record_id": op["fact_id"], "form": "remove", "generation": op["height"]}
        | {
            "skeleton": encode_op_skeleton(
                OpSkeleton(*(_plain(op[each.name]) for each in fields(OpSkeleton)))
            )
        }
        for op in rows["attested_op"]
    ]
    return rows | {"attested_op": [], "pruned_record": pruned}


def _plain(value: object) -> object:
    return int(value) if isinstance(value, Decimal) else value


def _random_group(seed: int) -> list:
    return devicelog_corpus.Group(random.Random(seed), f"views/{seed}").entries(30)


def _random_log(seed: int) -> Rows:
    log, reference = random_log(seed, 1), ReferenceLogs()
    if log.told is not None:
        reference.told[log.log_id] = log.told
    entries = [each for batch in log.batches for each in batch]
    reference.enter(entries, log.manifests)
    stored = [entry_row(each) for each in reference.entries[log.log_id].values()]
    found = {table: [named_row(table, row) for row in rows] for table, rows in reference.tables().items()}
    return {"ipfs_log_entry": stored, **found}


def _held() -> Iterator[dict]:
    """Records of each dialect that wait or were rejected, some for long, some of which nobody knows whose they are."""
    now = datetime.now(UTC)
    for dialect in names():
        for number, age in enumerate(AGES):
            for status, waits_for in (("rejected", ()), ("deferred", (f"record:{'0' * 64}",))):
                raw = f"{dialect} {number} {status}".encode()
                namespace = None if number == 0 else f"{dialect}:views {number}"
                row = held_row(namespace, dialect, status, ("JSON_INVALID",), raw, waits_for)
                yield row | {"first_seen": now - age, "source": f"in/{dialect}", "source_offset": number + 1}


def _runs() -> Iterator[dict]:
    """A run of each outcome."""
    counts = {"read": 10, "new": 4, "known": 3, "rejected": 2, "deferred": 1, "readmitted": 7}
    for outcome in ("ok", "found", "usage", "fault"):
        error = ("CODE", "message", "next") if outcome in ("usage", "fault") else None
        row = run_row("ingest", counts, outcome)
        yield row | {"run_id": f"views {outcome}", "dialect": "sdmp", "namespaces": 2, "error": error}


def _collections(rows: Rows) -> Rows:
    """Snapshots of each status in one log, and logs whose collections ended in each way."""
    [applied], [state] = rows["snapshot"], rows["namespace_state"]
    state["configuration"] = state["configuration"].replace('"config"', '"snapshot"')
    namespace = applied["namespace"]
    later = [
        applied | {"snapshot_id": snapshot_id(namespace, number), "sequence": Decimal(number), "base": base}
        for number, base in ((2, None), (3, applied["snapshot_id"]))
    ]
    ended = [
        gc_row(f"log:views {outcome}", []) | {
            "outcome": outcome, "reason": "VIEWS", "holds": {"WINDOW": 3}, "kinds": {"entry": 2},
        }
        for outcome in ("WHAT_IF", "PROVED", "DONE", "REFUSED", "LOST_RACE", "VOID")
    ]  # fmt: skip
    skipped = [row | {"skip_window": 4} for row in later]
    return rows | {"snapshot": [applied, *skipped], "gc_run": [*rows["gc_run"], *ended]}
