"""The process that Spark's Python workers are forked from, with all that they need already loaded.

Spark's own daemon forks first, and each worker then imports pandas, Arrow and the kernels for itself: more than half a
second of CPU each. Here they are imported once. Workers are told nothing else and speak with Spark as before.
"""

import gc

from pyspark.daemon import manager


def preload() -> None:
    """Import what workers import, and keep it out of every later collection.

    No module that is imported may leave a thread behind: a fork does not copy threads. Spark sets OMP_NUM_THREADS, so
    that numpy starts none; the allocators of Arrow know forks.
    """
    import pandas  # noqa: F401
    import pyarrow.compute  # noqa: F401
    import pyspark.worker  # noqa: F401

    from strandline.dialects import every

    every()
    # A worker collects garbage after each task: what all of them share need not be looked through.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    try:
        preload()
    except ImportError:
        # Not all of it is there: workers then import what they need, and fail by themselves if it is missing.
        gc.unfreeze()
    manager()
