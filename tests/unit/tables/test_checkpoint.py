"""A checkpoint that lacks a batch which it committed, or names no stream, is refused; what a kill leaves is not."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.errors import AnalysisException

from strandline.core.errors import FaultError
from strandline.tables.checkpoint import BINDING, bind, check_steps

OWNER = {"lake": "id", "source": "/landing", "dialect": "sdmp"}


def note(file: Path, *lines: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["v1", *(json.dumps(line) for line in lines)]))


@pytest.fixture
def checkpoint(tmp_path) -> Path:
    """What a stream of a folder leaves after two batches, and a third that was begun."""
    root = tmp_path / "checkpoint"
    for step in range(3):
        note(root / "offsets" / str(step), {"batchWatermarkMs": 0}, {"logOffset": step})
        note(root / "sources" / "0" / str(step), {"path": f"file:///landing/{step}", "batchId": step})
    for step in range(2):
        note(root / "commits" / str(step), {"nextBatchWatermarkMs": 0})
    (root / "offsets" / ".2.crc").write_bytes(b"crc")
    return root


DAMAGED = {
    "the last batches were never begun": ([("offsets", 1), ("offsets", 2)], "batch 1 is committed"),
    "no batch was ever begun": ([("offsets", n) for n in range(3)], "offsets/1 is missing"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_checkpoint_that_lacks_a_batch_which_it_committed_is_refused(checkpoint, name):
    gone, said = DAMAGED[name]
    check_steps(str(checkpoint))
    for folder, step in gone:
        (checkpoint / folder / str(step)).unlink()
    for place in (str(checkpoint), f"file:{checkpoint}"):
        with pytest.raises(FaultError) as refused:
            check_steps(place)
        assert refused.value.code == "CHECKPOINT_DAMAGED"
        assert place in refused.value.message
        assert said in refused.value.message


WHOLE = {
    "a kill before the files' step was begun": [("offsets", 2)],
    "a kill before a batch was committed": [("commits", 1)],
    "files listed long ago": [("sources/0", 0), ("sources/0", 1)],
    "batches of long ago": [("offsets", 0), ("commits", 0)],
    "a new checkpoint": [(folder, n) for folder in ("offsets", "commits", "sources/0") for n in range(3)],
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_a_kill_or_age_leaves_is_no_damage(checkpoint, name):
    for folder, step in WHOLE[name]:
        (checkpoint / folder / str(step)).unlink(missing_ok=True)
    check_steps(str(checkpoint))


def test_a_place_that_is_no_folder_here_is_not_looked_at():
    check_steps("s3://bucket/checkpoint")


class Lines:
    """Reads the lines of text in a folder or file, as a session of Spark does."""

    def text(self, place: str) -> SimpleNamespace:
        found = Path(place)
        if not found.exists():
            raise AnalysisException(f"{place} does not exist", errorClass="PATH_NOT_FOUND")
        files = [found] if found.is_file() else sorted(found.glob("[!._]*"))
        lines = [line for file in files for line in file.read_text(errors="replace").splitlines()]
        return SimpleNamespace(head=lambda most: [{"value": line} for line in lines[:most]])


NAMELESS = {
    "emptied": lambda part: part.write_bytes(b""),
    "cut": lambda part: part.write_bytes(part.read_bytes()[:20]),
    "noise": lambda part: part.write_bytes(b"\0\xff{not json"),
    "a number": lambda part: part.write_bytes(b"1"),
    "gone": Path.unlink,
    "of a batch that was never begun": lambda part: [
        step.unlink() for step in part.parents[1].glob("offsets/[0-9]")
    ],
}


@pytest.mark.parametrize("name", NAMELESS)
def test_a_checkpoint_that_does_not_name_its_stream_is_refused(checkpoint, name):
    spark, part = SimpleNamespace(read=Lines()), checkpoint / BINDING / "part-00000.txt"
    note(checkpoint / "metadata", {"id": "0"})
    part.parent.mkdir()
    part.write_text(json.dumps(OWNER) + "\n")
    bind(spark, str(checkpoint), OWNER)
    with pytest.raises(FaultError) as foreign:
        bind(spark, str(checkpoint), OWNER | {"dialect": "ipfslog"})
    assert (foreign.value.code, "differs in dialect" in foreign.value.message) == ("CHECKPOINT_FOREIGN", True)
    NAMELESS[name](part)
    with pytest.raises(FaultError) as refused:
        bind(spark, str(checkpoint), OWNER)
    assert refused.value.code == "CHECKPOINT_DAMAGED"
    assert str(checkpoint) in refused.value.message


@pytest.mark.parametrize("last", [9, 10, 99, 100, 1_000, 10_000_000])
def test_a_missing_batch_is_found_however_many_came_before(tmp_path, last):
    for step in (last - 1, last):
        note(tmp_path / "offsets" / str(step), {"batchWatermarkMs": 0})
        note(tmp_path / "commits" / str(step), {"nextBatchWatermarkMs": 0})
    check_steps(str(tmp_path))
    (tmp_path / "offsets" / str(last)).unlink()
    with pytest.raises(FaultError) as refused:
        check_steps(str(tmp_path))
    assert f"batch {last} is committed" in refused.value.message


def test_a_checkpoint_stays_bound_to_its_stream_when_sparks_own_name_of_it_is_gone(tmp_path):
    spark, part = SimpleNamespace(read=Lines()), tmp_path / BINDING / "part-00000.txt"
    part.parent.mkdir()
    part.write_text(json.dumps(OWNER) + "\n")
    bind(spark, str(tmp_path), OWNER)
    with pytest.raises(FaultError) as foreign:
        bind(spark, str(tmp_path), OWNER | {"lake": "another"})
    assert foreign.value.code == "CHECKPOINT_FOREIGN"
