-- The health of each group: devices by status, length and hash of the view, how many of its rows are final, and which logs
-- hold the final rows back: pending (admitted, no entry), forked, or behind with the number of messages not seen. false_screws
-- are signed statements that are not true.
-- Example: SELECT namespace, messages, final_messages, held_back_by FROM device_log_health WHERE final_messages < messages
WITH device AS (
  SELECT
    namespace,
    log,
    first(status) AS status,
    min(label) AS label,
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
    namespace,
    count_if(status = 'active') AS active,
    count_if(status = 'pending') AS pending,
    count_if(status IN ('removed', 'withdrawn')) AS removed,
    count_if(status = 'void') AS void,
    count_if(forked) AS forked,
    sum(gaps) AS gaps,
    array_sort(collect_list(
      CASE
        WHEN waited AND tips = 0 THEN concat(substring(lower(hex(log)), 1, 8), ' pending')
        WHEN waited AND tips > 1 THEN concat(coalesce(label, substring(lower(hex(log)), 1, 8)), ' forked')
        WHEN waited AND behind > 0 THEN concat(coalesce(label, substring(lower(hex(log)), 1, 8)), ' behind ', behind)
      END
    )) AS held_back_by
  FROM device
  GROUP BY namespace
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
