/** Selects true if the database has the Citus extension, which distributes tables over several servers. */
export const LISTS_CITUS = `EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')`

/**
 * Makes reads visit one server after the other for the rest of the transaction. Otherwise a replicated table
 * could not be written after a read across all tenants.
 */
export const READ_IN_SEQUENCE = `SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true)`

/** Makes the coordinator send exact floats to the other servers. */
export const EXACT_FLOATS = `SELECT set_config('extra_float_digits', '1', false)`

/** Selects the setting if the coordinator rounds floats. */
export const ROUNDED_FLOATS = `SELECT current_setting('extra_float_digits') AS digits WHERE ${LISTS_CITUS} AND current_setting('extra_float_digits')::int < 1`

/** The coordinator's table that maps the public id of each credential to its tenant. */
export const CREDENTIAL_TENANTS = 'credential_tenants'

/**
 * Selects a table's unique indexes that do not contain a column. Parameters: the quoted table and the column.
 */
export const UNROUTABLE_INDEXES = `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = to_regclass($1) AND indisunique AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY(indkey) AND attname = $2)`

/** Selects the host and the port of each worker. */
export const LISTS_WORKERS = 'SELECT node_name, node_port::text FROM citus_get_active_worker_nodes()'

/** Limits the next check to one second for the rest of the transaction. */
export const LIMITS_CHECK = `SELECT set_config('citus.node_connection_timeout', '800', true), set_config('statement_timeout', '1000', true)`

/** Selects true if the coordinator reaches a worker. Parameters: host and port. */
export const CHECKS_WORKER = 'SELECT citus_check_connection_to_node($1::text, $2::int)'

/**
 * Settings for the transaction that creates and distributes a table. Without them, Citus would make a table
 * that refers to a reference table local to the coordinator.
 */
export const BEFORE_DISTRIBUTION = [
  `SET LOCAL citus.multi_shard_modify_mode TO 'sequential'`,
  'SET LOCAL citus.enable_local_reference_table_foreign_keys TO off',
]

/** Returns a statement that runs steps if the database has Citus. */
export const ifCitus = (steps: readonly string[]): string =>
  `DO $citus$\nBEGIN\n  IF ${LISTS_CITUS} THEN\n${steps.map((step) => `    ${step};\n`).join('')}  END IF;\nEND\n$citus$`

export const MAKES_CREDENTIAL_TENANTS = `CREATE TABLE IF NOT EXISTS ${CREDENTIAL_TENANTS} (public_id text PRIMARY KEY, tenant text NOT NULL)`
