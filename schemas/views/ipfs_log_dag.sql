-- Only the graph of every log: each entry with its address, variant, clock and position, and the digests of the entries
-- that it follows, stored or not. Includes pruned entries; their variant is null.
-- Example: SELECT cid, position, size(next) AS parents FROM ipfs_log_dag WHERE size(next) > 1 ORDER BY position
--
-- A skeleton is [time, clock id, [digests], address] in canonical CBOR: heads of 1 to 9 bytes that follow from the values,
-- digests of 34 bytes each with their head, an address of 49 or 46 bytes behind a head of 2.
WITH bone AS (
  SELECT
    p.namespace,
    p.record_id,
    p.skeleton,
    regexp_extract(decode(substring(p.skeleton, -49), 'ISO-8859-1'), '(z|Qm)[1-9A-HJ-NP-Za-km-z]+$', 0) AS cid
  FROM pruned_record AS p
  WHERE p.form = 'remove' AND startswith(p.namespace, 'log:')
),
measured AS (
  SELECT
    v.namespace,
    v.record_id,
    b.skeleton,
    b.cid,
    length(b.skeleton) - length(b.cid) - 2 AS digests_end,
    2 + CASE
      WHEN v.clock_time BETWEEN -24 AND 23 THEN 1
      WHEN v.clock_time BETWEEN -256 AND 255 THEN 2
      WHEN v.clock_time BETWEEN -65536 AND 65535 THEN 3
      WHEN v.clock_time BETWEEN -4294967296 AND 4294967295 THEN 5
      ELSE 9
    END + CASE
      WHEN octet_length(v.clock_id) < 24 THEN 1
      WHEN octet_length(v.clock_id) < 256 THEN 2
      WHEN octet_length(v.clock_id) < 65536 THEN 3
      ELSE 5
    END + octet_length(v.clock_id) AS heads
  FROM ipfs_log_view AS v
  JOIN bone AS b ON b.namespace = v.namespace AND b.record_id = v.record_id
),
pruned AS (
  SELECT
    namespace,
    record_id,
    cid,
    CASE
      WHEN digests_end - heads < 34 THEN CAST(array() AS ARRAY<STRING>)
      ELSE transform(
        sequence(1, (digests_end - heads) DIV 34),
        place -> lower(hex(substring(skeleton, CAST(digests_end - 34 * place + 3 AS INT), 32)))
      )
    END AS backwards
  FROM measured
)
SELECT
  v.namespace,
  lower(hex(v.record_id)) AS record_id,
  coalesce(p.cid, e.cid) AS cid,
  CASE WHEN p.cid IS NULL THEN e.variant END AS variant,
  v.clock_time,
  v.clock_id,
  v.position,
  coalesce(reverse(p.backwards), transform(e.next, digest -> lower(hex(digest)))) AS next
FROM ipfs_log_view AS v
JOIN namespace_state AS s ON s.namespace = v.namespace
LEFT JOIN ipfs_log_entry AS e ON e.namespace = v.namespace AND e.record_id = v.record_id
LEFT JOIN pruned AS p ON p.namespace = v.namespace AND p.record_id = v.record_id
