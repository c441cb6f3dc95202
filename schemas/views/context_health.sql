-- The health of each context: its members, bodies whose attestors suffice, those that wait for more, and unjudged ones, which
-- depend on a state of an authority of which gc left no outcome; commits that wait for one before them or for a proof,
-- overdrawn budgets, facts that wait and what for, and members whose attestation under a group key that was rotated out still
-- counts in a body.
-- Example: SELECT namespace, met, unmet, overdrawn, waits_for FROM context_health WHERE unmet > 0 OR overdrawn > 0
--
-- A skeleton of a pruned operation has the state in the 32 bytes after the number that begins at byte 70, of as many bytes as its
-- first one says, and two more; later its group key. It was applied if no other operation is known at its height; with others of
-- which none has a row as applied, nobody can tell.
WITH genesis AS (
  SELECT
    namespace,
    from_json(content_json, 'Relational STRUCT<ContextGenesis: STRUCT<members: ARRAY<STRING>>>').Relational.ContextGenesis.members
      AS members
  FROM aura_fact
  WHERE variant = 'ContextGenesis'
),
bone AS (
  SELECT namespace, height, commitment, first(skeleton) AS skeleton
  FROM (
    SELECT
      namespace,
      generation AS height,
      substring(skeleton, 72 + CASE hex(substring(skeleton, 70, 1))
        WHEN '18' THEN 2 WHEN '19' THEN 3 WHEN '1A' THEN 5 WHEN '1B' THEN 9 ELSE 1 END, 32) AS commitment,
      skeleton
    FROM pruned_record
    WHERE namespace LIKE 'authority:%'
  )
  GROUP BY namespace, height, commitment
),
made AS (
  SELECT
    o.namespace,
    o.new_commitment AS commitment,
    o.outcome = 'applied' AS on_chain,
    o.new_group_key <> a.group_key AS rotated_out
  FROM attested_op AS o
  JOIN authority_state AS a ON a.namespace = o.namespace
  UNION ALL
  SELECT
    b.namespace,
    b.commitment,
    CASE WHEN o.height IS NOT NULL THEN false WHEN count(*) OVER (PARTITION BY b.namespace, b.height) = 1 THEN true END,
    NOT contains(b.skeleton, concat(X'5820', a.group_key))
  FROM bone AS b
  JOIN authority_state AS a ON a.namespace = b.namespace
  LEFT JOIN attested_op AS o ON o.namespace = b.namespace AND o.height = b.height AND o.outcome = 'applied'
),
attested AS (
  SELECT
    e.namespace,
    e.body_id,
    e.by.authority AS authority,
    coalesce(bool_or(m.on_chain), false) AS on_chain,
    coalesce(bool_or(m.on_chain IS NULL AND m.commitment IS NOT NULL), false) AS is_open,
    coalesce(bool_or(m.rotated_out), false) AS rotated_out
  FROM (SELECT namespace, body_id, explode(attest) AS by FROM aura_fact WHERE namespace LIKE 'context:%') AS e
  LEFT JOIN made AS m ON m.namespace = concat('authority:', e.by.authority) AND m.commitment = e.by.commitment
  GROUP BY e.namespace, e.body_id, e.by.authority
),
attestors AS (
  SELECT
    namespace,
    body_id,
    collect_set(authority) AS known,
    collect_set(CASE WHEN on_chain THEN authority END) AS on_chain,
    collect_set(CASE WHEN on_chain OR is_open THEN authority END) AS perhaps,
    collect_set(CASE WHEN rotated_out THEN authority END) AS rotated_out
  FROM attested
  GROUP BY namespace, body_id
),
body AS (
  SELECT
    f.namespace,
    f.body_id,
    first(f.variant) AS variant,
    from_json(
      first(f.content_json),
      'Relational STRUCT<
        GuardianBinding: STRUCT<account_id: STRING, guardian_id: STRING>, RecoveryGrant: STRUCT<guardian_id: STRING>,
        FlowCharge: STRUCT<src: STRING>, FlowLimit: STRUCT<src: STRING, dst: STRING>, Capability: STRUCT<subject: STRING>>'
    ).Relational AS content
  FROM aura_fact AS f
  WHERE f.namespace LIKE 'context:%'
  GROUP BY f.namespace, f.body_id
),
judged AS (
  SELECT
    b.namespace,
    b.variant,
    transform(array(a.on_chain, a.perhaps), who -> coalesce(CASE
      WHEN b.variant IN ('ContextGenesis', 'RendezvousReceipt') THEN true
      WHEN b.variant = 'GuardianBinding'
        THEN array_contains(who, b.content.GuardianBinding.account_id)
          AND array_contains(who, b.content.GuardianBinding.guardian_id)
      WHEN b.variant = 'RecoveryGrant' THEN array_contains(who, b.content.RecoveryGrant.guardian_id)
      WHEN b.variant = 'FlowCharge' THEN array_contains(a.known, b.content.FlowCharge.src)
      WHEN b.variant = 'FlowLimit'
        THEN array_contains(a.known, b.content.FlowLimit.src) OR array_contains(a.known, b.content.FlowLimit.dst)
      WHEN b.variant = 'Capability'
        THEN array_contains(a.known, b.content.Capability.subject)
          OR size(a.known) >= floor(2 * array_size(g.members) / 3) + 1
      ELSE size(who) > 0
    END, false)) AS met,
    a.rotated_out
  FROM body AS b
  JOIN genesis AS g ON g.namespace = b.namespace
  LEFT JOIN attestors AS a ON a.namespace = b.namespace AND a.body_id = b.body_id
),
apart AS (
  SELECT namespace, met, explode(concat(array(CAST(NULL AS STRING)), coalesce(rotated_out, array()))) AS authority
  FROM judged
),
counted AS (
  SELECT
    namespace,
    sum(met) AS met,
    sum(unmet) AS unmet,
    sum(unjudged) AS unjudged,
    array_sort(collect_list(authority)) AS rotated_out
  FROM (
    SELECT
      namespace,
      authority,
      count_if(authority IS NULL AND met[0]) AS met,
      count_if(authority IS NULL AND NOT met[1]) AS unmet,
      count_if(authority IS NULL AND met[1] AND NOT met[0]) AS unjudged
    FROM apart
    GROUP BY namespace, authority
  )
  GROUP BY namespace
),
stepped AS (
  SELECT
    namespace,
    CAST(sum(dormant_commits) AS BIGINT) AS dormant,
    CAST(sum(unproven_commits) AS BIGINT) AS unproven,
    count_if(pending_bump_id IS NOT NULL) AS pending
  FROM channel_epoch
  GROUP BY namespace
),
spent AS (
  SELECT namespace, count_if(overdrawn) AS overdrawn
  FROM flow_budget
  GROUP BY namespace
),
waiting AS (
  SELECT namespace, count(*) AS waiting
  FROM quarantine
  WHERE status = 'deferred' AND dialect = 'aura'
  GROUP BY namespace
),
awaited AS (
  SELECT DISTINCT namespace, explode(waits_for) AS state
  FROM quarantine
  WHERE status = 'deferred' AND dialect = 'aura'
),
shown AS (
  SELECT namespace, array_sort(collect_list(state)) AS waits_for
  FROM (SELECT namespace, state, row_number() OVER (PARTITION BY namespace ORDER BY state) AS number FROM awaited)
  WHERE number <= 16
  GROUP BY namespace
)
SELECT
  s.namespace,
  g.members,
  c.met,
  c.unmet,
  c.unjudged,
  coalesce(t.dormant, 0) AS dormant,
  coalesce(t.unproven, 0) AS unproven,
  coalesce(t.pending, 0) AS pending,
  coalesce(p.overdrawn, 0) AS overdrawn,
  c.rotated_out,
  coalesce(w.waiting, 0) AS waiting,
  coalesce(a.waits_for, array()) AS waits_for,
  lower(hex(s.state_hash)) AS state_hash
FROM namespace_state AS s
JOIN genesis AS g ON g.namespace = s.namespace
JOIN counted AS c ON c.namespace = s.namespace
LEFT JOIN stepped AS t ON t.namespace = s.namespace
LEFT JOIN spent AS p ON p.namespace = s.namespace
LEFT JOIN waiting AS w ON w.namespace = s.namespace
LEFT JOIN shown AS a ON a.namespace = s.namespace
