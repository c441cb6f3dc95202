-- Checkpoints that do not begin with the tree of the checkpoint before them: its size or its root is another one, or it is
-- missing. The first one begins with the empty tree.
SELECT c.namespace, c.seq
FROM checkpoint AS c
LEFT JOIN checkpoint AS p ON p.namespace = c.namespace AND p.seq = c.seq - 1
WHERE c.prev_size <> coalesce(p.size, CASE WHEN c.seq = 1 THEN 0 ELSE -1 END)
  OR c.prev_root <> coalesce(p.root, unhex(sha2(CAST('' AS BINARY), 256)))
