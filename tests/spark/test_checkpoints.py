"""Checkpoints: trees that only grow, damage that is found before it is signed, and proofs that others check."""

import shutil

import pytest

import strandline_check.proof as checker
from strandline.core.ed25519 import Ed25519Key
from strandline.core.errors import FaultError, UsageError
from strandline.core.notes import TreeHead, log_name, sign
from strandline.dialects.ipfslog.reduce import LogConfiguration
from strandline.pipelines import checkpoint as pipeline
from strandline.pipelines.faults import Faults
from support import costs
from support.ipfslog_cases import entry
from support.lakes import Lake, counted
from support.log_lakes import enter, enter_identities, file_of
from support.random_journals import corpus
from support.tree_model import OTHER_SIGNER, SIGNER, TreeModel
from support.trees import flipped, tree_root

COUNTS = ("checkpoints", "leaves", "signed", "unchanged", "damaged", "overtaken")


def ids_of(lake, *tables):
    """The ids that the lake has, by namespace."""
    found = {}
    for table in tables:
        for namespace, record_id in lake.rows(table, "namespace", "record_id"):
            found.setdefault(namespace, set()).add(record_id)
    return found


def chain(log_id, length, *, after=None):
    """A log in which each entry follows the one before."""
    made = [] if after is None else [after]
    for time in range(len(made) + 1, length + len(made) + 1):
        parents = [made[-1].cid] if made else []
        made.append(
            entry({"op": "PUT", "key": "a", "value": time}, log_id=log_id, time=time, parents=parents)
        )
    return made if after is None else made[1:]


def checked(capsys, what, *files, signer=SIGNER, namespace):
    """What the checker for third parties says of files, and its exit code."""
    capsys.readouterr()
    log = log_name(signer.origin, namespace)
    code = checker.main([what, *map(str, files), "--log", log, "--key", signer.public_key.hex()])
    return code, capsys.readouterr().out


def test_trees_of_random_journals_grow_by_the_plain_rules_and_are_proven_to_others(
    new_lake, tmp_path, capsys
):
    lake, model = new_lake(), TreeModel()
    for number, (files, signer) in enumerate(
        zip(corpus(61, 40, 3), (None, SIGNER, OTHER_SIGNER), strict=True)
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        lake.ingest(folder)
        records = ids_of(lake, "node_journal_line")
        before = sum(map(len, model.leaves.values()))
        written = model.grow(records, signer)
        report = lake.checkpoint(signer=signer)
        leaves = sum(map(len, model.leaves.values())) - before
        unchanged = len(records) - written
        assert counted(report, COUNTS) == dict(
            zip(COUNTS, (written, leaves, written if signer else 0, unchanged, 0, 0), strict=True)
        )
        assert (report.exit, report.namespaces) == (0, len(records))
        model.assert_written(lake)
    # Nothing new: nothing is written, also if each tree is compared. One job finds it out.
    versions = lake.versions()
    cost = costs.counted(lake.spark, lake.path, lake.checkpoint)
    assert (cost.commits, cost.jobs) == (1, 1)
    for request in ({}, {"compares_all": True}, {"compares_all": True, "signer": OTHER_SIGNER}):
        again = lake.checkpoint(**request)
        assert counted(again, COUNTS) == dict.fromkeys(COUNTS, 0) | {"unchanged": len(records)}
        assert again.tables == {}
    assert lake.versions() == versions
    # The journal that came in most parts: each of its records, and each older signed tree, is proven.
    namespace = max(model.rows, key=lambda each: (len(model.rows[each]), len(model.leaves[each]), each))
    leaves = model.leaves[namespace]
    assert len(model.rows[namespace]) == 3
    for position in {0, len(leaves) // 2, len(leaves) - 1}:
        out = tmp_path / f"record {position}"
        report = lake.prove(namespace, out, record_id=leaves[position])
        assert (report.members["position"], report.members["is_pruned"]) == (position, False)
        files = (f"{out}.tlog-proof", f"{out}.record")
        assert report.members["files"] == list(files)
        code, said = checked(capsys, "record", *files, signer=OTHER_SIGNER, namespace=namespace)
        assert code == 0
        assert (
            f"the record {leaves[position].hex()} is at place {position} of the {len(leaves)} records" in said
        )
    notes = {
        row[1]: row[2] for row in lake.rows("checkpoint", "namespace", "seq", "note") if row[0] == namespace
    }
    for seq in (2, 3):
        old = tmp_path / f"old {seq}"
        old.write_text(notes[seq])
        report = lake.prove(namespace, tmp_path / f"since {seq}", old_note=notes[seq])
        assert report.members["old_size"] == model.rows[namespace][seq - 1][1]
        assert report.members["verifier_key"].startswith(f"{OTHER_SIGNER.origin}/{namespace}+")
    # The key changed between both: the older one is checked with its own.
    code, said = checked(
        capsys,
        "continued",
        old,
        f"{tmp_path / 'since 3'}.consistency",
        signer=OTHER_SIGNER,
        namespace=namespace,
    )
    assert code == 0, said
    report = lake.prove(namespace, tmp_path / "note")
    code, said = checked(
        capsys, "note", f"{tmp_path / 'note'}.checkpoint", signer=OTHER_SIGNER, namespace=namespace
    )
    assert (code, report.members["size"]) == (0, len(leaves))
    assert_refusals(lake, namespace, notes, model, tmp_path)


def assert_refusals(lake, namespace, notes, model, tmp_path):
    """What cannot be proven is told, and no file appears."""
    out = tmp_path / "refused"
    size = len(model.leaves[namespace])
    name = log_name(SIGNER.origin, namespace)
    keys = {signer: Ed25519Key(signer.seed) for signer in (SIGNER, OTHER_SIGNER)}
    roots = {size - 1: tree_root(model.leaves[namespace][1:]), size + 1: bytes(32), 0: tree_root([])}
    forged = {at: sign(TreeHead(name, at, root), keys[SIGNER]) for at, root in roots.items()}
    elsewhere = sign(TreeHead(log_name(SIGNER.origin, "node:other"), 1, bytes(32)), keys[SIGNER])
    refused = [
        (UsageError, "RECORD_NOT_COVERED", "does not cover the record 0101", {"record_id": b"\x01" * 32}),
        (UsageError, "NOTE_REFUSED", "three lines", {"old_note": "no note"}),
        (UsageError, "NOTE_REFUSED", "of the log", {"old_note": elsewhere}),
        (UsageError, "NOTE_REFUSED", "is wrong", {"old_note": notes[3].replace(f"\n{size}\n", "\n1\n")}),
        (UsageError, "NOTE_REFUSED", "without records", {"old_note": forged[0]}),
        (FaultError, "TREE_DAMAGED", "have another root than a signed note", {"old_note": forged[size - 1]}),
        (FaultError, "TREE_DAMAGED", f"states {size + 1} records", {"old_note": forged[size + 1]}),
    ]  # fmt: skip
    for kind, code, what, request in refused:
        with pytest.raises(kind, match=what) as told:
            lake.prove(namespace, out, **request)
        assert told.value.code == code
    assert list(tmp_path.glob("refused*")) == []
    (tmp_path / "refused.record").touch()
    with pytest.raises(UsageError) as told:
        lake.prove(namespace, out, record_id=model.leaves[namespace][0])
    assert told.value.code == "OUT_EXISTS"


DAMAGE = {
    "lost": "DELETE FROM ipfs_log_entry WHERE namespace = 'log:lost' AND record_id = {first}",
    "gone": "DELETE FROM ipfs_log_entry WHERE namespace = 'log:gone'",
    "leaf": "DELETE FROM checkpoint_leaf WHERE namespace = 'log:leaf' AND position = 1",
    "end": "DELETE FROM checkpoint_leaf WHERE namespace = 'log:end' AND position = 3",
    "all": "DELETE FROM checkpoint_leaf WHERE namespace = 'log:all'",
    "moved": "UPDATE checkpoint_leaf SET position = 3 - position WHERE namespace = 'log:moved'",
    "other": "UPDATE checkpoint_leaf SET record_id = {other} WHERE namespace = 'log:other' AND position = 0",
    "root": "UPDATE checkpoint SET root = unhex(sha2('x', 256)) WHERE namespace = 'log:root'",
    "size": "UPDATE checkpoint SET size = 5 WHERE namespace = 'log:size'",
    "note": "UPDATE checkpoint SET note = replace(note, '\\n4\\n', '\\n3\\n') WHERE namespace = 'log:note'",
    "key": "UPDATE checkpoint SET public_key = unhex(sha2('x', 256)) WHERE namespace = 'log:key'",
    "swapped": "UPDATE checkpoint SET note = (SELECT max(note) FROM checkpoint WHERE namespace = 'log:sound') "
    "WHERE namespace = 'log:swapped'",
}  # fmt: skip
FOUND = {
    "lost": "REMOVED", "gone": "REMOVED", "leaf": "ALTERED", "end": "ALTERED", "all": "ALTERED", "moved": "ALTERED",
    "other": "REMOVED", "root": "ALTERED", "size": "ALTERED", "note": "NOTE_WRONG", "key": "NOTE_WRONG",
    "swapped": "NOTE_WRONG",
}  # fmt: skip
NOT_PROVEN = {name for name in FOUND if name not in ("lost", "gone")}
"""A record that was removed leaves its tree as it was: other records are still proven by it."""


def test_what_was_changed_behind_a_tree_is_found_before_it_grows(new_lake, spark, settings, tmp_path):
    sound = new_lake(dialect="ipfslog")
    enter_identities(sound)
    logs = {name: chain(name, 4) for name in (*DAMAGE, "sound", "young")}
    enter(sound, [each for name, made in logs.items() if name != "young" for each in made])
    taken = sound.checkpoint(signer=SIGNER)
    assert taken.counts["checkpoints"] == len(DAMAGE) + 1
    path = tmp_path / "damaged"
    shutil.copytree(sound.path, path)
    lake = Lake(spark, settings, path, dialect="ipfslog")
    first, other = f"X'{logs['lost'][0].record_id.hex()}'", f"X'{'ab' * 32}'"
    for statement in DAMAGE.values():
        lake.damage(statement.format(first=first, other=other))
    # Only a namespace with another number of records is looked at, but for --all.
    assert damages(lake.checkpoint()) == {"log:lost": "REMOVED", "log:gone": "REMOVED", "log:size": "ALTERED"}
    before = lake.rows("checkpoint")
    expected = {f"log:{name}": damage for name, damage in FOUND.items()}
    compared = lake.checkpoint(compares_all=True)
    assert damages(compared) == expected
    assert (compared.exit, compared.counts["damaged"], compared.tables) == (1, len(DAMAGE), {})
    [told] = [each for each in compared.members["damaged"] if each["namespace"] == "log:lost"]
    assert told == {
        "namespace": "log:lost", "damage": "REMOVED", "seq": 1, "size": 4, "lost": 1,
        "first_lost": logs["lost"][0].record_id.hex(), "note": None,
    }  # fmt: skip
    news = [each for name, made in logs.items() if name != "young" for each in chain(name, 2, after=made[-1])]
    enter(lake, [*news, *logs["young"]])
    grown = lake.checkpoint(signer=SIGNER)
    assert damages(grown) == expected
    assert counted(grown, COUNTS) == {
        "checkpoints": 2, "leaves": 6, "signed": 2, "unchanged": 0, "damaged": len(DAMAGE), "overtaken": 0
    }  # fmt: skip
    after = lake.rows("checkpoint")
    assert {row[0] for row in set(after) - set(before)} == {"log:sound", "log:young"}
    assert set(before) <= set(after)
    for name in sorted(NOT_PROVEN):
        with pytest.raises(FaultError) as told:
            lake.prove(f"log:{name}", tmp_path / name)
        assert told.value.code == "TREE_DAMAGED", name
    # Its row is there, but what it says is not what its id stands for.
    lake.damage("ALTER TABLE ipfs_log_entry DROP CONSTRAINT IF EXISTS record_id_recomputes")
    lake.damage("UPDATE ipfs_log_entry SET block = X'00' WHERE namespace = 'log:sound'")
    with pytest.raises(FaultError, match="another id than its content") as told:
        lake.prove("log:sound", tmp_path / "sound", record_id=logs["sound"][0].record_id)
    assert told.value.code == "TREE_DAMAGED"


def damages(report):
    return {each["namespace"]: each["damage"] for each in report.members["damaged"]}


class StoppedError(Exception):
    """Stands for a kill."""


def stop():
    raise StoppedError


def test_kills_races_choices_and_pruned_records_leave_trees_as_the_rules_say(new_lake, tmp_path, capsys):
    lake, model = new_lake(dialect="ipfslog"), TreeModel()
    enter_identities(lake)
    logs = {name: chain(name, 6) for name in ("one", "two", "pruned")}
    enter(lake, [each for made in logs.values() for each in made])
    with pytest.raises(UsageError) as told:
        lake.prove("log:one", tmp_path / "early")
    assert told.value.code == "CHECKPOINT_UNSIGNED"
    assert str(told.value).startswith("log:one has no checkpoint")
    # Killed between the leaves and the row: they do not count, and the same command ends as if nothing had happened.
    with pytest.raises(StoppedError):
        lake.checkpoint(faults=Faults("checkpoint.leaves", fire=stop))
    assert (len(lake.rows("checkpoint_leaf", "position")), lake.rows("checkpoint")) == (18, [])
    lake.assert_sound()
    chosen = lake.checkpoint(namespaces=("one",))
    records = ids_of(lake, "ipfs_log_entry")
    assert model.grow({"log:one": records["log:one"]}) == chosen.counts["checkpoints"] == 1
    assert chosen.namespaces == 1
    with pytest.raises(UsageError) as told:
        lake.prove("log:one", tmp_path / "early")
    assert str(told.value).startswith("the checkpoint of log:one is not signed")
    with pytest.raises(UsageError) as told:
        lake.checkpoint(namespaces=("one",), dialects=("sdmp",))
    assert told.value.code == "DIALECTS_DIFFER"
    assert lake.checkpoint(dialects=("sdmp", "aura")).namespaces == 0
    # Another run is faster between the leaves and the row of this one.
    inner = []
    raced = lake.checkpoint(
        signer=SIGNER,
        faults=Faults("checkpoint.leaves", fire=lambda: inner.append(lake.checkpoint(namespaces=("two",)))),
    )
    assert inner[0].counts["checkpoints"] == 1
    assert counted(raced, COUNTS) == {
        "checkpoints": 2, "leaves": 6, "signed": 2, "unchanged": 0, "damaged": 0, "overtaken": 1
    }  # fmt: skip
    model.grow({"log:two": records["log:two"]})
    model.grow({name: records[name] for name in ("log:one", "log:pruned")}, SIGNER)
    model.assert_written(lake)
    assert lake.checkpoint(signer=SIGNER).counts["signed"] == model.grow(records, SIGNER) == 1
    # What gc removes stays in the tree, which grows on; a pruned record is proven without its bytes.
    lake.reduce(files=file_of({"pruned": LogConfiguration("keyvalue", ("*",), "config")}))
    assert lake.gc(namespaces=("pruned",)).counts["pruned"] > 0
    held = ids_of(lake, "ipfs_log_entry")["log:pruned"]
    gone = min(records["log:pruned"] - held)
    assert lake.checkpoint(signer=SIGNER, compares_all=True).counts["unchanged"] == 3
    enter(lake, chain("pruned", 2, after=logs["pruned"][-1]))
    every = {**records, "log:pruned": records["log:pruned"] | ids_of(lake, "ipfs_log_entry")["log:pruned"]}
    assert lake.checkpoint(signer=SIGNER).counts["leaves"] == 2
    model.grow(every, SIGNER)
    model.assert_written(lake)
    report = lake.prove("log:pruned", tmp_path / "gone", record_id=gone)
    assert report.members["is_pruned"]
    assert report.members["files"] == [str(tmp_path / "gone.tlog-proof")]
    # A row that is still there after it was pruned, as after a kill of gc, counts once.
    [back] = [each for each in logs["pruned"] if each.record_id == gone]
    enter(lake, [back])
    assert counted(lake.checkpoint(signer=SIGNER), COUNTS) == dict.fromkeys(COUNTS, 0) | {"unchanged": 3}
    report = lake.prove("log:pruned", tmp_path / "back", record_id=gone)
    files = (tmp_path / "back.tlog-proof", tmp_path / "back.record")
    code, said = checked(capsys, "record", *files, namespace="log:pruned")
    assert code == 0, said
    files[1].write_bytes(flipped(files[1].read_bytes(), 9))
    assert checked(capsys, "record", *files, namespace="log:pruned")[0] == 1


def test_the_seed_is_in_no_plan_and_no_report(new_lake, monkeypatch):
    lake = new_lake(dialect="ipfslog")
    enter_identities(lake)
    enter(lake, chain("secret", 2))
    plans = []
    rows_of = pipeline._rows

    def rows(*arguments):
        made = rows_of(*arguments)
        plans.append(made._jdf.queryExecution().toString())
        return made

    monkeypatch.setattr(pipeline, "_rows", rows)
    report = lake.checkpoint(signer=SIGNER)
    [plan] = plans
    seed = SIGNER.seed
    for text in (plan, report.to_json(), repr(SIGNER), repr(lake.rows("run"))):
        assert seed.hex() not in text.lower()
        assert repr(seed)[2:-1] not in text
    assert SIGNER.public_key.hex() in report.to_json()
