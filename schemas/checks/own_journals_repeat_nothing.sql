-- Numbers and pairs that several lines written here share: no two lines that the writer of a local journal made carry one
-- number, and none names a pair that another one names. Lines that came from elsewhere may do both.
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
