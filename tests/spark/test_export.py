"""What `export` writes gives an empty lake the same sets and states; what it cannot write it refuses by name."""

import base64
import json
import os
import random

import libipld
import pytest
from deltalake import DeltaTable

from strandline.cli import main
from strandline.core.errors import UsageError
from strandline.core.hashing import set_hash
from strandline.dialects.ipfslog.author import Log, to_car
from strandline.dialects.ipfslog.codec import canonical_cid, parse_cid, read_documents
from strandline.dialects.ipfslog.spark import export as log_files
from strandline.dialects.ipfslog.types import HeadClaim
from strandline.dialects.sdmp.codec import parse_source, render
from strandline.dialects.sdmp.spark import export as journal_files
from strandline.pipelines import export
from strandline.pipelines.faults import Faults
from support.ipfslog_cases import AUTHORS, LOG, dag, entry, who
from support.lakes import Lake, write_files
from support.log_lakes import enter, enter_identities
from support.random_journals import corpus, path_to, tree
from support.random_logs import random_log

SDMP = ("node_journal_line",)
LOGS = ("ipfs_log_entry", "ipfs_log_identity", "ipfs_log_manifest")
ODD = (
    "a b%2F",
    "/",
    "é~+%",
    "..",
    "%",
    "'; DROP TABLE run --",
    "x" * 300,
    "\u2028\U0001f600",
    "log:",
    "node",
)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch) -> None:
    """Cut what is written into many pages and partitions, as much data is."""
    monkeypatch.setattr(journal_files, "LINES_PER_PAGE", 3)
    monkeypatch.setattr(log_files, "PARTITION_BYTES", 20_000)


def of(lake: Lake, dialect: str) -> Lake:
    """The same lake, for files of a dialect."""
    return Lake(lake.spark, lake.settings, lake.path, dialect=dialect)


def held(lake: Lake, table: str) -> dict[str, set[bytes]]:
    """The ids of the records of each namespace."""
    found: dict[str, set[bytes]] = {}
    for namespace, record_id in lake.rows(table, "namespace", "record_id"):
        found.setdefault(namespace, set()).add(record_id)
    return found


def refused(call, *args, **more) -> UsageError:
    with pytest.raises(UsageError) as caught:
        call(*args, **more)
    return caught.value


def blocks_of(path) -> list[tuple[bytes, bytes]]:
    """The blocks of a CAR, each with its address."""
    documents = read_documents(path.read_bytes(), "car")
    return [(each.claimed, each.block) for each in documents if not isinstance(each, HeadClaim)]


def killed() -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_an_empty_lake_gets_the_same_sets_and_states_from_what_is_exported(new_lake, tmp_path):
    lake = new_lake(profile="compat")
    logs = of(lake, "ipfslog")
    lake.ingest(write_files(tmp_path / "in", corpus(seed=7, journals=40, runs=1)[0]))
    made = [random_log(seed, 1) for seed in range(20)]
    odd = [Log(name, [], who("alice", variant), variant) for name in ODD for variant in ("v2",)]
    for number, log in enumerate(odd):
        for each in range(1 + number % 3):
            log.append({"op": "ADD", "value": each})
    entries = [each for log in made for each in log.batches[0]] + [each for log in odd for each in log.values]
    identities = [who(name, variant).record for name in AUTHORS.values() for variant in ("v2", "core2")]
    car = to_car((), entries, identities, [each for log in made for each in log.manifests])
    logs.ingest(write_files(tmp_path / "logs", {"logs.car": car}), fail_on_reject=True)
    lake.reduce()
    journals, of_logs = held(lake, "node_journal_line"), held(lake, "ipfs_log_entry")
    out = tmp_path / "out"
    out.mkdir()
    frames = lake.export(out / "all.jsonl", *journals)
    # As their dialect spells them.
    car = lake.export(out / "all.car", *(log.log_id for log in made), *ODD)
    for report, sets in ((frames, journals), (car, of_logs)):
        assert report.members["sets"] == [
            {"namespace": name, "records": len(ids), "set_hash": set_hash(ids).hex()}
            for name, ids in sorted(sets.items())
        ]
        assert report.namespaces == len(sets)
    assert (frames.members["form"], car.members["form"]) == ("frames", "CAR")
    assert frames.counts["records"] == sum(map(len, journals.values()))
    assert sorted(os.listdir(out)) == [
        "all.car",
        "all.car.manifest.json",
        "all.jsonl",
        "all.jsonl.manifest.json",
    ]

    other = new_lake("other", profile="compat")
    landed = other.ingest(out / "all.jsonl", require_manifest=True, fail_on_reject=True)
    assert (landed.exit, landed.counts["complete"], landed.counts.get("since_mismatch", 0)) == (0, 1, 0)
    assert landed.counts["read"] == landed.counts["new"] == frames.counts["records"]
    others = of(other, "ipfslog")
    landed = others.ingest(out / "all.car", require_manifest=True, fail_on_reject=True)
    assert (landed.exit, landed.counts["complete"], landed.counts["claims_missing"]) == (0, 1, 0)
    assert landed.counts["read"] == landed.counts["new"] == car.counts["records"]
    assert landed.counts["claims_known"] == car.counts["roots"] == car.counts["heads"]
    other.reduce()
    for table in (*SDMP, "ipfs_log_entry", "namespace_state", "ipfs_log_head", "node_journal"):
        assert other.rows(table) == lake.rows(table), table
    for table in LOGS[1:]:
        assert set(other.rows(table)) <= set(lake.rows(table)), table
    assert held(other, "ipfs_log_manifest").keys() == {"log:"}
    # So it is when a node keeps the blocks in files.
    for address, block in blocks_of(out / "all.car"):
        name = base64.b32encode(address[-34:]).decode().rstrip("=")
        (tmp_path / "node" / name[-3:-1]).mkdir(parents=True, exist_ok=True)
        (tmp_path / "node" / name[-3:-1] / f"{name}.data").write_bytes(block)
    assert main(["unpack", str(tmp_path / "node"), "--out", str(tmp_path / "node.car"), "--quiet"]) == 0
    assert sorted(blocks_of(tmp_path / "node.car")) == sorted(blocks_of(out / "all.car"))


def reads_as_published(path, entries, identities, heads) -> None:
    """An independent reader of CARs finds the blocks under their addresses, and as roots the heads."""
    header, blocks = libipld.decode_car(path.read_bytes())
    assert header == {"version": 1, "roots": [parse_cid(each.cid).raw for each in heads]}
    cids = [each.cid for each in entries] + [canonical_cid(each.record.digest) for each in identities]
    assert blocks.keys() == {parse_cid(cid).raw for cid in cids}
    for each in entries:
        found = blocks[parse_cid(each.cid).raw]
        assert (found["id"], found["sig"], found["clock"]["time"]) == (each.log_id, each.sig, each.clock_time)


def test_a_journal_comes_back_byte_for_byte_a_fork_by_branches_an_earlier_run_as_it_was_and_no_wrong_call_writes(
    new_lake, monkeypatch, tmp_path
):
    lake = new_lake()
    logs, out = of(lake, "ipfslog"), tmp_path / "out"
    out.mkdir()
    rng = random.Random(3)
    trees = [tree(rng, number) for number in range(40)]
    straight = next(lines for lines in trees if len(lines) > 9 and path_to(lines, lines[-1]) == lines)
    forked = next(lines for lines in trees if len(leaves(lines)) > 2)
    node, other = f"node:{straight[0].decode()}", forked[0].decode()
    files = {f"{at}.journal": render(path_to(forked, leaf)) for at, leaf in enumerate(leaves(forked))}
    landed = lake.ingest(write_files(tmp_path / "in", files | {"straight.journal": render(straight[:-3])}))
    enter_identities(logs)
    older = [dag("v2")[name] for name in ("a1", "b1", "a2")]
    enter(logs, [*older, entry("one", "v2", log_id=straight[0].decode())])
    run = lake.reduce().run_id

    report = lake.export(out / "then.journal", node)
    assert report.members["form"] == "text journal"
    assert (out / "then.journal").read_bytes() == render(straight[:-3])
    logs.export(out / "then.car", LOG)
    reads_as_published(out / "then.car", older, [who("alice"), who("bob")], heads=[older[2], older[1]])
    report = lake.export(out / "forked.jsonl", f"node:{other}")
    assert (report.members["form"], report.counts["forked"]) == ("frames", 1)
    source = parse_source((out / "forked.jsonl").read_bytes())
    assert not source.damages
    batches = [frame.elements for _, frame in source.frames]
    assert max(map(len, batches)) == 3
    assert sorted(line for lines in batches for line in lines) == sorted(forked)
    for lines in batches:
        assert path_to(forked, lines[-1])[-len(lines) :] == list(lines)
    assert_heads_stated_up_to_their_limit(lake, out, f"node:{other}", len(leaves(forked)), monkeypatch)

    with pytest.raises(KeyboardInterrupt):
        lake.export(out / "killed.journal", node, faults=Faults("export.manifest", fire=killed))
    assert not (out / "killed.journal").exists()
    lake.export(out / "killed.journal", node)
    assert (out / "killed.journal").read_bytes() == (out / "then.journal").read_bytes()

    # More comes; what the run read is written as it was.
    lake.ingest(write_files(tmp_path / "more", {"straight.journal": render(straight)}))
    enter(logs, dag("v2").values())
    lake.export(out / "now.journal", node)
    assert (out / "now.journal").read_bytes() == render(straight)
    assert lake.export(out / "same.journal", node, as_of=run).members["as_of"] == run
    assert (out / "same.journal").read_bytes() == render(straight[:-3])
    logs.export(out / "same.car", LOG, as_of=run)
    assert (out / "same.car").read_bytes() == (out / "then.car").read_bytes()

    # The first part of a name will do where no other begins so.
    lake.export(out / "short.journal", other[:20])
    lake.export(out / "whole.journal", f"node:{other}")
    assert (out / "short.journal").read_bytes() == (out / "whole.journal").read_bytes()

    there = sorted(os.listdir(out))
    new = out / "new.journal"
    for names, path, as_of, code, said in (
        (["nobody at all"], new, None, "NAMESPACE_UNKNOWN", "status --all"),
        ([straight[0].decode()[:9]], new, None, "NAMESPACE_AMBIGUOUS", "give a longer prefix"),
        ([other[:-1] + ("0" if other[-1] != "0" else "1")], new, None, "NAMESPACE_UNKNOWN", f"node:{other}?"),
        (["log:"], new, None, "NAMESPACE_UNKNOWN", "log:strand?"),
        ([straight[0].decode()], new, None, "NAMESPACE_AMBIGUOUS", "include the kind"),
        ([LOG, other], new, None, "DIALECTS_DIFFER", "its own file"),
        ([other], out / "then.car", None, "OUT_EXISTS", "new file"),
        ([other], out, None, "OUT_IS_FOLDER", "name a file"),
        ([other], out / "x.manifest.json", None, "OUT_NAME", "another file"),
        ([LOG], out / "x.json", None, "OUT_NAME", "x.car"),
        ([other], new, "20260131T093000Z-0123456789ab", "RUN_UNKNOWN", "run"),
        ([other], new, run[:-1] + "x", "RUN_UNKNOWN", f"did you mean {run}?"),
        ([other], new, landed.run_id, "RUN_READ_NOTHING", "read_versions"),
    ):
        error = refused(lake.export, path, *names, as_of=as_of)
        assert (error.code, said in error.next) == (code, True), (names, error)
    absent = Lake(lake.spark, lake.settings, tmp_path / "absent")
    assert refused(absent.export, new, node).code == "LAKE_NOT_FOUND"
    assert not (tmp_path / "absent").exists()

    table = DeltaTable(lake.path / "node_journal_line")
    table.optimize.compact()
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert refused(lake.export, new, node, as_of=run).code == "VERSION_VACUUMED"
    assert sorted(os.listdir(out)) == there
    lake.export(new, node)
    assert new.read_bytes() == render(straight)


def assert_heads_stated_up_to_their_limit(lake, out, namespace: str, heads: int, monkeypatch) -> None:
    """A manifest states all heads of a namespace, or no namespace if there are more than the limit."""
    for limit in (heads, heads - 1):
        path = out / f"limit {limit}.jsonl"
        with monkeypatch.context() as limited:
            limited.setattr(export, "HEADS_STATED", limit)
            lake.export(path, namespace)
        stated = json.loads((out / f"{path.name}.manifest.json").read_bytes()).get("namespaces", [])
        assert [len(each["heads"]) for each in stated] == ([heads] if limit == heads else [])
    assert lake.ingest(path, require_manifest=True).exit == 0


def leaves(lines: list[bytes]) -> list[bytes]:
    """The lines of a tree that none follows."""
    return [line for line in lines if not any(line in path_to(lines, other)[:-1] for other in lines)]
