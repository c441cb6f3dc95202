-- The runs of the commands that write tables, one row per run, with its counts as columns: in each run that ingests, read is
-- the sum of new, known, rejected and deferred. A stream leaves a row of ingest for each batch, and at its end a row of
-- stream that sums them up: leave that one out of sums. A count that a command does not have is null.
-- Example: SELECT command, exit, count(*) AS runs, max(started_at) AS newest FROM run_history GROUP BY command, exit
SELECT
  run_id,
  command,
  dialect,
  outcome,
  exit,
  started_at,
  seconds,
  namespaces,
  counts['read'] AS read,
  counts['new'] AS new,
  counts['known'] AS known,
  counts['rejected'] AS rejected,
  counts['deferred'] AS deferred,
  counts['readmitted'] AS readmitted,
  error.code AS error_code,
  version
FROM run
