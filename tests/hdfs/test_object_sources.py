"""Input from HDFS, by the rules of every store, and through the installed program."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from strandline.kernels import hdfs_files, objects
from strandline.kernels.objects import open_object
from strandline.tables.sources import select
from support.hdfs import STRANGER, Hdfs, hdfs
from support.object_rules import ObjectRules
from support.object_runs import lands_whole_or_split
from support.selections import read

pytestmark = [pytest.mark.hdfs, pytest.mark.timeout(1200)]


class TestHdfs(ObjectRules):
    serve = staticmethod(hdfs)
    denied = "access control"
    silent = "does not answer"
    # A path of HDFS has no empty part.
    test_a_key_with_an_empty_part_is_one_rejected_record = None

    @staticmethod
    @contextmanager
    def forbidden(served: Hdfs) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HADOOP_USER_NAME", STRANGER)
            objects._files.cache_clear()
            yield

    @pytest.mark.parametrize("listens", [False, True])
    def test_a_store_that_does_not_answer_is_a_fault(self, refused, monkeypatch, listens) -> None:
        monkeypatch.setattr(hdfs_files, "ANSWER_SECONDS", 1)
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            if listens:
                server.listen()
            address = f"127.0.0.1:{server.getsockname()[1]}"
            for source in (f"hdfs://{address}/in/a.journal", f"hdfs://{address}/in/*"):
                error = refused(source)
                assert (error.code, error.exit_code) == ("SOURCE_UNREADABLE", 3)
                assert error.message == f"{source} cannot be read: the store {self.silent}."

    def test_a_file_that_is_replaced_or_gone_while_it_is_read_is_one_rejected_record(self, served) -> None:
        content = os.urandom(40 << 20)
        served.put("read/a.journal", content)
        with open_object(f"{served.root}/read/a.journal".encode()) as stream:
            assert stream.read(9 << 20) == content[: 9 << 20]
            served.put("read/a.journal", b"another")
            time.sleep(8)  # until the data node has removed the blocks
            with pytest.raises(OSError, match="data transfer") as caught:
                stream.read()
        assert "127.0.0.1" not in str(caught.value)

    def test_a_part_is_read_from_its_place_also_behind_the_end(self, served) -> None:
        uri = served.put("parts/a.journal", b"0123456789")
        with open_object(uri.encode()) as stream:
            found = [(stream.seek(place), stream.read()) for place in (4, 10, 99)]
        assert found == [(4, b"456789"), (10, b""), (99, b"")]

    def test_a_file_that_may_be_listed_but_not_read_is_one_rejected_record(self, served) -> None:
        served.put("closed/a.journal", b"a\n")
        served.put("closed/b.journal", b"b\n")
        served.allow("closed/a.journal", "000")
        found = read(select([f"{served.root}/closed"], most=9))
        assert found["a.journal"][1:] == ("FILE_UNREADABLE", "the store says access control")
        assert found["b.journal"] == (b"b\n", None, None)


def test_files_of_hdfs_are_landed_whole_or_split(program, tmp_path):
    with hdfs() as served:
        lands_whole_or_split(program, tmp_path, {"lake": served})
