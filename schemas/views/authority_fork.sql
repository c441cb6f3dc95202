-- Operations of authorities that one group key signed for one state: which of them won, the one that is applied, and how
-- many holders of the key provably signed two of them (signed_twice). A fork on a branch that lost has no winner. Two
-- genesis operations have different keys. Signers are null if the operation that made the state was pruned.
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
  o.outcome = 'applied' AS is_winner,
  o.siblings,
  lower(hex(o.group_key)) AS group_key,
  p.min_signers,
  p.max_signers,
  CASE WHEN o.op_kind = 'Genesis' THEN 0 WHEN p.min_signers IS NOT NULL THEN greatest(0, 2 * p.min_signers - p.max_signers) END
    AS signed_twice,
  lower(hex(o.fact_id)) AS fact_id
FROM attested_op AS o
JOIN namespace_state AS s ON s.namespace = o.namespace
LEFT JOIN parent AS p ON p.namespace = o.namespace AND p.new_commitment = o.parent_commitment
WHERE o.siblings > 1
