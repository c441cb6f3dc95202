-- Lines whose record id or hash differs from that of their bytes, computed here without the code that wrote them. In
-- profile 0.12 the hash is base64url without padding; Spark's base64 can wrap lines, so CR and LF are removed.
WITH spelled AS (
  SELECT
    namespace,
    n,
    profile,
    record_id,
    line_hash,
    CASE
      WHEN n = 1 THEN substring(namespace, 6)
      ELSE concat(line_number, '@', author_fp, '/', resource_id)
    END AS line
  FROM node_journal_line
)
SELECT namespace, n, line, lower(hex(record_id)) AS record_id, line_hash
FROM spelled
WHERE line IS NULL
  OR record_id <> unhex(sha2(CAST(line AS BINARY), 256))
  OR line_hash <> CASE profile
    WHEN '0.9' THEN sha2(CAST(line AS BINARY), 256)
    ELSE translate(base64(unhex(sha2(CAST(line AS BINARY), 512))), concat('+/=', char(13), char(10)), '-_')
  END
