"""Jars are used when their SHA-256 is the pinned one, and never otherwise: fetched ones and kept ones."""

import hashlib
import io
from pathlib import Path

import pytest

from strandline.config import defaults
from strandline.core.errors import FaultError
from strandline.session import jars
from strandline.session.conf import spark_conf
from strandline.session.jars import cached_jars, coordinate, fetch_jars, kafka_coordinate, ready_jars
from strandline.session.pins import PINS, Jar

ASKED = "org.example:one:1.0"
CONTENTS = {"one": b"jar one", "two": b"jar two"}


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment in which a folder is the repository of two pinned jars."""
    pinned = tuple(
        Jar("org.example", name, "1.0", hashlib.sha256(content).hexdigest())
        for name, content in CONTENTS.items()
    )
    monkeypatch.setattr(jars, "PINS", {ASKED: pinned})
    for jar in pinned:
        place = tmp_path / "mirror" / jar.path
        place.parent.mkdir(parents=True)
        place.write_bytes(CONTENTS[jar.artifact])
    return {"DEFAULT_ARTIFACT_REPOSITORY": (tmp_path / "mirror").as_uri()}


def in_mirror(environ: dict[str, str], name: str) -> Path:
    folder = Path(environ["DEFAULT_ARTIFACT_REPOSITORY"].removeprefix("file://"))
    return folder / "org" / "example" / name / "1.0" / f"{name}-1.0.jar"


def test_the_jars_of_the_installed_versions_are_pinned_and_no_others() -> None:
    assert set(PINS) == {coordinate(), kafka_coordinate()}
    names = [jar.name for pinned in PINS.values() for jar in pinned]
    assert len(set(names)) == len(names) == 11
    assert all(len(bytes.fromhex(jar.sha256)) == 32 for pinned in PINS.values() for jar in pinned)


def test_what_is_fetched_is_kept_and_then_needs_no_network(tmp_path: Path, mirror: dict[str, str]) -> None:
    cache = tmp_path / "cache"
    assert cached_jars(cache, ASKED) == ()
    kept = ready_jars(cache, [ASKED], mirror)
    assert [jar.read_bytes() for jar in kept] == list(CONTENTS.values())
    nowhere = {"DEFAULT_ARTIFACT_REPOSITORY": "file:///nowhere"}
    assert ready_jars(cache, [ASKED], nowhere) == cached_jars(cache, ASKED) == kept
    assert [entry.name for entry in (cache / "jars").iterdir()] == ["org.example_one_1.0"]


def test_a_fetched_jar_of_the_right_size_and_other_bytes_is_refused(
    tmp_path: Path, mirror: dict[str, str]
) -> None:
    in_mirror(mirror, "two").write_bytes(b"jar 2wo")
    with pytest.raises(FaultError) as refused:
        fetch_jars(tmp_path / "cache", ASKED, mirror)
    assert refused.value.code == "JAR_ALTERED"
    assert list((tmp_path / "cache" / "jars").iterdir()) == []


@pytest.mark.parametrize("damage", ["missing", "cut", "same size"])
def test_a_kept_jar_that_is_another_is_not_used_and_fetched_again(
    tmp_path: Path, mirror: dict[str, str], damage: str
) -> None:
    cache = tmp_path / "cache"
    first = fetch_jars(cache, ASKED, mirror)[0]
    match damage:
        case "missing":
            first.unlink()
        case "cut":
            first.write_bytes(b"j")
        case _:
            first.write_bytes(b"jar 0ne")
    assert cached_jars(cache, ASKED) == ()
    assert ready_jars(cache, [ASKED], mirror)[0].read_bytes() == CONTENTS["one"]


def test_a_jar_that_cannot_be_fetched_is_named_with_its_place(tmp_path: Path, mirror: dict[str, str]) -> None:
    in_mirror(mirror, "one").unlink()
    with pytest.raises(FaultError, match=r"one-1\.0\.jar") as refused:
        fetch_jars(tmp_path / "cache", ASKED, mirror)
    assert refused.value.code == "JAR_NOT_FETCHED"


def test_a_version_without_pins_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(FaultError) as refused:
        fetch_jars(tmp_path, coordinate("4.2.0", "9.9.9"), {})
    assert refused.value.code == "JAR_UNKNOWN"
    assert list(tmp_path.iterdir()) == []


def test_a_session_gets_paths_and_fetches_nothing_by_itself(tmp_path: Path) -> None:
    conf = spark_conf(defaults(), temporary=tmp_path, jars=[Path("/c/delta.jar"), Path("/c/kafka.jar")])
    assert conf["spark.jars"] == "/c/delta.jar,/c/kafka.jar"
    assert not [name for name in conf if name.startswith(("spark.jars.packages", "spark.jars.ivy"))]


def test_a_repository_may_end_in_slashes(tmp_path: Path, mirror: dict[str, str]) -> None:
    asked = []

    def opened(source: str, **_: object) -> io.BytesIO:
        asked.append(source)
        return io.BytesIO(CONTENTS["one" if "/one/" in source else "two"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("urllib.request.urlopen", opened)
        for number, ending in enumerate(("", "/", "//")):
            fetch_jars(
                tmp_path / str(number), ASKED, {"DEFAULT_ARTIFACT_REPOSITORY": f"https://mirror{ending}"}
            )
    assert len(asked) == 6
    assert len(set(asked)) == 2


def test_jars_that_another_process_put_there_meanwhile_stay(
    tmp_path: Path, mirror: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session may read them: they are not replaced by equal ones."""
    fetched = jars._fetched
    other: list[tuple[int, ...]] = []

    def inodes() -> tuple[int, ...]:
        return tuple(jar.stat().st_ino for jar in cached_jars(tmp_path / "cache", ASKED))

    def meanwhile(jar: Jar, repository: str) -> bytes:
        if not other:
            other.append(())
            fetch_jars(tmp_path / "cache", ASKED, mirror)
            other[0] = inodes()
        return fetched(jar, repository)

    monkeypatch.setattr(jars, "_fetched", meanwhile)
    fetch_jars(tmp_path / "cache", ASKED, mirror)
    assert inodes() == other[0] != ()
