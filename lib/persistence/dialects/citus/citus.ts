/** True if the database has the extension that distributes tables over several servers. */
export const LISTS_CITUS = `EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`

/**
 * Reads the servers one after the other, for the rest of the transaction. Else a table of which each server
 * has a copy cannot be written after a read of all tenants.
 */
export const READ_IN_SEQUENCE = `SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true)`

/** Lets the coordinator write floats exactly into the statements that it sends to other servers. */
export const EXACT_FLOATS = `SELECT set_config('extra_float_digits', '1', false)`

/** Selects the setting if the coordinator rounds floats. */
export const ROUNDED_FLOATS = `SELECT current_setting('extra_float_digits') AS digits WHERE ${LISTS_CITUS} AND current_setting('extra_float_digits')::int < 1`

/** A table of the coordinator: the tenant of each credential, by its public id. */
export const CREDENTIAL_TENANTS = 'credential_tenants'

/** Selects the unique indexes of a table that lack a column. Values: the quoted table, the column. */
export const UNROUTABLE_INDEXES = `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = to_regclass($1) AND indisunique AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY(indkey) AND attname = $2)`

/** Selects the host and the port of each worker. */
export const LISTS_WORKERS = 'SELECT node_name, node_port::text FROM citus_get_active_worker_nodes()'

/** Limits the next check to one second, for the rest of the transaction. */
export const LIMITS_CHECK = `SELECT set_config('citus.node_connection_timeout', '800', true), set_config('statement_timeout', '1000', true)`

/** Selects true if a worker answers the coordinator. Values: its host and its port. */
export const CHECKS_WORKER = 'SELECT citus_check_connection_to_node($1::text, $2::int)'

/**
 * Settings of the transaction that creates a table and distributes it. Else Citus makes a table of the
 * coordinator of what refers to a reference table.
 */
export const BEFORE_DISTRIBUTION = [
  `SET LOCAL citus.multi_shard_modify_mode TO 'sequential'`,
  'SET LOCAL citus.enable_local_reference_table_foreign_keys TO off',
]

/** Runs steps if the database has the extension. */
export const ifCitus = (steps: readonly string[]): string =>
  `DO $citus$\nBEGIN\n  IF ${LISTS_CITUS} THEN\n${steps.map((step) => `    ${step};\n`).join('')}  END IF;\nEND\n$citus$`

export const MAKES_CREDENTIAL_TENANTS = `CREATE TABLE IF NOT EXISTS ${CREDENTIAL_TENANTS} (public_id text PRIMARY KEY, tenant text NOT NULL)`
