-- Authorities whose reduced rows contradict each other or their facts: the hash of the state, the number of operations by
-- outcome, the tip of the history, the number of leaves, the columns of operations. Of pruned operations there are no
-- rows, or a collection has still to delete them: then all outcomes together are compared. A skeleton has the id of its
-- operation in bytes 4 to 35.
WITH counted AS (
  SELECT
    o.namespace,
    count_if(outcome = 'applied') AS applied,
    count_if(outcome = 'superseded') AS superseded,
    count_if(outcome = 'orphaned') AS orphaned,
    count(DISTINCT CASE WHEN siblings > 1 THEN parent_commitment END) AS forks,
    max_by(new_commitment, CASE WHEN outcome = 'applied' THEN height END) AS tip
  FROM attested_op AS o
  LEFT ANTI JOIN pruned_record AS g ON g.namespace = o.namespace AND g.record_id = o.fact_id
  GROUP BY o.namespace
),
pruned AS (
  SELECT namespace, count(DISTINCT substring(skeleton, 4, 32)) AS operations
  FROM pruned_record
  WHERE namespace LIKE 'authority:%'
  GROUP BY namespace
),
leaf AS (
  SELECT namespace, count(*) AS leaves, max(position) AS last
  FROM authority_leaf
  GROUP BY namespace
)
SELECT a.namespace
FROM authority_state AS a
LEFT JOIN namespace_state AS s ON s.namespace = a.namespace
LEFT JOIN counted AS c ON c.namespace = a.namespace
LEFT JOIN pruned AS p ON p.namespace = a.namespace
LEFT JOIN leaf AS l ON l.namespace = a.namespace
WHERE NOT (s.state_hash <=> a.state_hash)
  OR a.state_hash <> unhex(sha2(concat(CAST('strandline/aura/authority-state/1' AS BINARY), X'00', a.state_cbor), 256))
  OR (p.operations IS NULL AND NOT (
    c.applied <=> a.applied_count AND c.superseded <=> a.superseded_count AND c.orphaned <=> a.orphaned_count
    AND c.forks <=> a.fork_count
  ))
  OR c.applied > a.applied_count OR c.superseded > a.superseded_count OR c.orphaned > a.orphaned_count
  OR c.forks > a.fork_count
  OR c.applied + c.superseded + c.orphaned + p.operations <> a.applied_count + a.superseded_count + a.orphaned_count
  OR NOT (c.tip <=> a.commitment)
  OR coalesce(l.leaves, 0) <> a.leaf_count
  OR coalesce(l.last, -1) <> a.leaf_count - 1
UNION ALL
SELECT o.namespace
FROM attested_op AS o
LEFT ANTI JOIN aura_fact AS f
  ON f.namespace = o.namespace AND f.record_id = o.fact_id AND f.op_id = o.op_id
  AND f.parent_commitment <=> o.parent_commitment AND f.parent_epoch <=> o.parent_epoch
  AND f.group_key <=> o.group_key AND f.witness_threshold <=> o.witness_threshold AND f.height <=> o.height
  AND f.new_commitment <=> o.new_commitment AND f.new_tree_commitment <=> o.new_tree_commitment
  AND f.new_epoch <=> o.new_epoch AND f.new_group_key <=> o.new_group_key AND f.new_threshold <=> o.new_threshold
  AND f.new_min_signers <=> o.new_min_signers AND f.new_max_signers <=> o.new_max_signers
