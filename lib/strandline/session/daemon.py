"""The process from which Spark's Python workers are forked, with all imports done.

Spark's daemon forks first, and each worker then imports pandas, Arrow and the kernels: more than half a second of CPU
each. Here they are imported once. Otherwise workers behave as before.
"""

import gc

from pyspark.daemon import manager


def preload() -> None:
    """Import what workers import, and exclude it from later garbage collections.

    No imported module may start a thread: a fork does not copy threads. Spark sets OMP_NUM_THREADS, so that numpy
    starts none; the allocators of Arrow support forks.
    """
    import pandas  # noqa: F401
    import pyarrow.compute  # noqa: F401
    import pyspark.worker  # noqa: F401

    from strandline.dialects import every

    every()
    # A worker collects garbage after each task: it need not scan the shared objects.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    try:
        preload()
    except ImportError:
        # Workers then import what they need and report what is missing.
        gc.unfreeze()
    manager()
