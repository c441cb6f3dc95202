"""Which objects of a store a run reads, and what their absence looks like."""

import gzip
import socket
from collections.abc import Iterator

import pytest

from strandline.core.errors import FaultError, StrandlineError, UsageError
from strandline.kernels import objects
from strandline.kernels.lines import RawLimits
from strandline.tables.manifests import load_manifests
from strandline.tables.sources import Selection, select
from strandline.tables.stream import landing_folder
from support.s3 import BUCKET, KEY_ID, SECRET, Store, store
from support.selections import read

ROOT = f"s3://{BUCKET}"
CONTENT = {
    "in/a.journal": b"a\n",
    "in/sub/b.journal": b"b\n",
    "in/sub/deep/c d%20é?#.journal": b"c\n",
    "in/sub/[x].journal": b"x\n",
    "in/_hidden/d": b"d\n",
    "in/sub/.e": b"e\n",
    "in/half._COPYING_": b"half\n",
    "inner/f.journal": b"f\n",
}


@pytest.fixture(scope="module")
def served() -> Iterator[Store]:
    with store() as running:
        for key, content in CONTENT.items():
            running.put(key, content)
        yield running


@pytest.fixture(autouse=True)
def environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process that may read the store, and knows no other."""
    for name, value in request.getfixturevalue("served").environment.items():
        monkeypatch.setenv(name, value)
    objects._of_bucket.cache_clear()
    yield
    objects._of_bucket.cache_clear()


def keys(*sources: str, most: int = 100) -> list[str]:
    files = select(sources, most=most).files
    assert [each.file_no for each in files] == list(range(len(files)))
    for each in files:
        assert each.source.startswith(f"{ROOT}/")
        assert each.size == len(CONTENT.get(each.source.removeprefix(f"{ROOT}/"), b"a\n"))
    return [each.source.removeprefix(f"{ROOT}/") for each in files]


def refused(*sources: str, most: int = 100) -> StrandlineError:
    with pytest.raises(StrandlineError) as caught:
        select(sources, most=most)
    text = str(caught.value)
    assert KEY_ID not in text
    assert SECRET not in text
    return caught.value


VISIBLE = ["in/a.journal", "in/sub/[x].journal", "in/sub/b.journal", "in/sub/deep/c d%20é?#.journal"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("in", VISIBLE),
        ("in/", VISIBLE),
        ("in/sub/deep", VISIBLE[3:]),
        ("in/a.journal", VISIBLE[:1]),
        ("in/sub/deep/c d%20é?#.journal", VISIBLE[3:]),
        ("in/sub/.e", ["in/sub/.e"]),
        ("in/_hidden", ["in/_hidden/d"]),
        # The object of that name before what it matches as a glob.
        ("in/sub/[x].journal", ["in/sub/[x].journal"]),
        ("in/sub/[ab].journal", ["in/sub/b.journal"]),
        ("in/*/?.journal", ["in/sub/b.journal"]),
        ("in/**/*.journal", VISIBLE),
        ("i*/?.journal", ["in/a.journal", "inner/f.journal"]),
        ("in/sub/*", ["in/sub/[x].journal", "in/sub/b.journal"]),
    ],
)
def test_a_source_is_an_object_or_a_prefix_or_a_glob_of_keys(source: str, found: list[str]) -> None:
    assert keys(f"{ROOT}/{source}") == found
    assert keys(f"s3a://{BUCKET}/{source}") == found


def test_a_bucket_is_read_whole_and_an_object_given_twice_once() -> None:
    assert keys(ROOT) == [*VISIBLE, "inner/f.journal"]
    assert keys(f"{ROOT}/in", f"{ROOT}/in/a.journal", f"s3a://{BUCKET}/in/*.journal") == VISIBLE


def test_tasks_read_what_lies_there_and_what_went_is_one_rejected_record(served: Store) -> None:
    served.put("moving/kept.gz", gzip.compress(b"kept\n" * 3_000_000))
    served.put("moving/cut.gz", gzip.compress(b"cut\n" * 1000)[:-9])
    served.put("moving/gone", b"gone\n")
    selection = select([f"{ROOT}/moving"], most=9)
    served.remove("moving/gone")
    found = read(selection)
    assert found["kept.gz"] == (b"kept\n" * 3_000_000, None, None)
    assert found["gone"] == (f"{ROOT}/moving/gone".encode(), "FILE_UNREADABLE", "no such object")
    assert found["cut.gz"][1] == "TRUNCATED"


@pytest.mark.parametrize(
    "source",
    [
        f"{ROOT}/absent", f"{ROOT}/in/*.gz", f"{ROOT}/in/a.journal/x", "s3://no-such-bucket", "s3://no-such-bucket/a",
        "s3://no-such-bucket/*", f"{ROOT}/i",
    ],
)  # fmt: skip
def test_what_is_not_there_is_named(source: str) -> None:
    error = refused(source)
    assert (error.code, error.exit_code) == ("SOURCE_MISSING", 2)
    assert source in error.message


@pytest.mark.parametrize(
    "source",
    [
        "s3://", "s3:///key", f"s3://{KEY_ID}:{SECRET}@{BUCKET}/in", f"s3://{BUCKET}?secret_key={SECRET}", "s3://*/in",
        f"{ROOT}//in", f"{ROOT}/in//a.journal", f"{ROOT}/in/../in/a.journal", f"{ROOT}/./in",
        f"{ROOT}/in/\n", f"{ROOT}/\udcff",
    ],
)  # fmt: skip
def test_a_uri_without_bucket_or_with_credentials_is_refused(source: str) -> None:
    error = refused(source)
    assert (error.code, error.exit_code) == ("SOURCE_URI", 2)


@pytest.mark.parametrize("source", ["gs://bucket/key", "abfss://c@a.dfs.core.windows.net/x", "hdfs://host/x"])
def test_other_stores_are_refused_with_the_way_that_is_open(source: str) -> None:
    error = refused(source)
    assert error.code == "SOURCE_NOT_LOCAL"
    assert "mount it" in error.next


def test_without_credentials_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    error = refused(f"{ROOT}/in/a.journal")
    assert (error.code, error.exit_code) == ("SOURCE_DENIED", 2)
    assert error.message == f"{ROOT}/in/a.journal cannot be read: the store says access denied."


@pytest.mark.large
def test_a_store_that_does_not_answer_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free.getsockname()[1]}")
        error = refused(f"{ROOT}/in")
    assert isinstance(error, FaultError)
    assert (error.code, error.exit_code) == ("SOURCE_UNREADABLE", 3)
    assert error.message == f"{ROOT}/in cannot be read: the store says network connection."


def test_more_objects_than_allowed_are_refused() -> None:
    assert refused(f"{ROOT}/in", most=3).code == "TOO_MANY_FILES"


def test_manifests_are_found_in_the_prefix_and_beside_an_object(served: Store) -> None:
    keep = RawLimits(1 << 20, 1 << 10)
    statement = b'{"strandline_manifest": 1, "dialect": "sdmp", "files": []}'
    served.put("stated/a.journal", b"a\n")
    served.put("stated/a.journal.manifest.json", statement)
    served.put("stated/plain.manifest.json", b'{"no": "manifest"}')

    def loaded(source: str) -> tuple[Selection, list[tuple[str, str, bytes]]]:
        selection, manifests = load_manifests(select([source], most=9), dialect="sdmp", keep=keep)
        return selection, [(each.source, each.found_by, each.folder) for each in manifests]

    selection, manifests = loaded(f"{ROOT}/stated")
    assert [(each.source, each.size) for each in selection.files] == [
        (f"{ROOT}/stated/a.journal", 2), (f"{ROOT}/stated/plain.manifest.json", 18)
    ]  # fmt: skip
    assert manifests == [(f"{ROOT}/stated/a.journal.manifest.json", "folder", f"{ROOT}/stated".encode())]
    selection, manifests = loaded(f"{ROOT}/stated/a.journal")
    assert [each.source for each in selection.files] == [f"{ROOT}/stated/a.journal"]
    assert manifests == [(f"{ROOT}/stated/a.journal.manifest.json", "beside", f"{ROOT}/stated".encode())]


def test_a_stream_follows_no_store() -> None:
    with pytest.raises(UsageError) as caught:
        landing_folder(f"s3://{KEY_ID}:{SECRET}@{BUCKET}/in")
    assert SECRET not in str(caught.value)
    assert caught.value.code == "SOURCE_NOT_LOCAL"
    assert "strandline ingest" in caught.value.next


@pytest.mark.parametrize(
    "key", ["in/../in/a.journal", "../landing/in/a.journal", "in//a.journal", "./in/a.journal"]
)
def test_no_request_is_made_for_a_key_that_http_would_resolve_to_another(key: str) -> None:
    for ask in (objects.look_up, objects.open_object, lambda path: list(objects.objects_below(path))):
        with pytest.raises(OSError, match="its key has an empty part"):
            ask(f"{ROOT}/{key}".encode())
