"""A real HDFS on this machine: one name node and one data node of Hadoop's MiniDFSCluster, on loopback alone.

By hand: `PYTHONPATH=tests .venv/bin/python -m support.hdfs` starts one and says where it is; Ctrl-C ends it.
"""

import json
import os
import re
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyspark

from support.fetched_jars import fetched_jars
from support.processes import OF_THE_TESTS
from support.until_ctrl_c import until_ctrl_c

LOCK = OF_THE_TESTS / "hdfs" / "minicluster.lock"
CACHE = Path.home() / ".cache" / "strandline" / "hdfs"
BOX = "/landing"
OWNER, STRANGER = "operator", "stranger"
_SUPER = "hdfs"
"""The user who runs the cluster may do everything in it."""
_OF_SPARK = ("hadoop-client-api-*", "hadoop-client-runtime-*", "slf4j-api-*", "jcl-over-slf4j-*")
"""The jars of pyspark that the cluster needs, too: they are of the same version of Hadoop."""
_HEAP = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SECONDS = 90


@dataclass(frozen=True)
class Hdfs:
    """A running cluster with an empty folder that only its owner may read. `put` and `remove` ask WebHDFS."""

    name_node: str
    web: str

    secrets: ClassVar[tuple[str, ...]] = ()

    @property
    def root(self) -> str:
        return f"hdfs://{self.name_node}{BOX}"

    alias = root
    """A path of HDFS has one spelling."""

    @property
    def nowhere(self) -> str:
        return f"hdfs://{self.name_node}/no-such-folder"

    @property
    def environment(self) -> dict[str, str]:
        """What a process that reads from it has in its environment."""
        return {"HADOOP_USER_NAME": OWNER}

    def put(self, key: str, content: bytes) -> str:
        """Write a file and return its URI."""
        self._ask("PUT", f"{BOX}/{key}", "op=CREATE&overwrite=true", content)
        return f"{self.root}/{key}"

    def remove(self, key: str) -> None:
        self._ask("DELETE", f"{BOX}/{key}", "op=DELETE&recursive=true")

    def make_folder(self) -> None:
        self._ask("PUT", BOX, "op=MKDIRS&permission=700")

    def allow(self, key: str, mode: str) -> None:
        """Set the permissions of a path."""
        self._ask("PUT", f"{BOX}/{key}", f"op=SETPERMISSION&permission={mode}")

    def open_root(self) -> None:
        """Let everyone write to the root."""
        self._ask("PUT", "/", "op=SETPERMISSION&permission=777", user=_SUPER)

    def _ask(
        self, method: str, path: str, query: str, content: bytes | None = None, user: str = OWNER
    ) -> None:
        url = f"{self.web}/webhdfs/v1{urllib.parse.quote(path)}?user.name={user}&{query}"
        if content is not None:
            # The name node says which data node takes the bytes.
            request = urllib.request.Request(f"{url}&noredirect=true", method=method)
            with urllib.request.urlopen(request, timeout=60) as answer:
                url = urllib.parse.quote(json.load(answer)["Location"], safe="/:?&=%")
        request = urllib.request.Request(url, data=content, method=method)
        if content is not None:
            request.add_header("Content-Type", "application/octet-stream")
        urllib.request.urlopen(request, timeout=60).close()


@contextmanager
def hdfs() -> Iterator[Hdfs]:
    """Run a cluster on free ports of loopback until the end of the block."""
    of_spark = Path(pyspark.__file__).parent / "jars"
    jars = [*fetched_jars(LOCK, CACHE), *(jar for name in _OF_SPARK for jar in of_spark.glob(name))]
    program = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    quiet = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
    quiet["HADOOP_USER_NAME"] = _SUPER
    with tempfile.TemporaryDirectory(prefix="strandline-hdfs-") as folder:
        told = Path(folder, "conf.xml")
        words = [
            str(program), *_HEAP, "-cp", os.pathsep.join(map(str, jars)),
            "org.apache.hadoop.test.MiniDFSClusterManager", "-format", "-writeConfig", str(told),
            "-D", f"hdfs.minidfs.basedir={folder}/data", "-D", f"hadoop.tmp.dir={folder}/tmp",
        ]  # fmt: skip
        with (
            Path(folder, "log").open("wb") as log,
            subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, env=quiet
            ) as process,
        ):
            try:
                running = _when_told(process, told)
                running.open_root()
                running.make_folder()
                yield running
            finally:
                process.kill()


def _when_told(process: "subprocess.Popen[bytes]", told: Path) -> Hdfs:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until and process.poll() is None:
        if told.exists() and (text := told.read_text(encoding="utf-8")).rstrip().endswith("</configuration>"):
            name_node, web = (_port(text, f"dfs.namenode.{name}-address") for name in ("rpc", "http"))
            return Hdfs(f"127.0.0.1:{name_node}", f"http://127.0.0.1:{web}")
        time.sleep(0.1)
    raise AssertionError((told.parent / "log").read_text(errors="replace")[-3000:])


def _port(configuration: str, name: str) -> str:
    [found] = re.findall(rf"<name>{re.escape(name)}</name><value>[^<]*:(\d+)</value>", configuration)
    return found


def main() -> None:
    """Run a cluster until Ctrl-C."""
    with hdfs() as running:
        until_ctrl_c(f"{running.root} as user {OWNER}; WebHDFS at {running.web}")


if __name__ == "__main__":
    main()
