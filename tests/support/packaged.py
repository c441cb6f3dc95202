"""Strandline as its users have it: the wheel, environments that know it by the wheel alone, processes of its own."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pyspark

from strandline.session.conf import DELTA_CATALOG, DELTA_EXTENSION
from strandline.session.jars import coordinate

ROOT = Path(__file__).parents[2]
# A proxy that is not there: whoever asks the network for something fails at once instead of getting it.
_NO_NETWORK = " ".join(
    f"-D{scheme}.proxyHost=127.0.0.1 -D{scheme}.proxyPort=9" for scheme in ("http", "https")
)
# Many small plans, each run once: the JVM's second compiler and parallel collector cost more than they give.
# Without the second compiler Java keeps 48 MB for compiled code: a process of half a minute fills them and starts anew.
# A heap that begins small has a small part for new objects, which is full every moment while a session starts.
JAVA_OPTIONS = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:NewRatio=1 -XX:InitialRAMPercentage=4"
    f" -XX:ReservedCodeCacheSize=256m -XX:MetaspaceSize=256m {_NO_NETWORK}"
)
SECONDS = 300
# On the path of an environment's interpreters: notes who imports Strandline from where.
_RECORDER = """\
import os, sys
from importlib.machinery import PathFinder

class Recorder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "strandline":
            found = PathFinder.find_spec(name, path)
            who = "worker" if "pyspark.daemon" in sys.orig_argv else "driver"
            with open(os.path.join({folder!r}, str(os.getpid())), "a") as out:
                print(who, os.path.abspath(found.origin) if found else None, file=out)

sys.meta_path.insert(0, Recorder)
"""
# Commands as JSON: the first starts the session, which takes longer than each of them.
_IN_ONE_PROCESS = """
import json, sys
from strandline.cli import main

for words in sys.argv[1:]:
    if code := main(json.loads(words)):
        sys.exit(code)
"""


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a process that sees nothing of this checkout and nothing of these tests."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PYSPARK", "SPARK", "STRANDLINE", "VIRTUAL_ENV"))
    }
    return kept | {"JDK_JAVA_OPTIONS": JAVA_OPTIONS} | more


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout and return it. The build tools are those of this environment: no network."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-cache-dir"]
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder), str(ROOT)],
        check=True, env=environment(),
    )  # fmt: skip
    [wheel] = folder.glob("*.whl")
    return wheel


def make_python(folder: Path) -> Path:
    """Make an environment with every package of this one but Strandline, and return its python."""
    venv.EnvBuilder(symlinks=True).create(folder)
    for kind in ("purelib", "platlib"):
        ours = Path(sysconfig.get_path(kind))
        theirs = Path(sysconfig.get_path(kind, vars={"base": str(folder), "platbase": str(folder)}))
        there = {entry.name for entry in theirs.iterdir()} | {"__pycache__"}
        for entry in ours.iterdir():
            if entry.name not in there and "strandline" not in entry.name:
                (theirs / entry.name).symlink_to(entry)
    return folder / "bin" / "python"


def install(python: Path, wheel: Path) -> Path:
    """Install the wheel alone beside `python` and return the program that comes with it."""
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-cache-dir"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, env=environment())
    return python.parent / "strandline"


def make_repository(folder: Path, jars: tuple[Path, ...]) -> Path:
    """Make a Maven repository of the kept jars, and return the Ivy settings under which nothing else is asked.

    `--packages` then does offline what it does online: it resolves the coordinate and ships what it finds.
    """
    found = []
    for jar in jars:
        group, _, rest = jar.name.removesuffix(".jar").partition("_")
        artifact, _, version = rest.rpartition("-")
        found.append((group, artifact, version))
        home = folder.joinpath(*group.split("."), artifact, version)
        home.mkdir(parents=True)
        (home / f"{artifact}-{version}.jar").symlink_to(jar)
    for group, artifact, version in found:
        # Delta's own jar needs all others; the others need what Spark ships.
        others = [other for other in found if artifact.startswith("delta-spark") and other[1] != artifact]
        needs = "".join(f"<dependency>{_coordinate(*other)}</dependency>" for other in others)
        home = folder.joinpath(*group.split("."), artifact, version)
        (home / f"{artifact}-{version}.pom").write_text(
            f"<project><modelVersion>4.0.0</modelVersion>{_coordinate(group, artifact, version)}"
            f"<dependencies>{needs}</dependencies></project>"
        )
    settings = folder / "ivysettings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="kept"/><resolvers>'
        f'<ibiblio name="kept" m2compatible="true" root={quoteattr(folder.as_uri())}/>'
        "</resolvers></ivysettings>"
    )
    return settings


def _coordinate(group: str, artifact: str, version: str) -> str:
    return f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"


@dataclass(frozen=True, slots=True)
class Program:
    """The `strandline` of an installed wheel, each command a process of its own.

    `cache` holds the Delta jar, `state` gets Spark's logs.
    """

    python: Path
    cache: Path
    state: Path

    def start(
        self, *words: str, cwd: Path, script: str | None = None, **environ: str
    ) -> subprocess.Popen[str]:
        """Start a command, or with `script` what it makes of the words; its process leads a group of its own."""
        program = (
            [str(self.python.parent / "strandline")] if script is None else [str(self.python), "-c", script]
        )
        return subprocess.Popen(
            [*program, *words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, env=self._environment(environ),
        )  # fmt: skip

    def run(
        self, *words: str, cwd: Path, script: str | None = None, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run to its end what `start` starts."""
        process = self.start(*words, cwd=cwd, script=script, **environ)
        out, err = process.communicate(timeout=SECONDS)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def run_all(
        self, *commands: Sequence[str], cwd: Path, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run commands, each a list of words, one after the other in one process, until one fails."""
        return self.run(*map(json.dumps, commands), cwd=cwd, script=_IN_ONE_PROCESS, **environ)

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        settings = {"CACHE": self.cache, "STATE": self.state, "MASTER": "local[2]", "SHUFFLE_PARTITIONS": 2}
        return environment(
            # The environment's Spark by its own name instead of the link: then the archive of its classes is there.
            SPARK_HOME=str(Path(pyspark.__file__).parent),
            **{f"STRANDLINE_SPARK__{key}": str(value) for key, value in settings.items()}, **more,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cluster:
    """`spark-submit` on two executors, whose interpreters have all packages but Strandline.

    `ivy` is the file of Ivy's settings; what interpreters import Strandline from is noted in `notes`.
    """

    python: Path
    home: Path
    ivy: Path
    notes: Path

    @staticmethod
    def make(folder: Path, jars: tuple[Path, ...]) -> "Cluster":
        """Make the environment, a Spark home of links (executors write into it), the repository of jars."""
        python, home, notes = make_python(folder / "python"), folder / "spark", folder / "notes"
        notes.mkdir()
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "python")}))
        (packages / "sitecustomize.py").write_text(_RECORDER.format(folder=str(notes)))
        home.mkdir()
        for entry in (packages / "pyspark").iterdir():
            (home / entry.name).symlink_to(entry)
        return Cluster(python, home, make_repository(folder / "repository", jars), notes)

    def submit(self, job: Path, *words: str, wheel: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run `job` with Delta from --packages and Strandline from --py-files."""
        conf = {
            "spark.sql.extensions": DELTA_EXTENSION, "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
            "spark.jars.ivySettings": self.ivy, "spark.jars.ivy": self.home.parent / "ivy",
            "spark.ui.enabled": "false", "spark.log.level": "WARN", "spark.sql.shuffle.partitions": 2,
            "spark.databricks.delta.snapshotPartitions": 1,
            "spark.sql.sources.parallelPartitionDiscovery.parallelism": 4,
        }  # fmt: skip
        python = str(self.python)
        return subprocess.run(
            [
                self.home / "bin" / "spark-submit", "--master", "local-cluster[2,1,1024]", "--packages", coordinate(),
                *(word for name, value in conf.items() for word in ("--conf", f"{name}={value}")),
                "--py-files", wheel, job, *words,
            ],
            cwd=cwd, capture_output=True, text=True, timeout=SECONDS, check=False,
            env=environment(
                SPARK_HOME=str(self.home), SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=python,
                PYSPARK_DRIVER_PYTHON=python,
            ),
        )  # fmt: skip

    def imported_from(self) -> set[tuple[str, Path]]:
        """Return who, driver or worker, imported Strandline from which file."""
        noted = (
            line.split(" ", 1) for note in self.notes.iterdir() for line in note.read_text().splitlines()
        )
        return {(who, Path(origin)) for who, origin in noted}
