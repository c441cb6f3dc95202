-- Operations of authorities that one group key signed for one state: which of them won, and how many holders of the key
-- provably signed two of them (signed_twice). Two genesis operations have different keys.
-- Example: SELECT namespace, op_kind, is_winner, signed_twice FROM authority_fork ORDER BY namespace, op_id
WITH parent AS (
  SELECT namespace, new_commitment, min(new_min_signers) AS min_signers, min(new_max_signers) AS max_signers
  FROM attested_op
  GROUP BY namespace, new_commitment
)
SELECT
  o.namespace,
  lower(hex(o.parent_commitment)) AS parent_commitment,
  o.parent_epoch,
  lower(hex(o.op_id)) AS op_id,
  o.op_kind,
  o.outcome,
  o.op_id = max(o.op_id) OVER (PARTITION BY o.namespace, o.parent_commitment) AS is_winner,
  o.siblings,
  lower(hex(o.group_key)) AS group_key,
  p.min_signers,
  p.max_signers,
  greatest(0, 2 * p.min_signers - p.max_signers) AS signed_twice,
  lower(hex(o.fact_id)) AS fact_id
FROM attested_op AS o
JOIN namespace_state AS s ON s.namespace = o.namespace
LEFT JOIN parent AS p ON p.namespace = o.namespace AND p.new_commitment = o.parent_commitment
WHERE o.siblings > 1
