"""Spark Connect on this machine: the JVM of the tests or a server of its own, from the jars that pyspark ships and the
cached jars of Delta; and clients that reach no JVM but through it.

By hand: `PYTHONPATH=tests .venv/bin/python -m support.connect_server` starts one and says where it is; Ctrl-C ends it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from strandline.session.conf import DELTA_CATALOG, DELTA_EXTENSION
from strandline.session.jars import cached_jars
from support.packaged import ROOT
from support.processes import free_ports, wait_for_port

SECONDS = 120
_MAIN = "org.apache.spark.sql.connect.service.SparkConnectServer"
_JAVA = "-XX:+UseSerialGC -Xmn500m -XX:ReservedCodeCacheSize=384m -XX:MetaspaceSize=256m"
_WITH_DELTA = {"spark.sql.extensions": DELTA_EXTENSION, "spark.sql.catalog.spark_catalog": DELTA_CATALOG}
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}


@dataclass(frozen=True)
class Server:
    """A running server: where clients find it, its process, its log."""

    remote: str
    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def serve(spark: SparkSession) -> str:
    """Let the JVM of a session answer clients until it ends, and return where they find it."""
    jvm, [port] = spark.sparkContext._jvm, map(str, free_ports(1))
    conf = jvm.org.apache.spark.SparkEnv.get().conf()
    conf.set("spark.connect.grpc.binding.address", "127.0.0.1")
    conf.set("spark.connect.grpc.binding.port", port)
    # As the program of Spark's server does: what a client sends is for its session alone.
    for name in ("enabled", "alwaysApplyClassloader"):
        spark._jsparkSession.sharedState().conf().set(f"spark.sql.artifact.isolation.{name}", "true")
    jvm.org.apache.spark.sql.connect.service.SparkConnectService.start(spark.sparkContext._jsc.sc())
    return f"sc://127.0.0.1:{port}"


@contextmanager
def connect_server(
    folder: Path, jars: Iterable[Path], conf: Mapping[str, str] = _WITH_DELTA
) -> Iterator[Server]:
    """Run a server while the block runs. It writes to `folder`, a new one. A host has set nothing but Delta."""
    folder.mkdir(parents=True)
    home, [port] = Path(pyspark.__file__).parent, free_ports(1)
    conf = {
        **_QUIET, **conf, "spark.connect.grpc.binding.port": str(port), "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }  # fmt: skip
    given = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    command = [
        str(home / "bin" / "spark-submit"), "--class", _MAIN, "--master", "local[2]", "--driver-memory", "2g",
        "--driver-java-options", f"{_JAVA} -Djava.io.tmpdir={folder}", *given,
    ]  # fmt: skip
    if jars:
        command += ["--jars", ",".join(map(str, jars))]
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "JDK_"))},
        "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_NO_DAEMONIZE": "1",
    }  # fmt: skip
    log = folder / "server.log"
    with log.open("ab") as told:
        process = subprocess.Popen(
            [*command, "spark-internal"], stdin=subprocess.DEVNULL, stdout=told, stderr=told, cwd=folder, env=environ
        )  # fmt: skip
        try:
            wait_for_port(process, port, log, SECONDS)
            yield Server(f"sc://127.0.0.1:{port}", process, log)
        finally:
            process.kill()
            process.wait()


def as_client(remote: str, folder: Path, *words: str, **more: str) -> str:
    """Run this Python with arguments as a client of a server, and return what it printed.

    It works in `folder`, has no Java on its path, and no session but that of the server.
    """
    bare = folder / "no-java"
    bare.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "LC_ALL", "TMPDIR")}
    path = os.pathsep.join([str(ROOT / "lib"), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, cwd=folder,
        env=kept | {"SPARK_REMOTE": remote, "PATH": str(bare), "PYTHONPATH": path} | more,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def main() -> None:
    """Run a server until Ctrl-C."""
    folder = Path(tempfile.mkdtemp(prefix="strandline-connect-"))
    try:
        with connect_server(folder / "server", cached_jars(Path.home() / ".cache" / "strandline")) as server:
            print(f"a server runs: SPARK_REMOTE={server.remote}; Ctrl-C ends it", flush=True)
            server.process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
