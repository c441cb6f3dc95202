-- The lines of each journal's trunk, the path from line 1 to the tip: position, exact text, ids, whether a fork disputes
-- the line, whether a later line covers it, and its provenance (source, run, write time). Lines of other branches, and
-- lines that are not reduced yet, are left out.
-- Example: SELECT n, resource_id FROM node_journal_entry WHERE disputed ORDER BY namespace, n
--
-- The trunk is found without a walk from line to line. Below the first fork every line is on it. Above it, lines at one
-- position are numbered, and each has a link to the number of the line before. 512 positions are a stretch: for each line
-- at its top, a stretch gives the line at its bottom to which the links lead. A fold over the stretches from the tip gives
-- the line at which each one is entered; then each stretch is walked separately. All steps are linear in the lines above
-- the first fork and run in parallel; only the fold processes a journal as a whole, with one number per branch and
-- stretch. Journals without forks and unreduced lines skip all of this.

WITH held AS (
  SELECT namespace, count(*) AS held_count
  FROM node_journal_line
  GROUP BY namespace
),
journal AS (
  SELECT
    j.namespace,
    j.tip_n,
    j.tip_hash,
    j.common_n,
    -- Unreduced lines can be siblings of any line; lines of a known fork only have siblings above common_n.
    CASE
      WHEN h.held_count > j.line_count THEN CAST(0 AS BIGINT)
      WHEN j.fork_count > 0 THEN j.common_n
      ELSE j.tip_n
    END AS sure_n
  FROM node_journal AS j
  JOIN namespace_state AS s ON s.namespace = j.namespace AND s.record_count = j.line_count
  JOIN held AS h ON h.namespace = j.namespace
),
rung AS (
  SELECT
    l.namespace,
    l.n,
    l.line_hash,
    l.line_number,
    j.tip_n,
    j.tip_hash,
    row_number() OVER (PARTITION BY l.namespace, l.n ORDER BY l.line_hash) AS place
  FROM node_journal_line AS l
  JOIN journal AS j ON j.namespace = l.namespace
  WHERE l.n > j.sure_n AND l.n <= j.tip_n
),
level AS (
  SELECT
    u.namespace,
    u.n,
    max(CASE WHEN u.n = u.tip_n AND u.line_hash = u.tip_hash THEN u.place END) AS tip_place,
    transform(sort_array(collect_list(named_struct('place', u.place, 'below', d.place))), link -> link.below) AS below
  FROM rung AS u
  LEFT JOIN rung AS d ON d.namespace = u.namespace AND d.n = u.n - 1 AND d.line_hash = u.line_number
  GROUP BY u.namespace, u.n
),
stretch AS (
  SELECT
    namespace,
    n DIV 512 AS stretch_no,
    max(tip_place) AS tip_place,
    sort_array(collect_list(named_struct('up', -n, 'below', below))) AS levels
  FROM level
  GROUP BY namespace, n DIV 512
),
way AS (
  SELECT
    namespace,
    max(tip_place) AS tip_place,
    sort_array(
      collect_list(
        named_struct(
          'up', -stretch_no,
          'leads_to', transform(
            levels[0].below,
            (below, index) -> aggregate(levels, index + 1, (place, one) -> get(one.below, place - 1))
          )
        )
      )
    ) AS hops
  FROM stretch
  GROUP BY namespace
),
entered AS (
  SELECT namespace, step.stretch_no, step.place
  FROM (
    SELECT
      namespace,
      explode(
        transform(
          aggregate(
            hops,
            named_struct('place', tip_place, 'places', CAST(array() AS ARRAY<INT>)),
            (state, hop) -> named_struct(
              'place', get(hop.leads_to, state.place - 1),
              'places', array_append(state.places, state.place)
            ),
            state -> state.places
          ),
          (place, index) -> named_struct('stretch_no', -hops[index].up, 'place', place)
        )
      ) AS step
    FROM way
  )
),
trodden AS (
  SELECT namespace, step.n, step.place
  FROM (
    SELECT
      s.namespace,
      explode(
        transform(
          aggregate(
            s.levels,
            named_struct('place', e.place, 'places', CAST(array() AS ARRAY<INT>)),
            (state, one) -> named_struct(
              'place', get(one.below, state.place - 1),
              'places', array_append(state.places, state.place)
            ),
            state -> state.places
          ),
          (place, index) -> named_struct('n', -s.levels[index].up, 'place', place)
        )
      ) AS step
    FROM stretch AS s
    JOIN entered AS e ON e.namespace = s.namespace AND e.stretch_no = s.stretch_no
  )
),
astray AS (
  SELECT r.namespace, r.line_hash
  FROM rung AS r
  JOIN trodden AS t ON t.namespace = r.namespace AND t.n = r.n
  WHERE r.place <> t.place
)
SELECT
  l.namespace,
  l.n,
  CASE
    WHEN l.n = 1 THEN substring(l.namespace, 6)
    ELSE concat(l.line_number, '@', l.author_fp, '/', l.resource_id)
  END AS line,
  l.line_number,
  l.line_hash,
  l.author_fp,
  l.resource_id,
  lower(hex(l.record_id)) AS record_id,
  l.profile,
  l.n > j.common_n AS disputed,
  l.n < j.tip_n AS covered,
  l.source,
  l.run_id,
  l.landed_at
FROM node_journal_line AS l
JOIN journal AS j ON j.namespace = l.namespace AND l.n <= j.tip_n
LEFT ANTI JOIN astray AS a ON a.namespace = l.namespace AND a.line_hash = l.line_hash
