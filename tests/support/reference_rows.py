"""What the references of all dialects share: rows of quarantine, rows as a lake gives them, comparison with it."""

from dataclasses import astuple, dataclass

from strandline.contracts.load import contract
from strandline.core.hashing import quarantine_id
from strandline.core.verdict import encode_evidence

QUARANTINE = ("quarantine_id", "namespace", "status", "reasons", "raw", "record_id", "waits_for", "evidence")
STATE = ("namespace", "bucket", "dialect", "record_count", "state_hash", "reducer_version", "depends_on")


@dataclass(frozen=True, slots=True)
class QuarantineRow:
    """A row of `quarantine`, with the least of the evidences that its deliveries gave."""

    quarantine_id: bytes
    namespace: str | None
    status: str
    reasons: tuple[str, ...]
    raw: bytes
    record_id: bytes | None
    waits_for: tuple[str, ...]
    evidence: str


def keep(rows, dialect, namespace, verdict, raw, record_id):
    """Add a row of a verdict to `rows`, which are by their id."""
    id_ = quarantine_id(dialect, namespace, verdict.status, verdict.reasons, raw)
    text = encode_evidence(verdict.evidence)
    if id_ in rows:
        # Not the first: then the row would tell in which order the files came.
        text = min(text, rows[id_].evidence)
    rows[id_] = QuarantineRow(
        id_, namespace, verdict.status, verdict.reasons, raw, record_id, verdict.waits_for, text
    )


def tuples(table, rows, names=None):
    """Rows of a table as the lake gives them: its compared columns, or those named; maps stay as they are."""
    names, columns = names or contract(table).compared, contract(table).columns
    maps = {column.name for column in columns if column.physical_type.startswith("MAP")}
    return sorted((tuple(_plain(row.get(name), name in maps) for name in names) for row in rows), key=repr)


def _plain(value, is_map=False):
    if isinstance(value, dict) and not is_map:
        return tuple(map(_plain, value.values()))
    return tuple(map(_plain, value)) if isinstance(value, (list, tuple)) else value


def assert_quarantine_equal(lake, *rows):
    """The quarantine of the lake has these rows, given by their id."""
    expected = sorted((astuple(row) for each in rows for row in each.values()), key=repr)
    assert lake.rows("quarantine", *QUARANTINE) == expected


def assert_reduced_equal(lake, reference):
    """Rows of reduced tables and states are those of the reference."""
    for table, rows in reference.reduced().items():
        names = STATE if table == "namespace_state" else contract(table).compared
        assert _reduced(lake, table, names) == tuples(table, rows, names), table


def _reduced(lake, table, names):
    """The rows of a table that reductions write: other snapshots are the lake's own."""
    rows = lake.rows(table, *names)
    return [row for row in rows if row[names.index("origin")] == "fact"] if table == "snapshot" else rows
