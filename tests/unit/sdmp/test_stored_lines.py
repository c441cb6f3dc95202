"""Questions about the stored lines of a small table are answered in the driver, without an expression of Spark."""

import pyarrow as pa

from strandline.dialects.sdmp.spark import stored_lines
from strandline.dialects.sdmp.spark.stored_lines import FEW_SEGMENTS, StoredLine, StoredLines

ROWS = pa.table(
    {
        "namespace": ["node:a", "node:a", "node:b"],
        "n": [1, 2, 1],
        "line_hash": ["h1", "h2", "h3"],
        "line_number": [None, "h1", None],
    }
)


class Tables:
    """A lake whose lines are few, or too many for the driver."""

    def __init__(self, few):
        self._few = few

    def few_rows(self, _):
        return self._few


def test_no_list_is_made_for_spark_where_spark_is_not_asked(monkeypatch):
    """2,000 hashes in a condition take Spark longer than all else that a small ingest does in the driver."""
    made = []
    monkeypatch.setattr(stored_lines, "is_listed", lambda *given: made.append(given))
    small = StoredLines(["node:a"], Tables(ROWS), None)
    assert small.lines({("node:a", "h2"), ("node:a", "h9")}) == {("node:a", "h2"): StoredLine(2, "h1")}
    stored, followed = small.ends({("node:a", "h2"): 2, ("node:a", "h1"): 1}, {1, 2})
    assert (stored, followed) == ({("node:a", "h2"), ("node:a", "h1")}, {("node:a", "h1")})
    large = StoredLines(["node:a"], Tables(None), None)
    many = {("node:a", f"h{number}") for number in range(FEW_SEGMENTS)}
    assert large.lines(many) is None
    assert large.ends(dict.fromkeys(many, 1), {1}) is None
    assert made == []
