"""The wheel, built once; a program that was installed from it."""

from pathlib import Path

import pytest

from strandline.session.jars import cached_jars
from support.packaged import Program, build_wheel, install, make_python


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def jars(request, settings) -> tuple[Path, ...]:
    """The jars of Delta in the cache; the first session of all puts them there."""
    cache = Path(settings.spark.cache)
    if not cached_jars(cache):
        request.getfixturevalue("spark")
    return cached_jars(cache)


@pytest.fixture(scope="session")
def program(wheel, jars, settings, tmp_path_factory) -> Program:
    folder = tmp_path_factory.mktemp("installed")
    python = make_python(folder / "python")
    install(python, wheel)
    return Program(python, Path(settings.spark.cache), folder / "state")
