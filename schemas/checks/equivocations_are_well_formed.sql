-- Equivocations with a wrong id, with members that are not distinct and ascending, or whose two records do not have the
-- least ids.
SELECT lower(hex(equivocation_id)) AS equivocation_id, namespace, kind, key, position
FROM equivocation
WHERE equivocation_id <> unhex(
    sha2(
      concat(
        CAST('strandline/equivocation/1' AS BINARY), X'00',
        CAST(namespace AS BINARY), X'00', CAST(kind AS BINARY), X'00', CAST(key AS BINARY), X'00', CAST(position AS BINARY)
      ),
      256
    )
  )
  OR members <> array_sort(array_distinct(members))
  OR size(members) <> least(member_count, 65536)
  OR (
    dialect IN ('sdmp', 'ipfslog')
    AND NOT (get(members, 0) <=> unhex(sha2(bytes_a, 256)) AND get(members, 1) <=> unhex(sha2(bytes_b, 256)))
  )
  OR (
    dialect = 'aura'
    AND NOT (
      get(members, 0) <=> unhex(sha2(concat(CAST('strandline/aura/fact/1' AS BINARY), X'00', bytes_a), 256))
      AND get(members, 1) <=> unhex(sha2(concat(CAST('strandline/aura/fact/1' AS BINARY), X'00', bytes_b), 256))
    )
  )
  OR (dialect = 'aura' AND attributable <> (key <> '' AND kind <> 'AURA_COMMIT_FORK'))
  OR (dialect = 'sdmp' AND attributable)
  OR (dialect IN ('ipfslog', 'devicelog') AND NOT attributable)
  OR (
    dialect = 'devicelog'
    AND (
      key <> coalesce(get_json_object(CAST(bytes_a AS STRING), '$.log'), key)
      OR lower(hex(get(members, 0))) <> coalesce(get_json_object(CAST(bytes_a AS STRING), '$.id'), lower(hex(get(members, 0))))
      OR lower(hex(get(members, 1))) <> coalesce(get_json_object(CAST(bytes_b AS STRING), '$.id'), lower(hex(get(members, 1))))
    )
  )
