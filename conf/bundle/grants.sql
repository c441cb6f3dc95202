-- Lets analysts query the views of the lake, and no table: rejected bytes are in `quarantine.raw`. A view reads its tables with the
-- rights of its owner. Parameters: catalog, schema, analysts.
DECLARE OR REPLACE VARIABLE statement STRING;

SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`damaged_source` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_counter` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_dag` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_denied` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_documents` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_eventlog` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_feed` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_health` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_keyvalue` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_missing` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_node` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`ipfs_log_values` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`namespace_health` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`node_journal_entry` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`node_journal_health` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`quarantine_age` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
SET VAR statement = 'GRANT SELECT ON VIEW `' || :catalog || '`.`' || :schema || '`.`resource_spread` TO `' || :analysts || '`';
EXECUTE IMMEDIATE statement;
