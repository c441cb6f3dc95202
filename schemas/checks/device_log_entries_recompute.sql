-- Entries of device logs whose id, body or text contradict each other: the id of an entry is a hash over its columns, that of
-- a Scuttlebutt message one over the low bytes of the UTF-16 of its text; entries that name none that is accepted.
WITH hashed AS (
  SELECT
    namespace,
    record_id,
    CASE profile
      WHEN 'ssb' THEN sha2(
        unhex(regexp_replace(hex(encode(decode(raw, 'UTF-8'), 'UTF-16LE')), '(..)..', '$1')), 256
      )
      ELSE sha2(
        CAST(
          concat(
            '28:strandline/devicelog/entry/1,',
            CASE
              WHEN namespace = concat('group:', lower(hex(record_id))) THEN '0:,'
              ELSE concat('64:', substring(namespace, 7), ',')
            END,
            '64:', lower(hex(log)), ',',
            length(CAST(seq AS STRING)), ':', seq, ',',
            length(kind), ':', kind, ',',
            length(CAST(lamport AS STRING)), ':', lamport, ',',
            length(CAST(utc AS STRING)), ':', utc, ',',
            CASE WHEN prev IS NULL THEN '0:,' ELSE concat('64:', lower(hex(prev)), ',') END,
            length(CAST(size(deps) AS STRING)), ':', size(deps), ',',
            array_join(transform(deps, dep -> concat('64:', lower(hex(dep)), ',')), ''),
            length(CAST(body_size AS STRING)), ':', body_size, ',',
            '64:', lower(hex(body_hash)), ','
          ) AS BINARY
        ),
        256
      )
    END AS found
  FROM device_log_entry
),
named AS (
  SELECT namespace, profile, record_id, explode(concat(array_compact(array(prev)), deps)) AS ref
  FROM device_log_entry
  WHERE profile = 'native'
)
SELECT lower(hex(record_id)) AS record_id, namespace, 'record_id' AS wrong
FROM hashed
WHERE lower(hex(record_id)) <> found
UNION ALL
SELECT lower(hex(record_id)), namespace, 'body'
FROM device_log_entry
WHERE body_size <> length(body) OR body_hash <> unhex(sha2(body, 256))
UNION ALL
SELECT lower(hex(n.record_id)), n.namespace, 'prev or deps'
FROM named AS n
LEFT ANTI JOIN device_log_entry AS e
  ON e.namespace = n.namespace AND e.profile = n.profile AND e.record_id = n.ref
