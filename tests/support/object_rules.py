"""What `ingest` reads of a store, whichever it is: a store's tests are a subclass that runs its server."""

import gzip
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import ClassVar, Protocol

import pytest

from strandline.core.errors import FaultError, StrandlineError
from strandline.kernels import object_stores, objects
from strandline.kernels.lines import RawLimits
from strandline.tables.manifests import load_manifests
from strandline.tables.sources import Selection, select
from support.selections import read

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
VISIBLE = ["in/a.journal", "in/sub/[x].journal", "in/sub/b.journal", "in/sub/deep/c d%20é?#.journal"]


class ObjectServer(Protocol):
    """A running server with an empty bucket, whose URI is `root`."""

    root: ClassVar[str]
    alias: ClassVar[str]
    """The same bucket in another spelling."""
    nowhere: ClassVar[str]
    """A bucket that is not there."""
    secrets: ClassVar[tuple[str, ...]]

    @property
    def environment(self) -> Mapping[str, str]: ...

    def put(self, key: str, content: bytes) -> str: ...

    def remove(self, key: str) -> None: ...


class ObjectRules:
    """The rules. `serve` runs a server. `denied` is what a store says that refuses what is `asked` for; `silent` is
    what is said of one that is not there.

    In `forbidden` the process has no right to read; `elsewhere` is the environment of one whose server is at an
    address.
    """

    serve: ClassVar[Callable[[], AbstractContextManager[ObjectServer]]]
    denied: ClassVar[str]
    asked: ClassVar[tuple[str, ...]] = ("in/a.journal", "in/sub", "in/*")
    silent: ClassVar[str]

    @staticmethod
    def forbidden(served: ObjectServer) -> AbstractContextManager[None]:
        raise NotImplementedError

    @staticmethod
    def elsewhere(address: str) -> Mapping[str, str]:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def served(cls) -> Iterator[ObjectServer]:
        with cls.serve() as running:
            for key, content in CONTENT.items():
                running.put(key, content)
            yield running

    @pytest.fixture(autouse=True)
    def environment(self, served: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """A process that may read the store, and knows no other."""
        for name, value in served.environment.items():
            monkeypatch.setenv(name, value)
        objects._files.cache_clear()
        yield
        objects._files.cache_clear()

    @pytest.fixture
    def keys(self, served: ObjectServer) -> Callable[..., list[str]]:
        """Returns the keys that a run reads of sources, given as keys below the bucket, or as URIs."""

        def found(*sources: str, most: int = 100) -> list[str]:
            files = select([_uri(served, source) for source in sources], most=most).files
            assert [each.file_no for each in files] == list(range(len(files)))
            for each in files:
                assert each.source.startswith(f"{served.root}/")
                assert each.size == len(CONTENT[each.source.removeprefix(f"{served.root}/")])
            return [each.source.removeprefix(f"{served.root}/") for each in files]

        return found

    @pytest.fixture
    def refused(self, served: ObjectServer) -> Callable[..., StrandlineError]:
        """Returns the error of sources that are not read."""

        def error(*sources: str, most: int = 100) -> StrandlineError:
            with pytest.raises(StrandlineError) as caught:
                select([_uri(served, source) for source in sources], most=most)
            text = f"{caught.value} {caught.value.next}"
            assert not [secret for secret in served.secrets if secret in text]
            return caught.value

        return error

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
    def test_a_source_is_an_object_or_a_prefix_or_a_glob_of_keys(self, served, keys, source, found) -> None:
        assert keys(source) == found
        assert keys(f"{served.alias}/{source}") == found

    def test_a_bucket_is_read_whole_and_an_object_given_twice_once(self, served, keys, refused) -> None:
        assert keys(served.root, "inner") == [*VISIBLE, "inner/f.journal"]
        assert keys("in", "in/a.journal", f"{served.alias}/in/*.journal") == VISIBLE
        assert refused("in", most=3).code == "TOO_MANY_FILES"

    @pytest.mark.parametrize("source", ["absent", "in/*.gz", "absent/*", "in/a.journal/x", "i"])
    def test_what_is_not_there_is_named(self, served, refused, source) -> None:
        for uri in (f"{served.root}/{source}", served.nowhere, f"{served.nowhere}/{source}"):
            error = refused(uri)
            assert (error.code, error.exit_code) == ("SOURCE_MISSING", 2)
            assert uri in error.message

    def test_who_may_not_read_learns_what_the_store_says(self, served, refused) -> None:
        with self.forbidden(served):
            for source in self.asked:
                error = refused(source)
                assert (error.code, error.exit_code) == ("SOURCE_DENIED", 2)
                assert (
                    error.message == f"{_uri(served, source)} cannot be read: the store says {self.denied}."
                )

    @pytest.mark.large
    def test_a_store_that_does_not_answer_is_a_fault(self, served, refused, monkeypatch) -> None:
        monkeypatch.setattr(object_stores, "RETRY_SECONDS", 1)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            for name, value in self.elsewhere(f"127.0.0.1:{free.getsockname()[1]}").items():
                monkeypatch.setenv(name, value)
            error = refused("in/a.journal")
        assert isinstance(error, FaultError)
        assert (error.code, error.exit_code) == ("SOURCE_UNREADABLE", 3)
        assert error.message == f"{served.root}/in/a.journal cannot be read: the store {self.silent}."

    def test_tasks_read_what_lies_there_and_what_went_is_one_rejected_record(self, served) -> None:
        served.put("moving/kept.gz", gzip.compress(b"kept\n" * 3_000_000))
        served.put("moving/cut.gz", gzip.compress(b"cut\n" * 1000)[:-9])
        served.put("moving/gone", b"gone\n")
        selection = select([f"{served.root}/moving"], most=9)
        served.remove("moving/gone")
        found = read(selection)
        assert found["kept.gz"] == (b"kept\n" * 3_000_000, None, None)
        assert found["gone"] == (f"{served.root}/moving/gone".encode(), "FILE_UNREADABLE", "no such object")
        assert found["cut.gz"][1] == "TRUNCATED"

    def test_a_key_with_an_empty_part_is_one_rejected_record(self, served) -> None:
        served.put("odd/a.journal", b"a\n")
        served.put("odd//b.journal", b"b\n")
        served.put("odd/folder/", b"")
        *refused, last = select([f"{served.root}/odd"], most=9).files
        assert last.source == f"{served.root}/odd/a.journal"
        assert [each.source.startswith(f"{served.root}/odd//") for each in refused] == [True]
        [_, damage, cause] = read(Selection(tuple(refused), (), ()))[
            refused[0].source.rstrip("/").split("/")[-1]
        ]
        assert (damage, cause) == ("FILE_UNREADABLE", "its key has an empty part, `.` or `..`")

    def test_manifests_are_found_in_the_prefix_and_beside_an_object(self, served) -> None:
        keep = RawLimits(1 << 20, 1 << 10)
        statement = b'{"strandline_manifest": 1, "dialect": "sdmp", "files": []}'
        stated = f"{served.root}/stated"
        served.put("stated/a.journal", b"a\n")
        served.put("stated/a.journal.manifest.json", statement)
        served.put("stated/plain.manifest.json", b'{"no": "manifest"}')

        def loaded(source: str) -> tuple[Selection, list[tuple[str, str, bytes]]]:
            selection, manifests = load_manifests(select([source], most=9), dialect="sdmp", keep=keep)
            return selection, [(each.source, each.found_by, each.folder) for each in manifests]

        selection, manifests = loaded(stated)
        assert [(each.source, each.size) for each in selection.files] == [
            (f"{stated}/a.journal", 2), (f"{stated}/plain.manifest.json", 18)
        ]  # fmt: skip
        assert manifests == [(f"{stated}/a.journal.manifest.json", "folder", stated.encode())]
        selection, manifests = loaded(f"{stated}/a.journal")
        assert [each.source for each in selection.files] == [f"{stated}/a.journal"]
        assert manifests == [(f"{stated}/a.journal.manifest.json", "beside", stated.encode())]

    @pytest.mark.parametrize(
        "key", ["in/../in/a.journal", "../landing/in/a.journal", "in//a.journal", "./in/a.journal"]
    )
    def test_no_request_is_made_for_a_key_that_http_would_resolve_to_another(self, served, key) -> None:
        for ask in (objects.look_up, objects.open_object, lambda path: list(objects.objects_below(path))):
            with pytest.raises(OSError, match="its key has an empty part"):
                ask(f"{served.root}/{key}".encode())


def _uri(served: ObjectServer, source: str) -> str:
    return source if "://" in source else f"{served.root}/{source}"
