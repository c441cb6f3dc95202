"""Archived files are read back: what is not there whole is a fault of the machine."""

import hashlib
import json
from pathlib import Path

import pytest

from strandline.core.errors import FaultError
from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.pipelines.archive import MANIFEST, _add_line, _verified
from strandline.tables.newfile import NewFile
from strandline.tables.sources import select

NODE = "1" * 64


def written(path, node=NODE):
    with NewFile(path) as file:
        file.write(node.encode())
        return file.publish()


def test_an_ingest_of_the_folder_reads_exactly_the_journals(tmp_path):
    nodes = (NODE, "_" + "A" * 85, "-" + "A" * 85)
    tips = []
    for node in nodes:
        made = written(tmp_path / SDMP.archive_name(f"node:{node}"), node)
        held = _verified(SDMP, f"node:{node}", made, 1)
        _add_line(tmp_path, f"node:{node}", made, held)
        tips.append(held.tip)
    selection = select([str(tmp_path)], most=9)
    assert sorted(Path(each.source).read_text() for each in selection.files) == sorted(nodes)
    assert selection.manifests == ()
    lines = [json.loads(line) for line in (tmp_path / MANIFEST).read_text("ascii").splitlines()]
    assert [(each["namespace"], each["lines"], each["bytes"], each["sha256"]) for each in lines] == [
        (f"node:{node}", 1, len(node), hashlib.sha256(node.encode()).hexdigest()) for node in nodes
    ]
    assert [each["tip"] for each in lines] == tips
    assert len(set(tips)) == 3


def test_a_file_that_is_there_whole_has_its_lines(tmp_path):
    assert _verified(SDMP, f"node:{NODE}", written(tmp_path / "a"), 1).lines == 1


@pytest.mark.parametrize(
    ("spoil", "lines"),
    [
        (lambda path: path.write_bytes(b"2" * 64), 1),
        (lambda path: path.write_bytes(b""), 1),
        (lambda path: path.unlink(), 1),
        (lambda path: None, 2),
    ],
)
def test_a_file_that_the_disk_changed_is_told(tmp_path, spoil, lines):
    made = written(tmp_path / "a")
    spoil(made.path)
    with pytest.raises(FaultError) as fault:
        _verified(SDMP, f"node:{NODE}", made, lines)
    assert fault.value.code == "ARCHIVE_DAMAGED"
