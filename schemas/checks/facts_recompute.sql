-- Facts whose id is not the hash of their encoding, operations that follow no accepted one, and attestations or charges
-- whose state no accepted operation made.
SELECT lower(hex(record_id)) AS record_id, namespace, 'record_id' AS wrong
FROM aura_fact
WHERE record_id <> unhex(sha2(concat(CAST('strandline/aura/fact/1' AS BINARY), X'00', fact_cbor), 256))
UNION ALL
SELECT lower(hex(f.record_id)), f.namespace, 'parent_commitment'
FROM aura_fact AS f
LEFT ANTI JOIN aura_fact AS p
  ON p.namespace = f.namespace AND p.new_commitment = f.parent_commitment AND p.new_epoch = f.parent_epoch
WHERE f.kind = 'AttestedOp' AND f.variant <> 'Genesis'
UNION ALL
SELECT lower(hex(a.record_id)), a.namespace, 'attest'
FROM (SELECT record_id, namespace, explode(attest) AS named FROM aura_fact) AS a
LEFT ANTI JOIN aura_fact AS p
  ON p.namespace = concat('authority:', a.named.authority) AND p.new_commitment = a.named.commitment
