"""Where rows of a namespace lie."""

from strandline.core.ids import bucket_of

BUCKETS = 16


def place(namespace, buckets=BUCKETS):
    """The first two columns of every table."""
    return {"namespace": namespace.text, "bucket": bucket_of(namespace.text, buckets)}
