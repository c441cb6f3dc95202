-- Numbers and pairs that several lines share which this lake wrote: the writer of a local journal never writes two lines
-- with one number or one pair. Lines from other sources can share both.
SELECT namespace, 'number' AS what, line_number AS value, count(*) AS line_count
FROM node_journal_line
WHERE origin IN ('announced', 'synced')
GROUP BY namespace, line_number
HAVING count(*) > 1
UNION ALL
SELECT namespace, 'pair', concat_ws('/', author_fp, resource_id), count(*)
FROM node_journal_line
WHERE origin IN ('announced', 'synced')
GROUP BY namespace, author_fp, resource_id
HAVING count(*) > 1
