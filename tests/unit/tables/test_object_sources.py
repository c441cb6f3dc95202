"""Which objects of a store a run reads, and what their absence looks like."""

import errno
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyarrow.fs import FileInfo, FileSelector, FileType, GcsFileSystem

from strandline.core.errors import FaultError, UsageError
from strandline.kernels import objects
from strandline.kernels.object_stores import AZURE, GCS, STORES, ObjectStore
from strandline.tables.object_sources import object_path
from strandline.tables.sources import select
from support.gcs import GoogleStore, google_store
from support.object_rules import ObjectRules, ObjectServer
from support.s3 import KEY_ID, SECRET, store

HOST = "account1.dfs.core.windows.net"
BOX = f"abfss://box@{HOST}"


class TestS3(ObjectRules):
    serve = staticmethod(store)
    denied = "access denied"
    asked = ("in/a.journal",)  # the server lists for everybody
    silent = "says network connection"

    @staticmethod
    @contextmanager
    def forbidden(served: ObjectServer) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("AWS_ACCESS_KEY_ID")
            patch.delenv("AWS_SECRET_ACCESS_KEY")
            yield

    @staticmethod
    def elsewhere(address: str) -> Mapping[str, str]:
        return {"AWS_ENDPOINT_URL": f"http://{address}"}


class TestGoogle(ObjectRules):
    serve = staticmethod(google_store)
    denied = "permission denied"
    silent = "says unavailable"

    @staticmethod
    def forbidden(served: GoogleStore) -> AbstractContextManager[None]:
        return served.closed()

    @staticmethod
    def elsewhere(address: str) -> Mapping[str, str]:
        return {"CLOUD_STORAGE_EMULATOR_ENDPOINT": f"http://{address}"}


@pytest.mark.parametrize(
    ("source", "code"),
    [
        *((uri, "SOURCE_URI") for uri in (
            "s3://", "s3:///key", f"s3://{KEY_ID}:{SECRET}@bucket/in", f"s3://bucket?secret_key={SECRET}", "s3://*/in",
            "s3://bucket//in", "s3://bucket/in//a.journal", "s3://bucket/in/../a", "s3a://bucket/./in",
            "s3://bucket/in/\n", "s3://bucket/\udcff",
            "gs://", f"gs://{SECRET}@bucket/in", "gs://bucket/a//b", "gs://bucket/../a",
            "abfss://", "abfss://box/key", f"abfss://box@{HOST}:443/in", f"abfss://box:{SECRET}@{HOST}/in",
            # Credentials go to hosts of Azure alone.
            "abfss://box@account1.dfs.example.org/in", f"abfss://box@evil.example.org/.{HOST}/in",
            f"abfss://box@{HOST}.example.org/in", f"abfs://box@account1/{SECRET}.dfs.core.windows.net",
            f"{BOX}/in//a", f"{BOX}/../other/a", f"{BOX}?sig={SECRET}",
            "hdfs:///in", "hdfs://", f"hdfs://name:{SECRET}@host/in", f"hdfs://name:{SECRET}/in", "hdfs://host:8020/a/../b",
            "hdfs://host:8020//in", "hdfs://[::1]:8020/in", "hdfs://host:/in",
        )),
        *((uri, "SOURCE_NOT_LOCAL") for uri in ("viewfs://host/x", "wasbs://box@host/x", "kafka://h/t")),
    ],
)  # fmt: skip
def test_a_uri_without_bucket_or_with_credentials_or_of_another_store_is_refused(
    source: str, code: str
) -> None:
    with pytest.raises(UsageError) as caught:
        select([source], most=9)
    assert (caught.value.code, caught.value.exit_code) == (code, 2)
    assert SECRET not in f"{caught.value} {caught.value.next}"


def test_the_way_that_is_open_for_another_store_is_named() -> None:
    for source, way in (
        ("viewfs://host/x", "hdfs:// URI; or mount it"),
        ("wasbs://box@host/x", "abfss:// or hdfs:// URI; or mount it"),
    ):
        with pytest.raises(UsageError) as caught:
            select([source], most=9)
        assert way in caught.value.next


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("s3a://bucket/a/", "s3://bucket/a"),
        ("gs://bucket", "gs://bucket"),
        ("gs://bucket/a?b#c%20*", "gs://bucket/a?b#c%20*"),
        (f"abfs://box@{HOST}/a@b.dfs.core.windows.net/é", f"{BOX}/a@b.dfs.core.windows.net/é"),
        ("abfss://$web@a1b.dfs.core.chinacloudapi.cn/x", "abfss://$web@a1b.dfs.core.chinacloudapi.cn/x"),
        ("hdfs://nn-1.example.org:8020/a%20 b/", "hdfs://nn-1.example.org:8020/a%20 b"),
        ("hdfs://service/a", "hdfs://service/a"),
        ("/s3://bucket/a", None),
        ("gs", None),
    ],
)
def test_a_path_has_the_usual_spelling_of_the_scheme(source: str, path: str | None) -> None:
    assert object_path(source) == (None if path is None else path.encode())


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, GcsFileSystem(retry_time_limit=timedelta(seconds=60))),
        (
            {"CLOUD_STORAGE_EMULATOR_ENDPOINT": "http://127.0.0.1:9/"},
            GcsFileSystem(
                anonymous=True,
                scheme="http",
                endpoint_override="127.0.0.1:9",
                retry_time_limit=timedelta(seconds=60),
            ),
        ),
        (
            {"STORAGE_EMULATOR_HOST": "127.0.0.1:9"},
            GcsFileSystem(
                anonymous=True,
                scheme="http",
                endpoint_override="127.0.0.1:9",
                retry_time_limit=timedelta(seconds=60),
            ),
        ),
    ],
)
def test_google_is_asked_with_the_credentials_of_the_process_and_an_emulator_without(
    environ, expected
) -> None:
    assert GCS.file_system("bucket", environ).__reduce__()[1] == expected.__reduce__()[1]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, {"account_key": "", "blob_storage_authority": ".blob.core.windows.net"}),
        ({"AZURE_STORAGE_KEY": "azE="}, {"account_key": "azE="}),
        ({"AZURE_STORAGE_KEY": "azE=", "AZURE_STORAGE_ACCOUNT_KEY": "azI="}, {"account_key": "azI="}),
        ({"AZURE_STORAGE_KEY": "azE=", "AZURE_STORAGE_ACCOUNT": "account1"}, {"account_key": "azE="}),
        ({"AZURE_STORAGE_KEY": "azE=", "AZURE_STORAGE_ACCOUNT": ""}, {"account_key": "azE="}),
        # The key is that of another account.
        ({"AZURE_STORAGE_KEY": "azE=", "AZURE_STORAGE_ACCOUNT": "account2"}, {"account_key": ""}),
        (
            {"AZURE_STORAGE_SERVICE_ENDPOINT": "http://127.0.0.1:9/account1"},
            {"blob_storage_authority": "127.0.0.1:9", "dfs_storage_authority": "127.0.0.1:9",
             "blob_storage_scheme": "http", "dfs_storage_scheme": "http"},
        ),
    ],
)  # fmt: skip
def test_azure_is_asked_with_the_key_of_the_account_or_default_credentials(environ, expected) -> None:
    [given] = AZURE.file_system(f"box@{HOST}", environ).__reduce__()[1]
    assert given["account_name"] == "account1"
    assert {name: given[name] for name in expected} == expected


def test_each_cloud_of_azure_has_its_own_hosts() -> None:
    [given] = AZURE.file_system("box@account1.dfs.core.usgovcloudapi.net", {}).__reduce__()[1]
    assert given["blob_storage_authority"] == ".blob.core.usgovcloudapi.net"
    assert given["dfs_storage_authority"] == ".dfs.core.usgovcloudapi.net"


@pytest.mark.parametrize(
    ("path", "raised", "number", "words"),
    [
        ("s3://bucket/a", "AWS Error ACCESS_DENIED (HTTP status 403)", errno.EACCES, "says access denied (HTTP 403)"),
        ("s3://bucket/a", "AWS Error UNKNOWN (HTTP status 403) during", errno.EACCES, "says unknown (HTTP 403)"),
        ("s3://bucket/a", "AWS Error SLOW_DOWN (HTTP status 503)", errno.EIO, "says slow down (HTTP 503)"),
        ("gs://bucket/a", "google::cloud::Status(UNAUTHENTICATED: Perm", errno.EACCES, "says unauthenticated"),
        ("gs://bucket/a", "google::cloud::Status(NOT_FOUND: x", errno.ENOENT, "says not found"),
        (f"{BOX}/a", "Azure Error: [ServerBusy] 503 Wait", errno.EIO, "says server busy (HTTP 503)"),
        (f"{BOX}/a", "Azure Error: [AccountIsDisabled] 403 No", errno.EACCES, "says account is disabled (HTTP 403)"),
        (f"{BOX}/a", "Azure Error: [] 400 Bad", errno.EIO, "says HTTP 400"),
        (f"{BOX}/a", "Azure Error: [] Fail to get a new connection", errno.EIO, "does not answer"),
        (f"{BOX}/a", f"Azure Error: [{SECRET}] 503", errno.EIO, "refuses the path (OSError)"),
        (f"{BOX}/a", f"signed with {SECRET}", errno.EIO, "refuses the path (OSError)"),
    ],
)  # fmt: skip
def test_an_error_has_the_code_of_the_answer_and_nothing_else(
    path, raised, number, words, monkeypatch
) -> None:
    def refuse(*_: object) -> object:
        raise OSError(f"http://host/?sig={SECRET} {raised} {SECRET}")

    monkeypatch.setattr(objects, "_files", lambda *_: SimpleNamespace(get_file_info=refuse))
    with pytest.raises(OSError) as caught:
        objects.look_up(path.encode())
    assert (caught.value.errno, caught.value.strerror) == (number, f"the store {words}")


@pytest.mark.parametrize(
    ("path", "raised"),
    [
        ("gs://bucket/a", "google::cloud::Status(UNAVAILABLE: Could not create a OAuth2 access token to"),
        (f"{BOX}/a", "Check failed: N5Azure4Core11Credentials23AuthenticationExceptionE: Failed to get"),
    ],
)
def test_a_process_without_credentials_is_told_so(path, raised, monkeypatch) -> None:
    def refuse(*_: object) -> object:
        raise pa.ArrowException(raised)

    monkeypatch.setattr(objects, "_files", lambda *_: SimpleNamespace(get_file_info=refuse))
    with pytest.raises(UsageError) as caught:
        select([path], most=9)
    assert caught.value.code == "SOURCE_DENIED"
    assert caught.value.message == f"{path} cannot be read: no credentials gave an access token."


def test_a_listing_by_folders_never_leaves_what_it_goes_down(monkeypatch) -> None:
    folders = {
        "box": ["box/a/", "box/in/", "box/"],  # the last one is that of keys that begin with /
        "box/a": ["box/a/x"],
        "box/in": ["box/in", "box/in/..", "box/in/b"],
    }

    asked: set[str] = set()

    def listed(selector: FileSelector) -> list[FileInfo]:
        assert not selector.recursive
        assert selector.base_dir not in asked
        asked.add(selector.base_dir)
        found = []
        for path in folders[selector.base_dir]:
            is_folder = path.rstrip("/") in folders or path.endswith((".", "/"))
            found.append(
                FileInfo(path, FileType.Directory) if is_folder else FileInfo(path, FileType.File, size=1)
            )
        return found

    monkeypatch.setattr(objects, "_files", lambda *_: SimpleNamespace(get_file_info=listed))
    assert sorted((each.path, each.size) for each in objects.objects_below(BOX.encode())) == [
        (f"{BOX}//".encode(), 0), (f"{BOX}/a/x".encode(), 1), (f"{BOX}/in/..".encode(), 0),
        (f"{BOX}/in//".encode(), 0), (f"{BOX}/in/b".encode(), 1),
    ]  # fmt: skip


def test_an_empty_object_that_stands_for_a_folder_is_one_and_any_other_empty_object_is_a_file(
    monkeypatch,
) -> None:
    def opened(name: str) -> SimpleNamespace:
        if name.endswith("mark"):
            raise OSError("Not a regular file")
        return SimpleNamespace(close=lambda: None)

    def info(names: list[str]) -> list[FileInfo]:
        return [FileInfo(name, FileType.File, size=0) for name in names]

    files = SimpleNamespace(get_file_info=info, open_input_file=opened)
    monkeypatch.setattr(objects, "_files", lambda *_: files)
    found = [objects.look_up(f"{BOX}/{name}".encode()) for name in ("mark", "empty")]
    assert found == [("folder", 0), ("file", 0)]


def test_what_is_directly_below_a_prefix_is_listed_without_its_folders(monkeypatch) -> None:
    def listed(selector: FileSelector) -> list[FileInfo]:
        assert (selector.base_dir, selector.recursive) == ("box", False)
        return [FileInfo("box/a", FileType.Directory), FileInfo("box/b", FileType.File, size=1)]

    monkeypatch.setattr(objects, "_files", lambda *_: SimpleNamespace(get_file_info=listed))
    [found] = objects.objects_below(BOX.encode(), deep=False)
    assert (found.path, found.size) == (f"{BOX}/b".encode(), 1)


def test_a_pyarrow_without_a_store_is_named(monkeypatch) -> None:
    def lacking(*_: object) -> object:
        raise ImportError("no GcsFileSystem")

    monkeypatch.setattr(objects, "_files", objects._files.__wrapped__)
    monkeypatch.setattr(objects, "BY_SCHEME", {"gs": replace(GCS, file_system=lacking)})
    with pytest.raises(FaultError, match="pyarrow is built without this store"):
        select(["gs://bucket/a"], most=9)


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.scheme)
def test_every_store_says_what_it_needs(store: ObjectStore) -> None:
    assert store.form.startswith(f"{store.scheme}://")
    assert store.variables.removesuffix("..") in f"{store.rights} {store.endpoint}"
