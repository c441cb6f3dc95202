-- Facts whose id is not the hash of their encoding, operations that follow no accepted one, and attestations or charges
-- whose state no accepted operation made. Of a pruned operation its skeleton tells the state, in the 32 bytes after the
-- number that begins at byte 70, of as many bytes as its first one says, and two more.
WITH made AS (
  SELECT namespace, new_commitment, new_epoch
  FROM aura_fact
  WHERE new_commitment IS NOT NULL
  UNION ALL
  SELECT namespace, substring(skeleton, 72 + CASE hex(substring(skeleton, 70, 1))
    WHEN '18' THEN 2 WHEN '19' THEN 3 WHEN '1A' THEN 5 WHEN '1B' THEN 9 ELSE 1 END, 32), CAST(NULL AS DECIMAL(20, 0))
  FROM pruned_record
  WHERE namespace LIKE 'authority:%'
)
SELECT lower(hex(record_id)) AS record_id, namespace, 'record_id' AS wrong
FROM aura_fact
WHERE record_id <> unhex(sha2(concat(CAST('strandline/aura/fact/1' AS BINARY), X'00', fact_cbor), 256))
UNION ALL
SELECT lower(hex(f.record_id)), f.namespace, 'parent_commitment'
FROM aura_fact AS f
LEFT ANTI JOIN made AS p
  ON p.namespace = f.namespace AND p.new_commitment = f.parent_commitment
  AND coalesce(p.new_epoch, f.parent_epoch) = f.parent_epoch
WHERE f.kind = 'AttestedOp' AND f.variant <> 'Genesis'
UNION ALL
SELECT lower(hex(a.record_id)), a.namespace, 'attest'
FROM (SELECT record_id, namespace, explode(attest) AS named FROM aura_fact) AS a
LEFT ANTI JOIN made AS p
  ON p.namespace = concat('authority:', a.named.authority) AND p.new_commitment = a.named.commitment
