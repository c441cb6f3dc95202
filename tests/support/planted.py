"""Rows of sound journals, logs and runs, made without Spark, and cases in which one thing of them is wrong."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from itertools import count, pairwise

from strandline.contracts.load import contract
from strandline.core.ed25519 import Ed25519Key
from strandline.core.hashing import quarantine_id
from strandline.core.ids import bucket_of, bucket_of_digest
from strandline.core.notes import TreeHead, log_name, sign
from strandline.dialects.aura.author import generate, generate_contexts
from strandline.dialects.aura.verify import admit
from strandline.dialects.devicelog.author import synthetic as synthetic_devices
from strandline.dialects.devicelog.codec import read_line, write_entry
from strandline.dialects.devicelog.kernels import reduced_rows as device_rows
from strandline.dialects.devicelog.reduce import reduce as reduce_devices
from strandline.dialects.devicelog.reduce import reducer_version
from strandline.dialects.devicelog.types import ForkPolicy
from strandline.dialects.devicelog.verify import forks as device_forks
from strandline.dialects.ipfslog.codec import dag_cbor
from strandline.dialects.ipfslog.reduce import LogConfiguration, forks, reduce_log
from strandline.dialects.ipfslog.types import log_namespace
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import batch, line_hash, render
from strandline.dialects.sdmp.types import Profile
from support.aura_reference import fact_row, reduced_rows
from support.context_reference import by_namespace, contexts_rows
from support.devicelog_cases import Log, compact, ssb_value
from support.devicelog_reference import entry_row as device_row
from support.devicelog_reference import fork_row
from support.ipfslog_cases import AUTHORS, entry, who
from support.log_lakes import entry_row, identity_row, log_rows, manifest, manifest_row
from support.places import BUCKETS
from support.pruning import gc_row, member_rows, pruned_row, snapshot_row
from support.reference import ReferenceLake
from support.trees import tree_root

Rows = dict[str, list[dict]]
WHEN = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
SEEN = {"first_seen": WHEN, "last_seen": WHEN, "times_seen": 1, "first_run": "test", "last_run": "test"}
REDUCED = {"reduced_version": 1, "reduced_at": WHEN, "run_id": "test"}


@dataclass(frozen=True)
class Case:
    """Rows in which one thing is wrong, and the checks that must say so; where all is well, none."""

    number: int
    breaks: frozenset[str]
    make: Callable[[int], Rows]
    spoil: Callable[[Rows], None]

    @property
    def name(self) -> str:
        """What is wrong."""
        return f"{self.make.__name__}: {self.spoil.__name__}"

    @cached_property
    def rows(self) -> Rows:
        """The rows by table."""
        rows = self.make(self.number)
        self.spoil(rows)
        return rows


CASES: list[Case] = []


def planted(make: Callable[[int], Rows], *breaks: str):
    """Add a case: a function that makes one thing wrong in rows that `make` gives."""

    def add(spoil: Callable[[Rows], None]):
        CASES.append(Case(len(CASES), frozenset(breaks), make, spoil))
        return spoil

    return add


def journal(number: int, *, forked: bool = False, waiting: bool = False, profile: Profile = "0.9") -> Rows:
    """A journal of five lines; another line 3 where it is forked; a line that waits and one that was rejected."""
    lines = list(synthetic(1_000 + number, 7, profile))
    node = lines[0].decode()
    files = {"a.journal": render(lines[:5])}
    if forked:
        pair = (synthetic_id("author", 0), synthetic_id("resource", number))
        files["b.jsonl"] = _frame(node, lines[1], next(append(lines[1], [pair])))
    if waiting:
        files["c.jsonl"] = _frame(node, lines[5], lines[6])
        files["d.jsonl"] = _frame(node, lines[4], b"no line")
    lake = ReferenceLake()
    lake.ingest(files)
    state, place = (
        lake.state(node),
        {"namespace": f"node:{node}", "bucket": bucket_of(f"node:{node}", BUCKETS)},
    )
    row = state.journal
    return {
        "node_journal_line": [
            place | _line(node, raw, n, id_, profile) | {"profile": profile, "origin": "received", "run_id": "test"}
            for id_, n in sorted(state.n.items(), key=lambda each: each[1])
            for raw in [state.lines[id_]]
        ],
        "node_journal": [
            place
            | {name: getattr(row, name) for name in (
                "profile", "tip_n", "tip_number", "tip_line", "tip_hash", "fork_count", "common_n", "line_count",
                "pair_count", "duplicate_pairs",
            )}
            | {"leaves": [(leaf.n, leaf.record_id) for leaf in row.leaves]}
        ],
        "namespace_state": [
            place
            | {"dialect": "sdmp", "record_count": row.record_count, "state_hash": bytes.fromhex(row.state_hash)}
            | {"reducer_version": "sdmp/1", **REDUCED}
        ],
        "equivocation": [
            {name: getattr(fork, name) for name in fork.__slots__} | place | {"members": list(fork.members)}
            for fork in state.forks
        ],
        "quarantine": [
            held_row(each.namespace, "sdmp", each.status, each.reasons, each.raw, each.waits_for)
            for each in lake.quarantine.values()
        ],
    }  # fmt: skip


def forked_journal(number: int) -> Rows:
    return journal(number, forked=True)


def waiting_journal(number: int) -> Rows:
    return journal(number, waiting=True)


def log(number: int) -> Rows:
    """A log of three entries: a root, and two of one writer at one time that name it and a missing one: a fork."""
    log_id = f"planted {number}"
    root = entry({"op": "PUT", "key": "a", "value": 1}, log_id=log_id, time=1)
    parents = [root.cid, entry("not held", log_id=log_id, time=1, name="bob").cid]
    pair = [
        entry({"op": "PUT", "key": "b", "value": value}, log_id=log_id, time=2, parents=parents)
        for value in (2, 3)
    ]
    return _log(log_id, [root, *pair], LogConfiguration("keyvalue", ("*",), "config"))


def listed_log(number: int) -> Rows:
    """A log with a manifest's long write list: entries of a listed writer, of a listed key, and of neither."""
    log_id = f"planted {number}"
    first = entry({"op": "PUT", "key": "a", "value": 1}, log_id=log_id, time=1)
    second = entry(
        {"op": "PUT", "key": "b", "value": 1}, log_id=log_id, name="bob", time=2, parents=[first.cid]
    )
    denied = entry(
        {"op": "PUT", "key": "c", "value": 1}, log_id=log_id, name="carol", time=3, parents=[second.cid]
    )
    others = (f"planted {number} {place}" for place in range(500))
    write = sorted([*others, first.writer, f"key:{second.key}"])
    named = manifest(dag_cbor({"type": "ipfs", "write": write}))
    told = LogConfiguration("keyvalue", tuple(write), "manifest", (named.record_id,))
    return _log(log_id, [first, second, denied], told) | {"ipfs_log_manifest": [manifest_row(named)]}


def devices(number: int) -> Rows:
    """A group of two devices with an entry that was edited, a feed of two messages, and an entry that waits."""
    phone, pc = (Log(f"planted/{number}/{name}".encode()) for name in ("phone", "pc"))
    phone.found(f"phone {number}", (pc.key.public,))
    pc.join(phone.entries[0], "pc")
    phone.say("hello", [pc.entries[0]])
    edited = [phone.say(text, prev=phone.entries[1]) for text in ("one", "two")]
    first = ssb_value(pc.key, None, 1, 1, {"type": "post", "text": "Sea ☃"})
    feed = [first, ssb_value(pc.key, first, 2, 2, {"type": "post"})]
    entries = [*phone.entries, *pc.entries, *(read_line(compact(value)) for value in feed)]
    waiting = phone.say("waits", prev=edited[0], dep_ids=(sha256(b"missing").digest(),))
    raw = write_entry(waiting)
    waits = [f"record:{sha256(b'missing').hexdigest()}"]
    row = held_row(waiting.namespace, "devicelog", "deferred", ("DEP_MISSING",), raw, waits)
    return {
        "device_log_entry": [device_row(each, BUCKETS) | {"run_id": "test"} for each in entries],
        "equivocation": [
            {**fork_row(each, BUCKETS), "members": list(each.members)} for each in device_forks(entries)
        ],
        "quarantine": [row | {"record_id": waiting.record_id}],
    }


def identities(number: int) -> Rows:
    """The identities of those who write in these logs."""
    return {"ipfs_log_identity": [identity_row(who(name)) for name in AUTHORS.values()]}


def manifests(number: int) -> Rows:
    """A list of writers."""
    return {
        "ipfs_log_manifest": [
            manifest_row(manifest(dag_cbor({"type": "ipfs", "write": [f"planted {number}"]})))
        ]
    }


def pruned_log(number: int) -> Rows:
    """A log of three entries in a row; the first was overwritten and is pruned."""
    log_id = f"planted {number}"
    made = []
    for time in (1, 2, 3):
        parents = [made[-1].cid] if made else []
        made.append(
            entry({"op": "PUT", "key": "a", "value": time}, log_id=log_id, time=time, parents=parents)
        )
    told = LogConfiguration("keyvalue", ("*",), "config")
    rows = _log(log_id, made, told)
    rows["ipfs_log_entry"] = rows["ipfs_log_entry"][1:]
    rows["snapshot"] = [snapshot_row(log_namespace(log_id), told, reduce_log(made, told), made[:1])]
    rows["pruned_record"] = [pruned_row(made[0], 1)]
    ids = [each.record_id for each in made]
    rows["snapshot_member"] = member_rows(log_namespace(log_id), ids, made[:1])
    rows["gc_run"] = [gc_row(log_namespace(log_id), made[:1])]
    return rows


def covered_log(number: int) -> Rows:
    """A log with two checkpoints of two entries each; the second one has a leaf of a run that was killed, too."""
    log_id = f"planted {number}"
    entries = [entry({"op": "PUT", "key": "a", "value": 1}, log_id=log_id, time=1)]
    for time in (2, 3, 4):
        parents = [entries[-1].cid]
        entries.append(
            entry({"op": "PUT", "key": "a", "value": time}, log_id=log_id, time=time, parents=parents)
        )
    place = {"namespace": log_namespace(log_id), "bucket": bucket_of(log_namespace(log_id), BUCKETS)}
    ids = [*sorted(each.record_id for each in entries[:2]), *sorted(each.record_id for each in entries[2:])]
    leaves = [
        {"attempt": f"run {position // 2}", "position": position, "record_id": each}
        for position, each in enumerate(ids)
    ]
    killed = {"attempt": "killed", "position": 2, "record_id": ids[3]}
    sizes = (0, 2, 4)
    checkpoints = [
        {
            "seq": seq, "dialect": "ipfslog", "size": size, "root": tree_root(ids[:size]), "prev_size": prev,
            "prev_root": tree_root(ids[:prev]), "attempt": f"run {seq - 1}", "record_version": seq, "run_id": "test",
            "landed_at": WHEN,
        }
        for seq, (prev, size) in enumerate(pairwise(sizes), 1)
    ]  # fmt: skip
    head = TreeHead(log_name("planted", place["namespace"]), 4, tree_root(ids))
    key = Ed25519Key(sha256(b"planted").digest())
    checkpoints[1] |= {"origin": "planted", "public_key": key.public, "note": sign(head, key)}
    rows = _log(log_id, entries, LogConfiguration("keyvalue", ("*",), "config"))
    return rows | {
        "checkpoint_leaf": [place | each for each in (*leaves, killed)],
        "checkpoint": [place | each for each in checkpoints],
    }


def runs(number: int) -> Rows:
    """One run of each command that reads records, and of others."""
    counts = {"read": 10, "new": 4, "known": 3, "rejected": 2, "deferred": 1, "readmitted": 7}
    made = [
        run_row("ingest", counts),
        run_row("stream", {"batches": 2, **counts}),
        run_row("sync", {**counts, "missing": 12, "refused": 2}),
        run_row("ingest", counts, outcome="fault"),
        run_row("sync", {**counts, "missing": 20, "refused": 2}, outcome="fault"),
        run_row("sync", {"authored": 3}),
        run_row("reduce", {"reduced": 3}),
        run_row("stream", {"batches": 0, "read": 0, "new": 0}),
        run_row("init", {}),
    ]
    return {"run": [row | {"run_id": f"planted {number} {place}"} for place, row in enumerate(made)]}


def own_node(number: int) -> Rows:
    """What an own node holds and wants, its peer, and a manifest's row of quarantine without a namespace."""
    node, author = synthetic_id("node", 2_000 + number), synthetic_id("author", number)
    place = {"namespace": f"node:{node}", "bucket": bucket_of(f"node:{node}", BUCKETS)}
    resource = {"author_fp": author, "resource_id": synthetic_id("resource", number)}
    return {
        "node_resource": [
            place | resource | {
                "ingest_no": 1, "seq": None, "frame_no": 0, "pos": 0, "frame_hash": bytes(32), "origin": "announced",
            }
        ],
        "wanted_resource": [place | resource | {"named_by": [author], "recorded": True}],
        "quarantine": [held_row(None, "sdmp", "rejected", ("MANIFEST_INVALID",), f"{{{number}".encode(), ())],
    }  # fmt: skip


def _frame(node: str, before: bytes, line: bytes) -> bytes:
    return batch(node, before.partition(b"@")[0].decode(), [line]) + b"\n"


def _line(node: str, raw: bytes, n: int, id_: bytes, profile: Profile) -> dict:
    number, _, rest = raw.decode().partition("@")
    author, _, resource = rest.partition("/")
    parts = (number, author, resource) if n > 1 else (None, None, None)
    names = ("line_number", "author_fp", "resource_id")
    return {
        "n": n,
        "record_id": id_,
        "line_hash": line_hash(raw, profile),
        **dict(zip(names, parts, strict=True)),
    }


def authority(number: int) -> Rows:
    """An authority with leaves whose history forks, with an operation that waits."""
    reduced: Rows = {"authority_leaf": []}
    for seed in count(50_000 + 100 * number):
        if reduced["authority_leaf"]:
            break
        made = list(generate(seed, authorities=1, operations=12, fork_rate=0.5))
        ops, namespace = admit(made).operations, made[0].namespace
        reduced = reduced_rows(namespace, [op.fact for op in ops.values()])
    rows = {table: [_listed(row) for row in each] for table, each in reduced.items()}
    rows["namespace_state"] = [row | REDUCED for row in rows["namespace_state"]]
    lost = made[0].fact_id + number.to_bytes(4, "big")
    waiting = held_row(
        namespace.text, "aura", "deferred", ["PARENT_MISSING"], lost, [f"state:{namespace.text}#00"]
    )
    waiting["record_id"] = sha256(b"strandline/aura/fact/1\0" + lost).digest()
    facts = [_listed(fact_row(op.fact, op)) | {"run_id": "test"} for op in ops.values()]
    return {"aura_fact": facts, "quarantine": [waiting], **rows}


def met_devices(number: int) -> Rows:
    """A group of three devices that met several times, so that their logs have screws."""
    return group_rows(entry for log in synthetic_devices(number, 3, 12, 4) for entry in log.entries())


def group_rows(entries: Iterable, policy: ForkPolicy = "keep-both") -> Rows:
    """A group of device logs, and everything that it reduces to."""
    made = {entry.record_id: entry for entry in entries}
    state = reduce_devices(made.values(), policy)
    namespace = next(iter(made.values())).namespace
    place = {"namespace": namespace, "bucket": bucket_of(namespace, BUCKETS)}
    written = {"run_id": "test", **place}
    rows_of_entries = [
        _listed(_filled("device_log_entry", _attributes(entry) | written)) for entry in made.values()
    ]
    parts = {each: getattr(device_rows, f"{each}_rows") for each in ("view", "screw", "tip", "member")}
    rows = {
        f"device_log_{part}": [_filled(f"device_log_{part}", place | row) for row in rows_of(state)]
        for part, rows_of in parts.items()
    }
    stated = device_rows.state_row(state) | {
        "dialect": "devicelog",
        "reducer_version": reducer_version(policy),
    }
    return {"device_log_entry": rows_of_entries, "namespace_state": [place | stated | REDUCED], **rows}


def _attributes(value: object) -> dict:
    return {each.name: getattr(value, each.name) for each in fields(value)}


def _filled(table: str, row: dict) -> dict:
    """A row with all columns of its table, absent ones null."""
    return {name: row.get(name) for name in contract(table).names}


def context(number: int) -> Rows:
    """A context of three authorities: their facts, and everything that they reduce to."""
    drawn = generate_contexts(60_000 + number, contexts=1, members=3, facts=60, fork_rate=0.4, unmet_rate=0.2)
    return fact_rows(list(drawn))


def fact_rows(made: list) -> Rows:
    """Facts of authorities and contexts, and everything that they reduce to."""
    admission = admit(made)
    distinct = {fact.fact_id: fact for fact in made}.values()
    journals = by_namespace(
        fact for fact in distinct if admission.verdicts[fact.fact_id].status == "accepted"
    )
    rows = contexts_rows(journals, admission.operations.values())
    for namespace, facts in journals.items():
        if namespace.kind == "authority":
            for table, more in reduced_rows(namespace, facts).items():
                rows.setdefault(table, []).extend(more)
    rows["namespace_state"] = [row | REDUCED for row in rows["namespace_state"]]
    rows["aura_fact"] = [
        fact_row(fact, admission.operations.get(fact.fact_id)) | {"run_id": "test"}
        for facts in journals.values()
        for fact in facts
    ]
    return {table: [_listed(row) for row in each] for table, each in rows.items()}


def _listed(row: dict) -> dict:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}


def held_row(namespace, dialect, status, reasons, raw, waits_for) -> dict:
    """A row of `quarantine`, with the id that its content gives it."""
    id_, digest = quarantine_id(dialect, namespace, status, reasons, raw), sha256(raw).digest()
    bucket = bucket_of_digest(id_, BUCKETS) if namespace is None else bucket_of(namespace, BUCKETS)
    return {
        "quarantine_id": id_, "bucket": bucket, "namespace": namespace, "dialect": dialect, "scope": "record",
        "status": status, "reasons": list(reasons), "record_id": digest, "raw": raw, "raw_sha256": digest,
        "raw_bytes": len(raw), "raw_whole": True, "waits_for": list(waits_for), "evidence": "{}", "rules_version": 1,
        **SEEN,
    }  # fmt: skip


def _log(log_id: str, made: list, told: LogConfiguration) -> Rows:
    held = {each.record_id: each for each in made}
    found = log_rows(log_id, held, told, reduce_log(made, told), forks(made))
    return {
        "ipfs_log_entry": [entry_row(each) for each in made],
        **{table: [named_row(table, row) for row in rows] for table, rows in found.items()},
    }


def named_row(table: str, values: tuple) -> dict:
    """A row of a table from the values of the columns that references compare."""
    row = dict(zip(contract(table).compared, values, strict=True))
    row = {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}
    return row | (REDUCED if table == "namespace_state" else {})


def run_row(command: str, counts: dict[str, int], outcome: str = "ok") -> dict:
    """A row of `run` without its id."""
    return {
        "command": command, "version": "0.0.0", "outcome": outcome, "lake": "lake",
        "exit": {"ok": 0, "found": 1, "usage": 2, "fault": 3}[outcome], "started_at": WHEN, "seconds": 1.0,
        "namespaces": 0, "counts": counts, "reasons": {}, "read_versions": {}, "tables": {}, "detail": "{}",
    }  # fmt: skip
