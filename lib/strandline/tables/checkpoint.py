"""The checkpoint of a stream: which stream it belongs to, and whether Spark can continue from it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from strandline.core.errors import FaultError

BINDING: Final = "strandline"
"""The folder in a checkpoint that names its stream."""

_SPARKS_OWN: Final = "metadata"
_STEP: Final = re.compile(r"[0-9]{1,18}")


def bind(spark: SparkSession, checkpoint: str, owner: Mapping[str, str]) -> None:
    """Bind a new checkpoint to `owner` (lake, source, dialect), or check that an existing one is bound to it.

    A checkpoint stores which files were read. With another lake, these files would silently be missing in that lake.
    Raises: FaultError CHECKPOINT_FOREIGN, CHECKPOINT_DAMAGED.
    """
    binding = f"{checkpoint}/{BINDING}"
    text = _text(spark, binding)
    if not text and _text(spark, f"{checkpoint}/{_SPARKS_OWN}") is None:
        row = spark.createDataFrame([(json.dumps(dict(owner), sort_keys=True),)], "value STRING")
        # Mode overwrite, since a kill can leave half of it.
        row.coalesce(1).write.mode("overwrite").text(binding)
        return
    try:
        found = json.loads(text or "")
        differing = sorted(name for name in owner if found.get(name) != owner[name])
    except (ValueError, AttributeError):
        raise checkpoint_damaged(checkpoint, f"its folder {BINDING} does not name a stream") from None
    if differing:
        raise FaultError(
            "CHECKPOINT_FOREIGN",
            f"The checkpoint {checkpoint} belongs to another stream: it differs in {', '.join(differing)}",
            "name another with --checkpoint, or delete it: then all input is read again, and its records are known",
        )
    check_steps(checkpoint)


def check_steps(checkpoint: str) -> None:
    """Check that no batch of a checkpoint on this machine is committed that its list of started batches lacks.

    Spark would start that batch a second time and fail to commit it. Spark itself finds files that are cut or altered,
    and a missing list of files. Raises: FaultError CHECKPOINT_DAMAGED.
    """
    root = Path(checkpoint.removeprefix("file:"))
    committed = _last_step(root / "commits")
    if committed > _last_step(root / "offsets"):
        missing = root / "offsets" / str(committed)
        raise checkpoint_damaged(checkpoint, f"batch {committed} is committed, and {missing} is missing")


def _last_step(folder: Path) -> int:
    """Return the number of the newest file in a folder of a checkpoint, -1 without one."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return -1
    return max((int(name) for name in names if _STEP.fullmatch(name)), default=-1)


def checkpoint_damaged(checkpoint: str, what: str) -> FaultError:
    """Return the error of a checkpoint from which no stream can continue."""
    return FaultError(
        "CHECKPOINT_DAMAGED",
        f"The stream cannot continue from the checkpoint {checkpoint}: {what}",
        "name another with --checkpoint, or delete it: then all input is read again, and its records are known",
    )


def is_bound(spark: SparkSession, checkpoint: str) -> bool:
    """Return whether a checkpoint is bound to a stream."""
    return bool(_text(spark, f"{checkpoint}/{BINDING}"))


def _text(spark: SparkSession, place: str) -> str | None:
    """Return the first line of text at a path: empty if it has none, None if the path does not exist."""
    try:
        rows = spark.read.text(place).head(1)
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    return str(rows[0]["value"]) if rows else ""
