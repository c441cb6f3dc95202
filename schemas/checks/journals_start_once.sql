-- Journals without exactly one line 1, journals with a fingerprint that is not of their profile, and journals of two
-- profiles.
SELECT namespace, count_if(n = 1) AS first_lines, array_join(sort_array(collect_set(profile)), ',') AS profiles
FROM node_journal_line
GROUP BY namespace
HAVING count_if(n = 1) <> 1
  OR min(n) <> 1
  OR count(DISTINCT profile) <> 1
  OR NOT CASE max(profile)
    WHEN '0.9' THEN namespace RLIKE '\\Anode:[0-9a-f]{64}\\z'
    ELSE namespace RLIKE '\\Anode:[A-Za-z0-9_-]{86}\\z'
  END
