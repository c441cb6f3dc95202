"""What the tables say of own nodes, as SQL that delta-rs and Spark read alike: what they lack, why writers stop.

Own is a node that holds resources, that has peers, or of which a line was refused as not held: tables do not hold the
operator's file. A part with a gate is asked only if the gate counts something: it reads all lines of a few nodes.
"""

from typing import Final

from strandline.dialect_api.health import HealthSql, Part

_SHOWN: Final = "array_contains(q.reasons, 'OWN_LINE_NOT_HELD')"
_OWN: Final = "SELECT namespace FROM node_resource UNION SELECT namespace FROM peer_status"
_UNHELD: Final = """FROM quarantine AS q
  LEFT JOIN node_journal_line AS l
    ON l.bucket = q.bucket AND l.namespace = q.namespace AND l.record_id = q.record_id"""

BEHIND: Final[tuple[Part, ...]] = (
    (None, "SELECT namespace, count(*) AS behind FROM wanted_resource WHERE NOT recorded GROUP BY namespace"),
    (
        f"SELECT count(*) AS found FROM quarantine AS q WHERE {_SHOWN}",
        f"SELECT q.namespace, count(*) AS behind {_UNHELD} WHERE {_SHOWN} AND l.namespace IS NULL GROUP BY q.namespace",
    ),
)
"""(gate, SELECT of namespace, behind): pairs that peers name and an own journal lacks, own lines that are not held."""

_OWN_ROWS: Final = f"LEFT JOIN ({_OWN}) AS o ON o.namespace = q.namespace"
_TOLD: Final = f"({_SHOWN} OR (q.status = 'deferred' AND q.dialect = 'sdmp' AND o.namespace IS NOT NULL))"

STOPPED: Final[tuple[Part, ...]] = (
    (
        "SELECT count(*) AS found FROM equivocation WHERE kind = 'SDMP_FORK'",
        f"""SELECT DISTINCT e.namespace, 'OWN_JOURNAL_FORKED' AS code
  FROM equivocation AS e JOIN ({_OWN}) AS o ON o.namespace = e.namespace
  WHERE e.kind = 'SDMP_FORK'""",
    ),
    (
        f"SELECT count(*) AS found FROM quarantine AS q {_OWN_ROWS} WHERE {_TOLD}",
        f"""SELECT DISTINCT q.namespace, 'OWN_JOURNAL_BEHIND' AS code
  {_UNHELD} {_OWN_ROWS}
  WHERE {_TOLD} AND l.namespace IS NULL""",
    ),
)
"""(gate, SELECT of namespace, code): own journals on which nothing is written, unless that is forced."""

TABLES: Final = (
    "quarantine", "equivocation", "node_journal_line", "node_resource", "peer_status", "wanted_resource",
)  # fmt: skip
"""The tables that these read."""

HEALTH: Final = HealthSql(TABLES, BEHIND, STOPPED)
