/** True if the database has the extension that distributes tables over several servers. */
export const LISTS_CITUS = `EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`

/**
 * Reads the servers one after the other, for the rest of the transaction. Else a table of which each server
 * has a copy cannot be written after a read of all tenants.
 */
export const READ_IN_SEQUENCE = `SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true)`
