-- The health of each namespace with a state or a quarantined record: the first one that applies of forked, behind,
-- waiting, rejected and ok. The records are those of the last reduction. A local node is behind by the pairs that its
-- peers name and its journal lacks, and by lines of it that a peer has and this lake lacks; a group by messages of
-- Scuttlebutt feeds whose predecessor is missing.
-- Example: SELECT health, count(*) AS namespaces FROM namespace_health GROUP BY health ORDER BY namespaces DESC
--
-- {behind} is replaced by the dialects' `HealthSql`. `status` runs this text in delta-rs: the hex of the state hash is the
-- only function that only Spark supports.
WITH quarantined AS (
  SELECT
    namespace,
    min(dialect) AS dialect,
    count(*) FILTER (WHERE status = 'deferred') AS waiting,
    count(*) FILTER (WHERE status = 'rejected') AS rejected
  FROM quarantine
  WHERE namespace IS NOT NULL AND scope = 'record'
  GROUP BY namespace
),
forked AS (
  SELECT namespace, count(*) AS forks
  FROM equivocation
  GROUP BY namespace
),
lacking AS (
  SELECT namespace, CAST(sum(behind) AS BIGINT) AS behind
  FROM ({behind}) AS parts
  GROUP BY namespace
),
counted AS (
  SELECT
    coalesce(s.namespace, q.namespace) AS namespace,
    coalesce(s.dialect, q.dialect) AS dialect,
    coalesce(s.record_count, CAST(0 AS BIGINT)) AS records,
    coalesce(q.waiting, CAST(0 AS BIGINT)) AS waiting,
    coalesce(q.rejected, CAST(0 AS BIGINT)) AS rejected,
    lower(hex(s.state_hash)) AS state_hash,
    s.reducer_version,
    s.reduced_at
  FROM namespace_state AS s
  FULL OUTER JOIN quarantined AS q ON s.namespace = q.namespace
)
SELECT
  c.namespace,
  c.dialect,
  CASE
    WHEN coalesce(f.forks, 0) > 0 THEN 'forked'
    WHEN b.behind > 0 THEN 'behind'
    WHEN c.waiting > 0 THEN 'waiting'
    WHEN c.rejected > 0 THEN 'rejected'
    ELSE 'ok'
  END AS health,
  c.records,
  c.waiting,
  c.rejected,
  coalesce(f.forks, CAST(0 AS BIGINT)) AS forks,
  coalesce(b.behind, CAST(0 AS BIGINT)) AS behind,
  c.state_hash,
  c.reducer_version,
  c.reduced_at
FROM counted AS c
LEFT JOIN forked AS f ON c.namespace = f.namespace
LEFT JOIN lacking AS b ON c.namespace = b.namespace
