-- Contexts whose reduced rows contradict each other or their facts: rows without a state, hashes of bindings, bodies that no
-- fact has, and what was spent, where all facts that are held are reduced.
WITH held AS (
  SELECT namespace, count(*) AS facts
  FROM aura_fact
  WHERE namespace LIKE 'context:%'
  GROUP BY namespace
),
current_state AS (
  SELECT s.namespace
  FROM namespace_state AS s
  JOIN held AS h ON h.namespace = s.namespace AND h.facts = s.record_count
  WHERE s.reducer_version = 'aura-context/1'
),
charge AS (
  SELECT
    namespace,
    body_id,
    attest,
    from_json(
      content_json,
      'Relational STRUCT<FlowCharge: STRUCT<src: STRING, dst: STRING, epoch: DECIMAL(20,0), cost: BIGINT, nonce: DECIMAL(20,0)>>'
    ).Relational.FlowCharge AS told
  FROM aura_fact
  WHERE variant = 'FlowCharge'
),
body AS (
  SELECT namespace, body_id, first(told) AS told
  FROM charge
  WHERE exists(attest, each -> each.authority = told.src)
  GROUP BY namespace, body_id
),
summed AS (
  SELECT
    b.namespace,
    b.told.src AS src,
    b.told.dst AS dst,
    b.told.epoch AS epoch,
    least(sum(CAST(b.told.cost AS DECIMAL(20, 0))), 18446744073709551615) AS spent,
    count(*) AS charges,
    max(struct(b.told.nonce, b.body_id)) AS tip
  FROM body AS b
  JOIN current_state AS c ON c.namespace = b.namespace
  GROUP BY b.namespace, b.told.src, b.told.dst, b.told.epoch
),
named AS (
  SELECT namespace, 'relational_binding' AS wrong, body_id FROM relational_binding
  UNION ALL
  SELECT namespace, 'channel_epoch', checkpoint_body FROM channel_epoch WHERE checkpoint_body IS NOT NULL
),
stateless AS (
  SELECT namespace, 'relational_binding' AS wrong FROM relational_binding
  UNION ALL
  SELECT namespace, 'flow_budget' FROM flow_budget
  UNION ALL
  SELECT namespace, 'channel_epoch' FROM channel_epoch
  UNION ALL
  SELECT namespace, 'capability' FROM capability
)
SELECT n.namespace, n.wrong
FROM stateless AS n
LEFT ANTI JOIN namespace_state AS s ON s.namespace = n.namespace AND s.reducer_version = 'aura-context/1'
UNION ALL
SELECT n.namespace, n.wrong
FROM named AS n
LEFT ANTI JOIN aura_fact AS f ON f.namespace = n.namespace AND f.body_id = n.body_id
UNION ALL
SELECT namespace, 'row_hash'
FROM relational_binding
WHERE binding_type <> 'Generic'
  AND row_hash <> unhex(
    sha2(
      concat(
        CAST('strandline/aura/state-row/1' AS BINARY),
        X'00',
        CASE binding_type WHEN 'GuardianBinding' THEN X'01' ELSE X'02' END,
        unhex(replace(account_id, '-', '')),
        unhex(replace(guardian_id, '-', '')),
        data
      ),
      256
    )
  )
UNION ALL
SELECT s.namespace, 'flow_budget'
FROM summed AS s
LEFT ANTI JOIN flow_budget AS f
  ON f.namespace = s.namespace AND f.src = s.src AND f.dst = s.dst AND f.epoch = s.epoch AND f.spent = s.spent
  AND f.charges = s.charges AND f.tip_nonce = s.tip.nonce AND f.tip = s.tip.body_id
UNION ALL
SELECT f.namespace, 'flow_budget'
FROM flow_budget AS f
JOIN current_state AS c ON c.namespace = f.namespace
LEFT ANTI JOIN summed AS s ON s.namespace = f.namespace AND s.src = f.src AND s.dst = f.dst AND s.epoch = f.epoch
WHERE f.charges > 0
UNION ALL
SELECT c.namespace, 'capability'
FROM capability AS c
LEFT JOIN (
  SELECT namespace, count(DISTINCT body_id) AS refinements
  FROM aura_fact
  WHERE variant = 'Capability'
  GROUP BY namespace
) AS f ON f.namespace = c.namespace
WHERE c.refinements > coalesce(f.refinements, 0)
