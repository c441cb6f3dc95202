-- Channels of contexts: epoch, generation, window and pending bump, and what a reader should look at: commits that wait for
-- one before them or for a proof, and checkpoints or commits that contradict each other.
-- Example: SELECT channel, chan_epoch, pending_reason FROM channel WHERE pending_reason IS NOT NULL
SELECT
  c.namespace,
  lower(hex(c.channel)) AS channel,
  c.chan_epoch,
  c.current_gen,
  c.skip_window,
  c.skip_window_source,
  c.pending_new_epoch,
  lower(hex(c.pending_bump_id)) AS pending_bump_id,
  c.pending_reason,
  lower(hex(c.ck_commitment)) AS ck_commitment,
  c.checkpoint_conflict,
  c.commit_conflict,
  c.dormant_commits,
  c.unproven_commits
FROM channel_epoch AS c
JOIN namespace_state AS s ON s.namespace = c.namespace
