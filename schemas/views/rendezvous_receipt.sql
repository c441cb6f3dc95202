-- Receipts of envelopes, with the fact that each references: by fact id, by body, or by the hash of the data of a generic
-- binding. A receipt enters no state.
-- Example: SELECT namespace, receiver, referenced_variant FROM rendezvous_receipt WHERE referenced_variant IS NOT NULL
WITH receipt AS (
  SELECT
    namespace,
    record_id,
    from_json(
      content_json, 'RendezvousReceipt STRUCT<envelope_id: STRING, authority_id: STRING, commitment: STRING>'
    ).RendezvousReceipt AS told
  FROM aura_fact
  WHERE kind = 'RendezvousReceipt'
),
named AS (
  SELECT namespace, record_id, variant, lower(hex(record_id)) AS name
  FROM aura_fact
  UNION ALL
  SELECT namespace, record_id, variant, lower(hex(body_id))
  FROM aura_fact
  UNION ALL
  SELECT
    namespace,
    record_id,
    variant,
    sha2(unhex(from_json(content_json, 'Relational STRUCT<Generic: STRUCT<binding_data: STRING>>').Relational.Generic.binding_data), 256)
  FROM aura_fact
  WHERE variant = 'Generic'
),
referenced AS (
  SELECT w.namespace, w.name, min_by(n.variant, n.record_id) AS variant, min(n.record_id) AS record_id
  FROM (SELECT DISTINCT namespace, told.envelope_id AS name FROM receipt) AS w
  JOIN named AS n ON n.namespace = w.namespace AND n.name = w.name
  GROUP BY w.namespace, w.name
)
SELECT
  r.namespace,
  lower(hex(r.record_id)) AS fact_id,
  r.told.authority_id AS receiver,
  r.told.envelope_id AS envelope_id,
  r.told.commitment AS commitment,
  lower(hex(f.record_id)) AS referenced_fact_id,
  f.variant AS referenced_variant
FROM receipt AS r
LEFT JOIN referenced AS f ON f.namespace = r.namespace AND f.name = r.told.envelope_id
