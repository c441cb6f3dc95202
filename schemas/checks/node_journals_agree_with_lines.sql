-- Journals whose reduced row differs from their lines: length, tip, leaves, forks, pairs; also if lines are missing that
-- the state was reduced from. Newer lines belong to the next reduction.
WITH followed AS (
  SELECT namespace, line_number, count(*) AS follower_count
  FROM node_journal_line
  WHERE n > 1
  GROUP BY namespace, line_number
),
counted AS (
  SELECT
    l.namespace,
    count(*) AS line_count,
    max(l.n) AS tip_n,
    sort_array(collect_list(named_struct('below', -l.n, 'record_id', l.record_id)) FILTER (WHERE f.line_number IS NULL)) AS leaves,
    min_by(
      named_struct('tip_number', l.line_number, 'tip_hash', l.line_hash),
      named_struct('below', -l.n, 'record_id', l.record_id)
    ) AS tip,
    count_if(f.follower_count > 1) AS fork_count,
    coalesce(min(l.n) FILTER (WHERE f.follower_count > 1), max(l.n)) AS common_n,
    count(DISTINCT l.author_fp, l.resource_id) AS pair_count
  FROM node_journal_line AS l
  LEFT JOIN followed AS f ON f.namespace = l.namespace AND f.line_number = l.line_hash
  GROUP BY l.namespace
)
SELECT
  s.namespace,
  c.line_count AS line_count_found,
  j.line_count,
  c.tip_n AS tip_n_found,
  j.tip_n,
  c.tip.tip_hash AS tip_hash_found,
  j.tip_hash,
  size(c.leaves) AS leaf_count_found,
  size(j.leaves) AS leaf_count,
  c.fork_count AS fork_count_found,
  j.fork_count,
  c.common_n AS common_n_found,
  j.common_n,
  c.pair_count AS pair_count_found,
  j.pair_count
FROM namespace_state AS s
LEFT JOIN counted AS c ON c.namespace = s.namespace
LEFT JOIN node_journal AS j ON j.namespace = s.namespace
WHERE s.dialect = 'sdmp' AND s.record_count >= coalesce(c.line_count, 0) AND NOT (
  j.line_count <=> c.line_count
  AND j.tip_n <=> c.tip_n
  AND j.tip_number <=> c.tip.tip_number
  AND j.tip_hash <=> c.tip.tip_hash
  AND transform(j.leaves, leaf -> named_struct('below', -leaf.n, 'record_id', leaf.record_id)) <=> c.leaves
  AND j.fork_count <=> c.fork_count
  AND j.common_n <=> c.common_n
  AND j.pair_count <=> c.pair_count
  AND j.duplicate_pairs <=> c.line_count - 1 - c.pair_count
)
