-- Proven forks, one row per place: the writer under whose name the records conflict (of AURA_COMMIT_FORK the channel, of two
-- genesis operations empty), where they conflict, how many records conflict, whether the writer's key signed them, and the
-- evidence, which can be checked without Strandline.
-- Example: SELECT dialect, writer, count(*) AS forks FROM fork GROUP BY dialect, writer ORDER BY forks DESC, writer
SELECT
  e.namespace,
  e.dialect,
  e.kind,
  e.key AS writer,
  e.position AS place,
  e.member_count AS records,
  transform(e.members, member -> lower(hex(member))) AS members,
  e.attributable,
  e.evidence
FROM equivocation AS e
JOIN namespace_state AS s ON s.namespace = e.namespace
