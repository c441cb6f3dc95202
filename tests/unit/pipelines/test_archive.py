"""Archived files are read back: what is not there whole is a fault of the machine."""

import pytest

from strandline.core.errors import FaultError
from strandline.dialects.sdmp.spark.dialect import SDMP
from strandline.pipelines.archive import _verified
from strandline.tables.newfile import NewFile

NODE = "1" * 64


def written(path):
    with NewFile(path) as file:
        file.write(NODE.encode())
        return file.publish()


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
