-- Lines that do not follow from the line before: no line of the journal at n - 1 has the hash that is the number of the
-- line.
SELECT l.namespace, l.n, l.line_number, lower(hex(l.record_id)) AS record_id
FROM node_journal_line AS l
LEFT ANTI JOIN node_journal_line AS m
  ON m.namespace = l.namespace AND m.line_hash = l.line_number AND m.n = l.n - 1
WHERE l.n > 1
