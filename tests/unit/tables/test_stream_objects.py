"""Which prefixes a stream can follow, and what a run reads of objects that were listed before."""

from collections.abc import Iterator

import pytest

from strandline.core.errors import UsageError
from strandline.kernels import objects
from strandline.kernels.lines import RawLimits
from strandline.tables import manifests
from strandline.tables.beside import KnownManifests
from strandline.tables.sources import select
from strandline.tables.stream_objects import hadoop_uri, landing_prefix, listed_path, path_below
from support.s3 import BUCKET, KEY_ID, SECRET, Store, store
from support.selections import read

ROOT = Store.root


@pytest.fixture(scope="module", autouse=True)
def served() -> Iterator[Store]:
    """A server, of which the process knows."""
    with store() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        objects._files.cache_clear()
        running.put("in/a.journal", b"a\n")
        yield running
    objects._files.cache_clear()


def test_objects_that_were_listed_before_are_read_without_another_look(served: Store) -> None:
    served.put("batch/a.journal", b"a\n")
    served.put("batch/stated.manifest.json", b'{"strandline_manifest": 1}')
    there, gone = (f"{ROOT}/batch/{name}".encode() for name in ("a.journal", "gone.journal"))
    nowhere = b"s3://no-such-bucket/batch/a.journal"
    selection = select((), most=9, listed={gone: 7, there: 2, nowhere: 5})
    assert [(each.path, each.size) for each in selection.files] == [(there, 2), (gone, 7), (nowhere, 5)]
    assert [each.path for each in selection.manifests] == [f"{ROOT}/batch/stated.manifest.json".encode()]
    found = read(select((), most=9, listed={gone: 7, there: 2}))
    assert found["a.journal"] == (b"a\n", None, None)
    assert found["gone.journal"] == (gone, "FILE_UNREADABLE", "no such object")


def test_batches_of_objects_read_the_manifests_of_their_objects_and_others_once(
    served: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = b'{"strandline_manifest": 1, "dialect": "sdmp", "files": []}'
    for name in ("1", "2", "3", "other"):
        served.put(f"many/{name}.manifest.json", statement)
    for number in range(1, 4):
        served.put(f"many/{number}", b"a\n")
    known, opened = KnownManifests(), []
    really = manifests.open_input
    monkeypatch.setattr(manifests, "open_input", lambda path: (opened.append(path), really(path))[1])

    def batch(number: int) -> list[str]:
        opened.clear()
        listed = {f"{ROOT}/many/{number}".encode(): 2}
        selection = select((), most=3, listed=listed, known=known)
        manifests.load_manifests(selection, dialect="sdmp", keep=RawLimits(1 << 20, 1 << 10), known=known)
        return [path.decode().rpartition("/")[2].removesuffix(".manifest.json") for path in opened]

    assert [batch(number) for number in (1, 2, 3)] == [["1", "other"], ["2"], ["3"]]
    served.put("many/other.manifest.json", statement + b" ")
    assert batch(1) == ["1", "other"]


@pytest.mark.parametrize(
    ("source", "prefix"),
    [
        (f"{ROOT}/in", f"{ROOT}/in"),
        (f"s3a://{BUCKET}/in/sub/", f"{ROOT}/in/sub"),
        (f"{ROOT}/", ROOT),
        (f"{ROOT}/in%20é#", f"{ROOT}/in%20é#"),
        (f"{ROOT}/nothing/yet", f"{ROOT}/nothing/yet"),
    ],
)
def test_a_stream_follows_a_prefix_also_before_its_first_object(source: str, prefix: str) -> None:
    assert landing_prefix(source) == prefix.encode()


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (f"s3://{KEY_ID}:{SECRET}@{BUCKET}/in", "SOURCE_URI"),
        (f"{ROOT}/in//sub", "SOURCE_URI"),
        ("s3://no-such-bucket/in", "SOURCE_MISSING"),
        ("s3://no-such-bucket", "SOURCE_MISSING"),
        (f"{ROOT}/in/a.journal", "SOURCE_NOT_A_FOLDER"),
        *((f"{ROOT}/{name}", "SOURCE_IS_PATTERN") for name in ("in/*", "a?", "[a]", "{a,b}", "a\\b")),
    ],
)
def test_what_no_stream_can_follow_is_refused(source: str, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        landing_prefix(source)
    assert caught.value.code == code
    assert SECRET not in str(caught.value)


def test_a_bucket_is_there_if_the_store_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert objects.root_exists(f"{ROOT}/in".encode())
    assert not objects.root_exists(b"s3://no-such-bucket/in")

    def silent(*_: object) -> object:
        raise OSError("no answer")

    monkeypatch.setattr(objects, "_files", silent)
    assert objects.root_exists(b"hdfs://namenode:8020/in")
    assert objects.root_exists(b"s3://no-such-bucket/in")


def test_a_folder_and_a_topic_are_no_prefix() -> None:
    for source in ("landing", "file:///landing", "kafka://localhost:9092/topic", "http://example.org/in"):
        assert landing_prefix(source) is None


def test_keys_are_literal_on_the_way_to_hadoop_and_back() -> None:
    for key in ("in", "in/sub x%20é#", "in/12:30"):
        prefix = f"{ROOT}/{key}".encode()
        uri = hadoop_uri(prefix, on_databricks=False)
        assert uri == f"s3a://{BUCKET}/{key}"
        assert hadoop_uri(prefix, on_databricks=True) == f"{ROOT}/{key}"
        assert path_below(prefix, f"{uri}/c d%20é?#.journal") == prefix + "/c d%20é?#.journal".encode()
    for uri in ("gs://bucket/in", "abfss://box@account1.dfs.core.windows.net/in", "hdfs://namenode:8020/in"):
        assert hadoop_uri(uri.encode(), on_databricks=False) == uri
        assert listed_path(uri) == f"{uri[:-1]}{{n/}}"
        assert path_below(uri.encode(), f"{uri}/a%20 b") == f"{uri}/a%20 b".encode()
    assert listed_path("s3a://b/a,b/in") == "s3a://b/a,b/i{n/}"
    # Hadoop cannot read a glob with a colon, and a comma would divide it.
    for uri in (f"s3a://{BUCKET}", "s3a://b/12:30", "s3a://b/12:30/in", "s3a://b/in,"):
        assert listed_path(uri) == uri
