-- The health of each group: devices by status, length and hash of the view, how many of its rows are final, and which logs
-- hold the final rows back: pending (admitted, no entry), forked, in parts (with gaps), unsettled (its newest entry has not seen
-- an effective removal), behind with the number of messages not seen, and logs that are not waited for and may start anew with
-- another rank. false_screws are signed statements that are not true.
-- Example: SELECT namespace, messages, final_messages, held_back_by FROM device_log_health WHERE final_messages < messages
WITH claim AS (
  SELECT m.namespace, m.log, m.act, e.log AS author, e.seq, e.lamport, e.utc, e.record_id, instr(CAST(e.body AS STRING), concat(',64:', lower(hex(m.log)), ',')) AS place
  FROM device_log_member AS m
  JOIN device_log_entry AS e ON e.namespace = m.namespace AND e.bucket = m.bucket AND e.record_id = m.record_id
  WHERE m.verdict = 'effective'
),
granted AS (
  SELECT namespace, log, min(struct(lamport, utc, record_id, place)) AS least
  FROM claim
  WHERE act <> 'remove'
  GROUP BY namespace, log
),
ranked AS (
  SELECT
    t.namespace,
    t.log,
    bool_or(t.granted_by IS NULL) AS founds,
    min(CASE WHEN g.record_id IS NOT NULL THEN struct(g.lamport, g.utc, g.record_id, g.place) END) AS rank
  FROM device_log_tip AS t
  LEFT JOIN claim AS g
    ON g.namespace = t.namespace AND g.log = t.log AND g.act <> 'remove' AND g.record_id = t.granted_by
  WHERE t.record_id IS NOT NULL AND t.status <> 'void'
  GROUP BY t.namespace, t.log
),
remover AS (
  SELECT c.namespace, c.log, bool_or(r.founds) AS founds, min(r.rank) AS rank
  FROM claim AS c
  JOIN ranked AS r ON r.namespace = c.namespace AND r.log = c.author
  WHERE c.act = 'remove' AND c.author <> c.log
  GROUP BY c.namespace, c.log
),
settled AS (
  SELECT namespace, author, max(seq) AS seq
  FROM claim
  WHERE act = 'remove'
  GROUP BY namespace, author
),
branch AS (
  SELECT DISTINCT namespace, log, branch FROM device_log_tip WHERE branch IS NOT NULL
),
past AS (
  SELECT namespace, log, record_id, inline(past) AS (branch, seq) FROM device_log_tip WHERE waited AND record_id IS NOT NULL
),
seen AS (
  SELECT p.namespace, p.log, p.record_id, b.log AS author, max(p.seq) AS seq
  FROM past AS p
  JOIN branch AS b ON b.namespace = p.namespace AND b.branch = p.branch
  GROUP BY p.namespace, p.log, p.record_id, b.log
),
informed AS (
  SELECT s.namespace, s.record_id, count(*) AS authors
  FROM seen AS s
  JOIN settled AS q ON q.namespace = s.namespace AND q.author = s.author
  WHERE s.seq >= q.seq
  GROUP BY s.namespace, s.record_id
),
unsettled AS (
  SELECT DISTINCT t.namespace, t.log
  FROM device_log_tip AS t
  JOIN (SELECT namespace, count(*) AS authors FROM settled GROUP BY namespace) AS q ON q.namespace = t.namespace
  LEFT JOIN informed AS i ON i.namespace = t.namespace AND i.record_id = t.record_id
  WHERE t.waited AND t.past IS NOT NULL AND coalesce(i.authors, CAST(0 AS BIGINT)) < q.authors
),
device AS (
  SELECT
    namespace,
    log,
    first(status) AS status,
    coalesce(min(label), substring(lower(hex(log)), 1, 8)) AS name,
    bool_or(forked) AS forked,
    bool_or(waited) AS waited,
    max(behind) AS behind,
    sum(gaps) AS gaps,
    count(record_id) AS tips
  FROM device_log_tip
  GROUP BY namespace, log
),
logs AS (
  SELECT
    d.namespace,
    count_if(d.status = 'active') AS active,
    count_if(d.status = 'pending') AS pending,
    count_if(d.status IN ('removed', 'withdrawn')) AS removed,
    count_if(d.status = 'void') AS void,
    count_if(d.forked) AS forked,
    sum(d.gaps) AS gaps,
    array_sort(collect_list(
      CASE
        WHEN d.status = 'removed' AND g.least < r.rank THEN concat(d.name, ' may start anew')
        WHEN d.status = 'void' AND g.least IS NOT NULL AND NOT coalesce(q.founds, false) AND (q.rank IS NULL OR g.least < q.rank)
        THEN concat(d.name, ' may start anew')
        WHEN d.waited AND d.tips = 0 THEN concat(d.name, ' pending')
        WHEN d.waited AND d.tips > 1 AND d.forked THEN concat(d.name, ' forked')
        WHEN d.waited AND d.tips > 1 THEN concat(d.name, ' in parts')
        WHEN d.waited AND u.log IS NOT NULL THEN concat(d.name, ' unsettled')
        WHEN d.waited AND d.behind > 0 THEN concat(d.name, ' behind ', d.behind)
      END
    )) AS held_back_by
  FROM device AS d
  LEFT JOIN granted AS g ON g.namespace = d.namespace AND g.log = d.log
  LEFT JOIN ranked AS r ON r.namespace = d.namespace AND r.log = d.log
  LEFT JOIN remover AS q ON q.namespace = d.namespace AND q.log = d.log
  LEFT JOIN unsettled AS u ON u.namespace = d.namespace AND u.log = d.log
  GROUP BY d.namespace
),
shown AS (
  SELECT
    namespace,
    count(position) AS messages,
    count_if(final) AS final_messages,
    count_if(status IN ('removed', 'void')) AS removed_messages,
    count_if(status = 'disputed') AS disputed_messages,
    max_by(prefix_hash, position) AS view_hash
  FROM device_log_view
  GROUP BY namespace
),
stated AS (
  SELECT namespace, count(*) AS screws, count_if(verdict <> 'true') AS false_screws
  FROM device_log_screw
  GROUP BY namespace
),
claimed AS (
  SELECT namespace, count_if(verdict <> 'effective') AS vain_removals
  FROM device_log_member
  WHERE act = 'remove'
  GROUP BY namespace
),
waiting AS (
  SELECT namespace, count(*) AS deferred
  FROM quarantine
  WHERE status = 'deferred' AND dialect = 'devicelog'
  GROUP BY namespace
),
split AS (
  SELECT namespace, count(*) AS forks
  FROM equivocation
  WHERE kind = 'DEVICELOG_FORK'
  GROUP BY namespace
)
SELECT
  s.namespace,
  l.active,
  l.pending,
  l.removed,
  l.void,
  l.forked,
  coalesce(v.messages, CAST(0 AS BIGINT)) AS messages,
  coalesce(v.final_messages, CAST(0 AS BIGINT)) AS final_messages,
  l.held_back_by,
  coalesce(v.removed_messages, CAST(0 AS BIGINT)) AS removed_messages,
  coalesce(v.disputed_messages, CAST(0 AS BIGINT)) AS disputed_messages,
  coalesce(t.screws, CAST(0 AS BIGINT)) AS screws,
  coalesce(t.false_screws, CAST(0 AS BIGINT)) AS false_screws,
  coalesce(c.vain_removals, CAST(0 AS BIGINT)) AS vain_removals,
  coalesce(w.deferred, CAST(0 AS BIGINT)) AS deferred,
  coalesce(f.forks, CAST(0 AS BIGINT)) AS forks,
  l.gaps,
  lower(hex(v.view_hash)) AS view_hash,
  lower(hex(s.state_hash)) AS state_hash,
  s.reduced_at
FROM namespace_state AS s
JOIN logs AS l ON l.namespace = s.namespace
LEFT JOIN shown AS v ON v.namespace = s.namespace
LEFT JOIN stated AS t ON t.namespace = s.namespace
LEFT JOIN claimed AS c ON c.namespace = s.namespace
LEFT JOIN waiting AS w ON w.namespace = s.namespace
LEFT JOIN split AS f ON f.namespace = s.namespace
WHERE s.dialect = 'devicelog'
