-- Forks by writer: under whose name records conflict, at how many places, and whether signatures prove it.
SELECT
  dialect,
  kind,
  left(writer, 16) AS writer,
  count(*) AS places,
  sum(records) AS records,
  bool_and(attributable) AS signed
FROM fork
GROUP BY dialect, kind, left(writer, 16)
ORDER BY places DESC, dialect, writer
