"""Where rows of a namespace lie."""

from strandline.core.ids import bucket_of

BUCKETS = 4
"""Of a lake of tests: a MERGE writes a file for each bucket that it touches, and the 16 of a new lake show no more."""


def place(namespace, buckets=BUCKETS):
    """The first two columns of every table."""
    return {"namespace": namespace.text, "bucket": bucket_of(namespace.text, buckets)}
