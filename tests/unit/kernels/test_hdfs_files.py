"""What a client of HDFS says becomes Arrow's files and errors of files; the client itself is tested by `make hdfs`."""

import io
import threading
from types import SimpleNamespace

import hdfs_native
import pytest
from pyarrow.fs import FileSelector, FileType

from strandline.core.errors import FaultError
from strandline.kernels import hdfs_files, objects
from strandline.kernels.hdfs_files import HdfsFiles
from strandline.kernels.object_stores import HDFS
from strandline.tables.sources import select

ROOT = "namenode:8020"
URI = f"hdfs://{ROOT}/in"


class Client:
    """Answers as hdfs-native does."""

    content = b"0123456789"

    def get_file_info(self, path: str) -> SimpleNamespace:
        if path == "/gone":
            raise FileNotFoundError(path)
        if path.startswith("/a/"):
            raise RuntimeError(
                'RPCError("org.apache.hadoop.security.AccessControlException", "/a (is not a directory)\\n\\tat x.y")'
            )
        return SimpleNamespace(path=path, isdir=path == "/", length=10, modification_time=7)

    def list_status(self, path: str, deep: bool):
        return (
            SimpleNamespace(path=f"{path}/{number}", isdir=number == 0, length=number, modification_time=7)
            for number in range(2500)
        )

    def read(self, path: str) -> hdfs_native.FileReader:
        content = self.content

        class Reader:
            def file_length(self) -> int:
                return len(content)

            def read_range(self, offset: int, size: int) -> bytes:
                assert 0 < size <= len(content) - offset  # the client panics
                return content[offset : offset + size]

        return hdfs_native.FileReader(Reader())


@pytest.fixture
def made(monkeypatch):
    """The clients that were made."""
    found = []

    def make(root: str) -> Client:
        found.append(Client())
        return found[-1]

    monkeypatch.setattr(hdfs_files, "_client", make)
    return found


def test_paths_and_listings_have_the_names_of_arrow(made):
    files = HdfsFiles(ROOT)
    there, folder, gone, below = files.get_file_info(
        [f"{ROOT}/a b%20", ROOT, f"{ROOT}/gone", f"{ROOT}/a/below-a-file"]
    )
    assert (there.path, there.type, there.size) == (f"{ROOT}/a b%20", FileType.File, 10)
    assert [each.type for each in (folder, gone, below)] == [FileType.Directory, *[FileType.NotFound] * 2]
    listed = files.get_file_info(FileSelector(f"{ROOT}/in", recursive=True))
    assert [each.path for each in listed] == [f"{ROOT}/in/{number}" for number in range(2500)]
    assert [each.type for each in listed[:2]] == [FileType.Directory, FileType.File]
    assert listed[2].size == 2


def test_a_file_is_read_from_any_place_also_behind_its_end(made):
    with HdfsFiles(ROOT).open_input_file(f"{ROOT}/a") as stream:
        found = [
            (stream.seek(*place), stream.read(4))
            for place in ((4,), (10,), (99,), (-3, io.SEEK_END), (-5, io.SEEK_CUR))
        ]
    assert found == [(4, b"4567"), (10, b""), (99, b""), (7, b"789"), (5, b"5678")]


def test_a_silent_client_is_left_for_another(made, monkeypatch):
    files, waits = HdfsFiles(ROOT), threading.Event()
    monkeypatch.setattr(hdfs_files, "ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(made[0], "get_file_info", lambda path: waits.wait(60), raising=False)
    with pytest.raises(TimeoutError):
        files.get_file_info([f"{ROOT}/a"])
    waits.set()
    assert files.get_file_info([f"{ROOT}/a"])[0].size == 10
    assert len(made) == 2


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (RuntimeError('RPCError("org.apache.hadoop.security.AccessControlException", "user=me")'),
         "SOURCE_DENIED", "says access control"),
        (RuntimeError('FatalRPCError("org.apache.hadoop.security.token.SecretManager$InvalidToken", "me")'),
         "SOURCE_DENIED", "says invalid token"),
        (RuntimeError('GSSAPIError(GssMajorCodes, 1, "me")'), "SOURCE_DENIED", "says gssapi"),
        (RuntimeError('SASLError("me")'), "SOURCE_DENIED", "says sasl"),
        (RuntimeError("NoSASLMechanism"), "SOURCE_DENIED", "says no saslmechanism"),
        (RuntimeError('RPCError("org.apache.hadoop.ipc.StandbyException", "me")'),
         "SOURCE_UNREADABLE", "says standby"),
        (RuntimeError('DataTransferError("me")'), "SOURCE_UNREADABLE", "says data transfer"),
        (ValueError("Blocks not found for me"), "SOURCE_UNREADABLE", "refuses the path"),
        (OSError("Connection refused (os error 111)"), "SOURCE_UNREADABLE", "does not answer"),
        (OSError("failed to lookup address information: me"), "SOURCE_UNREADABLE", "does not answer"),
        (TimeoutError(), "SOURCE_UNREADABLE", "does not answer"),
        (FileNotFoundError("me"), "SOURCE_MISSING", "no file and no folder"),
    ],
)  # fmt: skip
def test_an_error_has_the_class_of_hadoops_exception_and_nothing_else(made, monkeypatch, raised, code, words):
    def refuse(*_: object) -> None:
        raise raised

    monkeypatch.setattr(Client, "get_file_info", refuse)
    objects._files.cache_clear()
    with pytest.raises(Exception, match="hdfs") as caught:
        select([URI], most=9)
    objects._files.cache_clear()
    assert caught.value.code == code
    assert words in caught.value.message
    assert "me" not in caught.value.message.replace("namenode", "").split()


def test_a_host_without_a_port_is_asked_at_hadoops(monkeypatch):
    asked = []

    def make(url: str) -> str:
        asked.append(url)
        if url.count(":") == 1:
            raise RuntimeError('InvalidArgument("No NameNode hosts found")')
        return url

    monkeypatch.setattr(hdfs_native, "Client", make)
    assert hdfs_files._client("host") == "hdfs://host:8020"
    assert hdfs_files._client("host:9000") == "hdfs://host:9000"
    assert asked == ["hdfs://host", "hdfs://host:8020", "hdfs://host:9000"]


def test_a_process_without_the_package_is_told_how_to_get_it(monkeypatch):
    def lacking(root: str) -> None:
        raise ImportError("no hdfs_native")

    monkeypatch.setattr(hdfs_files, "_client", lacking)
    objects._files.cache_clear()
    with pytest.raises(FaultError) as caught:
        select([URI], most=9)
    assert (caught.value.code, caught.value.exit_code) == ("STORE_PACKAGE_MISSING", 3)
    assert caught.value.message == f"{URI} cannot be read: hdfs-native is missing."
    assert f"pip install {HDFS.package}" in caught.value.next
