-- Node journals whose state hash differs from that of their row in node_journal, if both were reduced from the same number
-- of lines.
SELECT s.namespace, lower(hex(s.state_hash)) AS state_hash
FROM namespace_state AS s
JOIN node_journal AS j ON j.namespace = s.namespace AND j.line_count = s.record_count
WHERE s.reducer_version = 'sdmp/1'
  AND s.state_hash <> unhex(
    sha2(
      CAST(
        array_join(
          concat(
            array('strandline/sdmp/state/1', j.namespace, CAST(j.line_count AS STRING)),
            transform(j.leaves, leaf -> concat(CAST(leaf.n AS STRING), ' ', lower(hex(leaf.record_id)))),
            array('')
          ),
          char(10)
        ) AS BINARY
      ),
      256
    )
  )
