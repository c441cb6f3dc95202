-- Checkpoints that lack leaves, have too many, or have them at other places than after those of the checkpoint before.
WITH listed AS (
  SELECT namespace, attempt, count(*) AS leaves, count(DISTINCT position) AS places, min(position) AS low, max(position) AS high
  FROM checkpoint_leaf
  GROUP BY namespace, attempt
)
SELECT c.namespace, c.seq, c.size - c.prev_size AS leaves, coalesce(l.leaves, 0) AS leaves_found
FROM checkpoint AS c
LEFT JOIN listed AS l ON l.namespace = c.namespace AND l.attempt = c.attempt
WHERE coalesce(l.leaves, 0) <> c.size - c.prev_size
  OR l.places <> l.leaves OR l.low <> c.prev_size OR l.high <> c.size - 1
