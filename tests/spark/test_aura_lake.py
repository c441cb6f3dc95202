"""The published facts in a lake: their ids, states and bytes; exports, damage, a snapshot in force."""

import gzip
import json
import shutil
from decimal import Decimal

import pytest
import zstandard

from strandline.cli import main
from strandline.core.encoding.strict_json import strict_json
from strandline.core.errors import UsageError
from strandline.dialects import infos
from strandline.dialects.aura import author
from strandline.dialects.aura.codec import parse_fact_json, to_json
from strandline.dialects.aura.spark import export as exports
from strandline.dialects.aura.types import ANY, AddLeaf, Namespace
from strandline.effects.known import current_state
from strandline.frames import file_order
from strandline.pipelines.run_context import NoProgress
from strandline.pipelines.spark_jobs import SparkJobs
from support.aura_cases import (
    K2,
    U,
    after,
    at,
    b32,
    device,
    facts,
    first_context,
    other_authority,
    refused,
    second_context,
    signed,
    states,
    vectors,
)
from support.kills import KilledError, killed_at
from support.lakes import Lake, write_files

VECTORS = vectors()
CONTEXT = second_context()["g"].namespace.text
V = other_authority().namespace.text


def lines(given):
    return b"".join(to_json(fact).encode() + b"\n" for fact in given)


def document(given):
    elements = b",".join(to_json(fact).encode() for fact in given)
    return b'{"namespace":"%s","facts":[%s]}' % (given[0].namespace.text.encode(), elements)


def attested_facts():
    """The published receipt and snapshot of the authority, and a receipt of every kind of time."""
    when = {"ts_ms": 1_700_000_000_000}
    published = (
        {"PhysicalClock": {**when, "uncertainty": 5}},
        {"PhysicalClock": {**when, "uncertainty": None}},
    )
    times = (
        {"PhysicalClock": {"ts_ms": 2**64 - 1, "uncertainty": 5}},
        {"LogicalClock": {"lamport": 7, "vector": [[b"\x01" * 16, 1], [b"\x02" * 16, 2**64 - 1]]}},
        {"Range": {"earliest_ms": 1, "latest_ms": 2, "confidence": "Low"}},
    )
    for number, (received, time) in enumerate((published, *zip(times, times, strict=True))):
        yield author.receipt(
            U, envelope_id=b32(0xE0), authority=U.id, commitment=states()["Kp"].commitment, received=received,
            signer=K2, order=b32(0x30 + number), timestamp=time,
        )  # fmt: skip
    given = {
        "supersedes": [facts()["G"], facts()["A0"]],
        "state_hash": bytes.fromhex(VECTORS["state"]["state_hash"]),
    }
    made = author.snapshot(
        U, sequence=1, order=b32(0x31), timestamp={"Range": {"earliest_ms": 1, "latest_ms": 2, "confidence": "Low"}},
        **given,
    )  # fmt: skip
    yield author.attest(made, U.id, states()["Kp"].commitment, K2)


@pytest.fixture(scope="module")
def published(spark, settings, empty_lakes, tmp_path_factory):
    """A lake with the published facts, delivered in every format and container, contexts before authorities."""
    root = tmp_path_factory.mktemp("published")
    shutil.copytree(empty_lakes[False], root / "lake")
    lake = Lake(spark, settings, root / "lake", dialect="aura")
    one, many = list(facts().values()), [*second_context().values(), first_context()["ContextGenesis"]]
    # A text with what JSON escapes, and what it need not.
    content = {
        "context_id": second_context()["g"].namespace.id,
        "binding_type": 'é"\\\n\x7f\u2028/<',
        "binding_data": b"\x00",
    }
    texts = author.relational(second_context()["g"].namespace, "Generic", content, **at(0x73))
    texts = author.attest(texts, U.id, states()["Kp"].commitment, K2)
    source = write_files(
        root / "in",
        {
            "1.jsonl.gz": gzip.compress(lines([*many[::-1], texts])),
            "2.json": document(one[::-1]),
            "3.cbor.zst": zstandard.compress(
                b"".join(fact.cbor for fact in (other_authority(), *attested_facts()))
            ),
            "4.ndjson": lines(refused().values()),
        },
    )
    report = lake.ingest(source)
    counts = {"read": 51, "new": 45, "known": 0, "rejected": 5, "deferred": 1}
    assert {name: report.counts[name] for name in counts} == counts
    lake.reduce()
    return lake


def test_every_published_fact_is_there_with_its_ids(published):
    rows = {
        id_.hex(): (namespace, body.hex(), op and op.hex(), made and made.hex())
        for id_, namespace, body, op, made in published.rows(
            "aura_fact", "record_id", "namespace", "body_id", "op_id", "new_commitment"
        )
    }
    by_head = {id_[:16]: values for id_, values in rows.items()}
    waiting = {
        (raw.hex(), status): reasons
        for raw, status, reasons in published.rows("quarantine", "record_id", "status", "reasons")
    }
    for vector in VECTORS["chain"]:
        if vector.get("status", "accepted") == "accepted":
            namespace, _, op_id, commitment = by_head[vector["fact_id"]]
            assert namespace == U.text
            if vector.get("op_id") is not None:
                assert op_id == vector["op_id"]
                assert commitment.startswith(vector["commitment"])
        else:
            [(status, reasons)] = [
                (status, reasons)
                for (id_, status), reasons in waiting.items()
                if id_.startswith(vector["fact_id"])
            ]
            assert (status, reasons) == (vector["status"], (vector["reason"],))
    for _, _, _, fact_id, body_id in VECTORS["context"]:
        namespace, body, *_ = rows[fact_id]
        assert (namespace, body[:8]) == (CONTEXT, body_id)
    assert rows[VECTORS["v"]["fact_id"]][::2] == (V, VECTORS["v"]["op_id"])
    assert {VECTORS["others"]["receipt"], VECTORS["others"]["snapshot"]} <= rows.keys()
    first = first_context()["ContextGenesis"]
    assert rows[first.fact_id.hex()][1] == VECTORS["bodies"]["ContextGenesis"]


def test_the_state_is_the_published_one(published):
    names = (
        "namespace", "epoch", "threshold", "policy", "device_count", "guardian_count", "next_leaf_id", "min_signers",
        "height", "key_below_policy", "applied_count", "superseded_count", "orphaned_count", "fork_count",
    )  # fmt: skip
    values = {row[0]: row[1:] for row in published.rows("authority_state", *names)}
    one, six = Decimal(1), Decimal(6)
    assert values == {
        U.text: (one, 2, "All", 2, 0, 2, 2, six, False, 6, 1, 2, 1),
        V: (Decimal(0), 1, "Any", 0, 0, 0, 1, one, False, 1, 0, 0, 0),
    }
    hashes = dict(published.rows("namespace_state", "namespace", "state_hash"))
    assert {name: value.hex() for name, value in hashes.items() if name.startswith("authority:")} == {
        U.text: VECTORS["state"]["state_hash"],
        V: VECTORS["v"]["state_hash"],
    }
    names = {fact.op_id: name for name, fact in facts().items()}
    outcomes = {
        names[op_id]: (outcome, count, siblings, lost_to and names[lost_to])
        for namespace, op_id, outcome, count, siblings, lost_to in published.rows(
            "attested_op", "namespace", "op_id", "outcome", "fact_count", "siblings", "lost_to"
        )
        if namespace == U.text
    }
    lost = {"X": "P", "Rx": "X", "Kx": "X"}
    assert outcomes == {
        vector["name"]: (
            vector["outcome"], 2 if vector["name"] == "A0" else 1, 2 if vector["name"] in "PX" else 1,
            lost.get(vector["name"]),
        )
        for vector in VECTORS["chain"][:9]
    }  # fmt: skip
    assert published.rows("authority_leaf", "leaf_id", "position", "device_id", "public_key") == [
        (0, 0, "d0d0d0d0-d0d0-d0d0-d0d0-d0d0d0d0d0d0", b32(0x33)),
        (1, 1, "d1d1d1d1-d1d1-d1d1-d1d1-d1d1d1d1d1d1", b32(0x22)),
    ]


def test_a_fork_tells_who_won_and_how_many_signed_twice(published):
    rows = published.asked(
        "SELECT op_id, is_winner, outcome, min_signers, max_signers, signed_twice, attributable, member_count "
        "FROM authority_fork JOIN equivocation USING (namespace) ORDER BY op_id"
    )
    p, x = facts()["P"].op_id.hex(), facts()["X"].op_id.hex()
    assert rows == [
        (x, False, "superseded", 2, 3, 1, True, 2),
        (p, True, "applied", 2, 3, 1, True, 2),
    ]


def test_the_bytes_of_every_fact_are_built_again_from_its_columns(published):
    names = (
        "namespace",
        "order_token",
        "timestamp_json",
        "content_json",
        "attest",
        "fact_cbor",
        "record_id",
        "body_id",
    )
    kinds = set()
    for namespace, order, timestamp, content, attest, cbor, id_, body in published.rows("aura_fact", *names):
        fact = parse_fact_json(
            {
                "namespace": namespace,
                "order": order.hex(),
                "timestamp": strict_json(timestamp.encode()),
                "content": strict_json(content.encode()),
                "attest": [
                    {"authority": authority, "commitment": commitment.hex(), "sig": sig.hex()}
                    for authority, commitment, sig in attest
                ],
            }
        )
        assert (fact.cbor, fact.fact_id, fact.body_id) == (cbor, id_, body)
        # The text is the shortest: no blanks, only quotes, backslashes and controls are escaped.
        assert content == json.dumps(json.loads(content), separators=(",", ":"), ensure_ascii=False)
        kinds |= {fact.variant, *fact.value["timestamp"]}
    assert kinds >= {
        "Genesis", "AddLeaf", "ChangePolicy", "RotateEpoch", "RekeyLeaf", "Snapshot", "RendezvousReceipt", "Capability",
        "FlowCharge", "Generic", "OrderClock", "PhysicalClock", "LogicalClock", "Range",
    }  # fmt: skip


def test_an_empty_lake_takes_every_format_of_export_to_the_same_sets(
    published, new_lake, tmp_path, monkeypatch
):
    lake, out, stated = new_lake(dialect="aura"), tmp_path / "out", {}
    out.mkdir()
    for name, form, namespaces in (
        ("one.json", None, (U.text,)),
        ("facts.bin", "cbor", (V, first_context()["ContextGenesis"].namespace.text)),
        ("context.jsonl", None, (CONTEXT,)),
    ):
        report = published.export(out / name, *namespaces, form=form)
        assert report.members["form"] == (form or {"one.json": "json"}.get(name, "lines"))
        taken = lake.ingest(out / name, require_manifest=True, format=form)
        assert (taken.counts["new"], taken.counts["read"]) == (report.counts["records"],) * 2
        stated |= {each["namespace"]: each["set_hash"] for each in report.members["sets"]}
    again = lake.export(out / "again.cbor", *stated)
    assert {each["namespace"]: each["set_hash"] for each in again.members["sets"]} == stated
    assert lake.rows("aura_fact") == published.rows("aura_fact")
    # The format that is asked for counts, not the name.
    published.export(out / "again.jsonl", U.text, form="json")
    assert (out / "again.jsonl").read_bytes() == (out / "one.json").read_bytes()
    # Of a large namespace the driver holds a small part of the file at a time, and the file is the same.
    partitions = []

    def counted(*given):
        placed = file_order.in_file_order(*given)
        partitions.append(placed.rdd.getNumPartitions())
        return placed

    monkeypatch.setattr(exports, "in_file_order", counted)
    monkeypatch.setattr(exports, "FEW_STORED_BYTES", 0)
    monkeypatch.setattr(file_order, "PARTITION_BYTES", 100)
    published.export(out / "parts.jsonl", CONTEXT)
    assert partitions[0] > 8
    assert (out / "parts.jsonl").read_bytes() == (out / "context.jsonl").read_bytes()


def test_what_a_format_cannot_hold_is_refused_and_leaves_no_file(published, tmp_path, monkeypatch):
    def refused_as(code, *namespaces, out="a.json", form=None):
        with pytest.raises(UsageError) as wrong:
            published.export(tmp_path / out, *namespaces, form=form)
        assert wrong.value.code == code

    refused_as("EXPORT_ONE_NAMESPACE", U.text, V)
    refused_as("OUT_NAME", U.text, out="a.car")
    refused_as("FORMAT_UNKNOWN", U.text, form="car")
    monkeypatch.setattr("strandline.dialects.aura.spark.export.MAX_FILE_BYTES", 5_000)
    refused_as("EXPORT_TOO_LARGE", U.text)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def copied(published, tmp_path):
    """A lake of the same rows that a test may damage: its invariants are not checked at the end."""
    shutil.copytree(published.path, tmp_path / "copied")
    return Lake(published.spark, published.settings, tmp_path / "copied", dialect="aura")


def test_a_stored_commitment_that_somebody_changed_is_found_and_named(copied, tmp_path):
    expected = {table: copied.rows(table) for table in ("authority_state", "attested_op", "authority_leaf")}
    copied.damage(
        f"UPDATE aura_fact SET new_commitment = unhex('{'07' * 32}') "
        f"WHERE op_id = unhex('{facts()['Kp'].op_id.hex()}')"
    )
    with pytest.raises(AssertionError, match="authorities_agree_with_facts"):
        copied.assert_sound()
    report = copied.reduce(full=True)
    assert (report.outcome, report.exit) == ("found", 1)
    assert report.members["damaged"] == {"aura_fact": [U.text]}
    assert {table: copied.rows(table) for table in expected} == expected
    # A plain reduction finds it, too, when the authority has something new.
    late = signed("Kp", AddLeaf(device(2, 0x55), 0), 0x60, K2)
    copied.ingest(write_files(tmp_path / "late", {"late.jsonl": lines([late])}))
    report = copied.reduce()
    assert (report.exit, report.members["damaged"]) == (1, {"aura_fact": [U.text]})
    [state] = [row for row in copied.rows("authority_state", "namespace", "commitment") if row[0] == U.text]
    assert state[1] == after(states()["Kp"], late).commitment


def test_a_snapshot_in_force_settles_the_forks_before_it(copied, tmp_path):
    siblings = [signed("A0", AddLeaf(device(1, 0x30 + number), 0), 0x60 + number) for number in range(8)]
    late = max(siblings, key=lambda fact: fact.op_id)
    whole = author.snapshot(
        U,
        sequence=1,
        state_hash=bytes.fromhex(VECTORS["state"]["state_hash"]),
        supersedes=facts().values(),
        **at(0x32),
    )
    in_force = author.attest(whole, U.id, states()["Kp"].commitment, K2)
    assert in_force.fact_id.hex() == VECTORS["su"]
    before = copied.rows("authority_state")
    names = ("namespace", "commitment", "height", "state_hash")

    def state():
        [row] = [row for row in copied.rows("authority_state", *names) if row[0] == U.text]
        return row[1:]

    # The greatest id wins until the snapshot comes.
    copied.ingest(write_files(tmp_path / "late", {"late.jsonl": lines([late])}))
    copied.reduce()
    assert state()[0] == after(states()["A0"], late).commitment
    copied.ingest(write_files(tmp_path / "snapshot", {"snapshot.jsonl": lines([in_force])}))
    # What charges budgets knows the state before `reduce` has judged the snapshot.
    version = copied.versions()["aura_fact"]
    with SparkJobs(NoProgress()) as jobs:
        assert current_state(copied.store(), U, version, jobs).commitment == states()["Kp"].commitment
    copied.reduce()
    assert state() == (
        states()["Kp"].commitment,
        Decimal(6),
        bytes.fromhex(VECTORS["state"]["state_hash"]),
    )
    assert len(copied.rows("authority_state")) == len(before)
    outcomes = dict(copied.rows("attested_op", "op_id", "outcome"))
    assert (outcomes[late.op_id], outcomes[facts()["A1"].op_id]) == ("superseded", "applied")
    rivals = (late, *(facts()[name] for name in ("A1", "P", "X")))
    winners = copied.asked("SELECT op_id, is_winner, signed_twice FROM authority_fork")
    assert sorted(winners) == sorted((each.op_id.hex(), each in rivals[1:3], 1) for each in rivals)
    judged = ("snapshot_id", "origin", "status", "record_count")
    # The published one states a hash that is not that of what it lists.
    false = bytes.fromhex(VECTORS["others"]["snapshot"])
    expected = [(in_force.fact_id, "fact", "in_force", 9), (false, "fact", "unsound", 2)]
    assert sorted(copied.rows("snapshot", *judged)) == sorted(expected)
    # It is judged again from its facts, and the state does not depend on its stored row.
    copied.damage("DELETE FROM snapshot")
    report = copied.reduce(full=True)
    assert (report.exit, report.members["differences"]) == (1, {"snapshot": [U.text]})
    assert sorted(copied.rows("snapshot", *judged)) == sorted(expected)
    # Nobody knows the signers of a state whose operation is gone.
    copied.damage(f"DELETE FROM attested_op WHERE op_id = unhex('{facts()['A0'].op_id.hex()}')")
    signed_twice = copied.asked("SELECT op_id, min_signers, signed_twice FROM authority_fork")
    after_a0 = {(each.op_id.hex(), None, None) for each in rivals[:2]}
    assert {*signed_twice} == after_a0 | {(each.op_id.hex(), 2, 1) for each in rivals[2:]}


@pytest.mark.slow
def test_runs_that_are_killed_at_each_write_end_with_the_tables_of_an_undisturbed_one(published, new_lake):
    lake, source = new_lake(dialect="aura"), published.path.parent / "in"
    for point in ("ingest.read", "ingest.records", "ingest.quarantine"):
        with pytest.raises(KilledError):
            lake.ingest(source, faults=killed_at(point))
    lake.ingest(source)
    for table in (*infos()["aura"].reduced_tables, "before_state"):
        with pytest.raises(KilledError):
            lake.reduce(faults=killed_at(f"reduce.{table}"))
    lake.reduce()
    assert lake.tables() == published.tables()


MOVED = Namespace("authority", b"\x0a" * 16)


@pytest.mark.parametrize("command", ["ingest", "stream"])
def test_pins_that_contradict_the_lake_end_the_command_with_2_before_it_writes(
    copied, tmp_path, capsys, command
):
    copied = Lake(copied.spark, copied.settings, copied.path, dialect="aura")
    own = author.genesis(
        K2, min_signers=1, max_signers=1, policy=ANY, salt=bytes(16), signer_count=1, **at(0x66)
    )
    moved = author.signed_op(MOVED, own.attested.op, signer=K2, signer_count=1, **at(0x66))
    source = write_files(tmp_path / "moved", {"moved.jsonl": lines([moved])})
    pins, before = tmp_path / "pins.json", copied.versions()

    def run(**pinned):
        pins.write_text(json.dumps({MOVED.text: moved.op_id.hex(), **pinned}))
        words = [
            command,
            str(source),
            "--dialect",
            "aura",
            "--aura-pins",
            str(pins),
            "--lake",
            str(copied.path),
        ]
        more = (
            ["--checkpoint", str(tmp_path / "checkpoint"), "--available-now"] if command == "stream" else []
        )
        return main([*words, *more]), capsys.readouterr().err

    for namespace in (U.text, CONTEXT):
        code, told = run(**{namespace: "07" * 32})
        assert code == 2
        assert namespace in told
        assert str(pins) in told
        assert copied.versions() == before
    assert run(**{U.text: facts()["G"].op_id.hex()})[0] == 0
    assert ("pin", MOVED.text) in copied.rows("aura_fact", "anchor", "namespace")
