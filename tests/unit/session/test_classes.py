"""The archive of Java's classes: written once, used when whole, never by two commands at once, never many."""

import errno
import os
from pathlib import Path

import pytest

from strandline.session.classes import KEPT, TRIED_AGAIN_AFTER, archive_options

HERE = ("17.0.15", "/usr/bin/java", "4.2.0", "/env/pyspark")
WHOLE = bytes.fromhex("a8ab0bf0") + b"classes"


def written_to(cache, described=HERE):
    """The archive that the options tell Java to write or to use."""
    [path] = [option.partition("=")[2] for option in archive_options(cache, described) if "jsa" in option]
    return path


def test_the_first_session_writes_the_archive_and_the_next_ones_use_it(tmp_path):
    first = archive_options(tmp_path, HERE)
    path = first[1].removeprefix("-XX:ArchiveClassesAtExit=")
    assert path.startswith(str(tmp_path))
    with open(path, "wb") as archive:
        archive.write(WHOLE)
    assert archive_options(tmp_path, HERE)[1:] == (f"-XX:SharedArchiveFile={path}", "-XX:+VerifySharedSpaces")


def test_each_java_and_each_installation_has_an_archive_of_its_own(tmp_path):
    others = [(*HERE[:at], "other", *HERE[at + 1 :]) for at in range(len(HERE))]
    assert len({written_to(tmp_path, described) for described in (HERE, *others)}) == 1 + len(HERE)


def test_what_a_killed_java_left_behind_is_not_used_but_written_again(tmp_path):
    path = written_to(tmp_path)
    with open(path, "wb") as archive:
        archive.write(bytes(len(WHOLE)))
    (tried,) = tmp_path.glob("classes/*.tried")
    long_ago = tried.stat().st_mtime - TRIED_AGAIN_AFTER - 1
    os.utime(tried, (long_ago, long_ago))
    assert archive_options(tmp_path, HERE)[1] == f"-XX:ArchiveClassesAtExit={path}"


def test_commands_started_together_do_not_all_write_it(tmp_path):
    assert archive_options(tmp_path, HERE)
    assert archive_options(tmp_path, HERE) == ()


def test_the_last_used_archives_stay_and_older_ones_go(tmp_path):
    paths = [written_to(tmp_path, (*HERE, str(number))) for number in range(KEPT + 2)]
    for at, path in enumerate(paths):
        with open(path, "wb") as archive:
            archive.write(WHOLE)
        os.utime(path, (at + 1, at + 1))
    assert written_to(tmp_path, (*HERE, "0")) == paths[0]
    assert sorted(map(str, tmp_path.glob("classes/*.jsa"))) == sorted([paths[0], *paths[-KEPT + 1 :]])


@pytest.mark.parametrize("calls", [("touch",), ("touch", "mkdir")], ids="-".join)
def test_in_a_cache_that_cannot_be_written_an_archive_is_used_and_none_is_written(
    tmp_path, monkeypatch, calls
):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    path = Path(written_to(tmp_path))
    for call in calls:
        monkeypatch.setattr(Path, call, refuse)
    monkeypatch.setattr(os, "utime", refuse)
    assert archive_options(tmp_path, HERE) == ()
    path.write_bytes(WHOLE)
    assert archive_options(tmp_path, HERE)[1] == f"-XX:SharedArchiveFile={path}"
