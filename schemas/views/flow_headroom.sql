-- Flow budgets with the effective limit and what is left of it: the least of the limits that the parties set and of those
-- in the sender's capability; 0 if that allows nothing or not this epoch; 1024 if nobody gave any.
-- Example: SELECT src, dst, epoch, spent, effective_limit, headroom FROM flow_headroom WHERE headroom = 0
WITH limited AS (
  SELECT
    f.namespace,
    f.src,
    f.dst,
    f.epoch,
    f.spent,
    f.charges,
    f.limit AS own_limit,
    f.unbroken,
    f.overdrawn,
    CASE
      WHEN c.bottom OR c.epoch_min > f.epoch OR c.epoch_max < f.epoch THEN CAST(0 AS DECIMAL(20, 0))
      ELSE coalesce(
        least(f.limit, try_element_at(c.limits, 'flow'), try_element_at(c.limits, concat('flow:', f.dst))),
        CAST(1024 AS DECIMAL(20, 0))
      )
    END AS effective_limit
  FROM flow_budget AS f
  JOIN namespace_state AS s ON s.namespace = f.namespace
  LEFT JOIN capability AS c ON c.namespace = f.namespace AND c.subject = f.src
)
SELECT
  namespace,
  src,
  dst,
  epoch,
  spent,
  charges,
  own_limit,
  effective_limit,
  greatest(CAST(0 AS DECIMAL(20, 0)), effective_limit - spent) AS headroom,
  unbroken,
  overdrawn
FROM limited
