"""The health of local nodes as SQL that delta-rs and Spark both read: what their journals lack, why writers stop.

The tables do not contain the operator's file. A node counts as local if it holds resources, has peers, or had a line
refused with `OWN_LINE_NOT_HELD`. A part with a gate reads the lines of only a few nodes.
"""

from typing import Final

from strandline.dialect_api.health import HealthPart, HealthSql

_NOT_HELD: Final = "array_contains(q.reasons, 'OWN_LINE_NOT_HELD')"
_OWN: Final = "SELECT namespace FROM node_resource UNION SELECT namespace FROM peer_status"
_SAME_LINE: Final = "l.bucket = q.bucket AND l.namespace = q.namespace AND l.record_id = q.record_id"
# A hint for Spark: it then prunes the files of lines by the few rows of quarantine.
_LATER_HELD: Final = f"""SELECT /*+ BROADCAST(q) */ q.quarantine_id
  FROM node_journal_line AS l
  JOIN (SELECT q.* FROM quarantine AS q WHERE {_NOT_HELD}) AS q ON {_SAME_LINE}"""
_OWN_ROWS: Final = f"LEFT JOIN ({_OWN}) AS o ON o.namespace = q.namespace"
_STOPPING: Final = (
    f"({_NOT_HELD} OR (q.status = 'deferred' AND q.dialect = 'sdmp' AND o.namespace IS NOT NULL))"
)

HEALTH: Final = HealthSql(
    tables=(
        "quarantine", "equivocation", "node_journal_line", "node_resource", "peer_status", "wanted_resource",
    ),
    behind=(
        # Pairs in journals of peers that are not in the local journal.
        HealthPart(
            "SELECT namespace, count(*) AS behind FROM wanted_resource WHERE NOT recorded GROUP BY namespace"
        ),
        # Lines of local nodes that were delivered and are not stored.
        HealthPart(
            f"""SELECT q.namespace, count(*) AS behind
  FROM quarantine AS q
  LEFT ANTI JOIN ({_LATER_HELD}) AS h ON h.quarantine_id = q.quarantine_id
  WHERE {_NOT_HELD}
  GROUP BY q.namespace""",
            gate=f"SELECT count(*) AS found FROM quarantine AS q WHERE {_NOT_HELD}",
        ),
    ),
    stopped=(
        HealthPart(
            f"""SELECT DISTINCT e.namespace, 'OWN_JOURNAL_FORKED' AS code
  FROM equivocation AS e JOIN ({_OWN}) AS o ON o.namespace = e.namespace
  WHERE e.kind = 'SDMP_FORK'""",
            gate="SELECT count(*) AS found FROM equivocation WHERE kind = 'SDMP_FORK'",
        ),
        HealthPart(
            f"""SELECT DISTINCT q.namespace, 'OWN_JOURNAL_BEHIND' AS code
  FROM quarantine AS q LEFT JOIN node_journal_line AS l ON {_SAME_LINE} {_OWN_ROWS}
  WHERE {_STOPPING} AND l.namespace IS NULL""",
            gate=f"SELECT count(*) AS found FROM quarantine AS q {_OWN_ROWS} WHERE {_STOPPING}",
        ),
    ),
)  # fmt: skip
