-- The health of each log: its mode, its stored, missing and denied entries, its store and write list and their source, and
-- the first entry that is not newer than one that it follows, with its writer. Such a log is in mode walk, or it has
-- pruned entries and keeps its order, although it is ordered differently where nothing was pruned.
-- Example: SELECT log_id, mode, out_of_order_cid, out_of_order_writer FROM ipfs_log_health WHERE mode = 'walk'
WITH log AS (
  SELECT
    namespace,
    record_count,
    state_hash,
    reduced_at,
    from_json(configuration, 'store STRING, whence STRING, write ARRAY<STRING>, write_list STRING') AS told
  FROM namespace_state
  WHERE dialect = 'ipfslog'
),
placed AS (
  SELECT
    namespace,
    max(mode) AS mode,
    count(*) AS entries,
    count_if(tied) AS tied,
    count_if(NOT clock_ok) AS clock_not_ok
  FROM ipfs_log_view
  GROUP BY namespace
),
headed AS (
  SELECT namespace, count(*) AS heads
  FROM ipfs_log_head
  GROUP BY namespace
),
tailed AS (
  SELECT
    namespace,
    count_if(parent IS NULL) AS tails,
    count_if(parent IS NULL AND kind = 'root') AS roots,
    count(DISTINCT parent) AS missing
  FROM (SELECT namespace, kind, explode(concat(array(CAST(NULL AS BINARY)), missing)) AS parent FROM ipfs_log_tail)
  GROUP BY namespace
),
stored AS (
  SELECT namespace, count_if(NOT deleted) AS documents
  FROM ipfs_log_document
  GROUP BY namespace
),
forked AS (
  SELECT namespace, count(*) AS forks
  FROM equivocation
  GROUP BY namespace
),
suspect AS (
  SELECT
    e.namespace,
    e.cid,
    e.writer,
    struct(e.clock_time, encode(e.clock_id, 'UTF-16BE') AS clock, e.cid) AS place,
    explode(e.next) AS parent
  FROM ipfs_log_view AS v
  JOIN ipfs_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id
  WHERE NOT v.clock_ok
),
node AS (
  SELECT
    v.namespace,
    v.record_id,
    v.clock_time,
    v.clock_id,
    coalesce(e.cid, regexp_extract(decode(substring(p.skeleton, -49), 'ISO-8859-1'), '(z|Qm)[1-9A-HJ-NP-Za-km-z]+$', 0)) AS cid
  FROM ipfs_log_view AS v
  LEFT JOIN ipfs_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id
  LEFT JOIN pruned_record AS p ON p.namespace = v.namespace AND p.record_id = v.record_id AND p.form = 'remove'
),
inverted AS (
  SELECT u.namespace, min_by(struct(u.cid, u.writer), struct(u.place, p.cid AS parent)) AS least
  FROM suspect AS u
  JOIN node AS p ON p.namespace = u.namespace AND p.record_id = u.parent
  WHERE struct(p.clock_time, encode(p.clock_id, 'UTF-16BE') AS clock, p.cid) >= u.place
  GROUP BY u.namespace
)
SELECT
  l.namespace,
  url_decode(substring(l.namespace, 5)) AS log_id,
  coalesce(v.mode, 'sort') AS mode,
  coalesce(v.entries, CAST(0 AS BIGINT)) AS entries,
  l.record_count - coalesce(v.entries, CAST(0 AS BIGINT)) AS denied,
  coalesce(h.heads, CAST(0 AS BIGINT)) AS heads,
  coalesce(t.tails, CAST(0 AS BIGINT)) AS tails,
  coalesce(t.roots, CAST(0 AS BIGINT)) AS roots,
  coalesce(t.missing, CAST(0 AS BIGINT)) AS missing,
  coalesce(v.tied, CAST(0 AS BIGINT)) AS tied,
  coalesce(v.clock_not_ok, CAST(0 AS BIGINT)) AS clock_not_ok,
  coalesce(d.documents, CAST(0 AS BIGINT)) AS documents,
  coalesce(f.forks, CAST(0 AS BIGINT)) AS forks,
  l.told.store AS store,
  coalesce(l.told.write, m.write) AS write,
  l.told.whence AS whence,
  i.least.cid AS out_of_order_cid,
  i.least.writer AS out_of_order_writer,
  lower(hex(l.state_hash)) AS state_hash,
  l.reduced_at
FROM log AS l
LEFT JOIN placed AS v ON v.namespace = l.namespace
LEFT JOIN headed AS h ON h.namespace = l.namespace
LEFT JOIN tailed AS t ON t.namespace = l.namespace
LEFT JOIN stored AS d ON d.namespace = l.namespace
LEFT JOIN forked AS f ON f.namespace = l.namespace
LEFT JOIN inverted AS i ON i.namespace = l.namespace
LEFT JOIN ipfs_log_manifest AS m ON m.record_id = unhex(l.told.write_list)
