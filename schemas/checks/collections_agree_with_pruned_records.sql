-- Finished collections that pruned another number of records of a namespace than pruned_record lists for them.
SELECT g.run_id, g.namespace, g.pruned, count(p.record_id) AS listed
FROM gc_run AS g
LEFT JOIN pruned_record AS p ON p.namespace = g.namespace AND p.run_id = g.run_id
WHERE g.outcome = 'DONE'
GROUP BY g.run_id, g.namespace, g.pruned
HAVING count(p.record_id) <> g.pruned
