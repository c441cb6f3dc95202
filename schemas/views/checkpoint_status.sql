-- The newest checkpoint of each namespace, and how many of the records that reduce has read it does not cover. The columns of a
-- checkpoint are null where there is none, those of a signature where it is not signed.
-- Example: SELECT namespace, seq, size, not_covered, log FROM checkpoint_status ORDER BY not_covered DESC, namespace LIMIT 20
WITH newest AS (
  SELECT namespace, max(seq) AS seq
  FROM checkpoint
  GROUP BY namespace
),
stated AS (
  SELECT
    c.namespace,
    c.dialect,
    c.seq,
    c.size,
    c.root,
    concat(c.origin, '/', c.namespace) AS log,
    c.public_key,
    c.landed_at AS checkpointed_at
  FROM checkpoint AS c
  JOIN newest AS n ON n.namespace = c.namespace AND n.seq = c.seq
)
SELECT
  coalesce(c.namespace, s.namespace) AS namespace,
  coalesce(c.dialect, s.dialect) AS dialect,
  c.seq,
  c.size,
  lower(hex(c.root)) AS root,
  c.log,
  lower(hex(c.public_key)) AS public_key,
  c.checkpointed_at,
  greatest(coalesce(s.record_count, 0) - coalesce(c.size, 0), 0) AS not_covered
FROM stated AS c
FULL OUTER JOIN namespace_state AS s ON s.namespace = c.namespace
