"""The daemon that Python workers are forked from: what it has loaded, and that it starts without it, too."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from strandline.config import defaults, effective, options_layer
from strandline.session import daemon
from strandline.session.conf import WORKERS, spark_conf

LIB = Path(__file__).parents[3] / "lib"
# What each worker of Spark's own daemon imports for itself.
LOADED = {
    "pandas", "pyarrow.compute", "pyspark.worker", "strandline.dialects.sdmp.kernels.facts",
    "strandline.dialects.ipfslog.kernels.documents",
}  # fmt: skip


def port_of_a_daemon(*path: Path) -> int:
    """Start the daemon as Spark does, and return the port that it listens on; it ends as its input ends."""
    started = subprocess.Popen(
        [sys.executable, "-m", WORKERS, "pyspark.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (*path, LIB))), "OMP_NUM_THREADS": "1"},
    )
    assert started.stdout is not None
    [port] = struct.unpack("!i", started.stdout.read(4))
    started.communicate(timeout=60)
    return int(port)


@pytest.mark.large
def test_everything_that_workers_import_is_there_before_the_first_fork() -> None:
    asked = f"import sys; from {WORKERS} import preload; preload(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) >= LOADED


@pytest.mark.large
def test_it_reports_its_port_to_spark_and_ends_with_spark() -> None:
    assert port_of_a_daemon() > 0


@pytest.mark.large
def test_it_starts_where_a_package_is_missing(tmp_path: Path) -> None:
    (tmp_path / "pandas.py").write_text("raise ImportError('not here')")
    assert port_of_a_daemon(tmp_path) > 0


@pytest.mark.parametrize(
    ("master", "expected"), [("local[2]", WORKERS), ("local", WORKERS), ("spark://h:1", None)]
)
def test_only_workers_on_this_machine_come_from_it(tmp_path: Path, master: str, expected: str | None) -> None:
    settings = effective((options_layer([f"spark.master={master}"]),)).settings
    conf = spark_conf(settings, temporary=tmp_path, jars=[])
    assert conf.get("spark.python.daemon.module") == expected
    assert daemon.__name__ == WORKERS
    assert "local" in defaults().spark.master


def test_workers_do_not_import_from_the_folder_that_a_command_runs_in(tmp_path: Path) -> None:
    conf = spark_conf(defaults(), temporary=tmp_path, jars=[])
    assert conf["spark.executorEnv.PYTHONSAFEPATH"] == "1"
