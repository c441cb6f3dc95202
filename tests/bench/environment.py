"""Where figures were measured: versions, cores, heap, and how busy the machine was."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from strandline.config import Settings

_PACKAGES = ("strandline", "pyspark", "delta-spark", "pandas", "pyarrow", "deltalake", "polars")


def environment(spark: SparkSession, settings: Settings) -> dict[str, Any]:
    """Return what a reader needs to judge the figures, as JSON values."""
    jvm: Any = spark.sparkContext._jvm
    return {
        "python": platform.python_version(),
        "java": str(jvm.System.getProperty("java.version")),
        **{name: version(name) for name in _PACKAGES},
        "cores": os.cpu_count(),
        "processor": _processor(),
        "memory_gib": _memory_gib(),
        "system": f"{platform.system()} {platform.release()}",
        "master": settings.spark.master,
        "heap": settings.spark.driver_memory,
        "shuffle_partitions": settings.spark.shuffle_partitions,
    }


def load_average() -> float:
    """Return the processes that wanted to run, on average over the last minute."""
    return round(os.getloadavg()[0], 2)


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    return next(names, platform.machine())


def _memory_gib() -> float:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
