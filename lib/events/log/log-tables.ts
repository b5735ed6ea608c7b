import type { Database } from '../../persistence/engines/executor/executor.js'
import { named } from '../../persistence/sql/transaction.js'
import { SQLITE_OUTBOX } from '../../persistence/outbox/sql/outbox-tables.js'

/**
 * The tables that migrations create on other engines. SQLite has no migrations, so they are created on first
 * use.
 */
const SQLITE_LOG = [
  SQLITE_OUTBOX,
  'CREATE INDEX IF NOT EXISTS outbox_unsequenced ON outbox (position) WHERE log_position IS NULL',
  `CREATE TABLE IF NOT EXISTS outbox_dispatch_cursor (
  name TEXT PRIMARY KEY,
  head_failures INTEGER NOT NULL DEFAULT 0,
  log_position INTEGER
)`,
  `CREATE TABLE IF NOT EXISTS outbox_dead_letter (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  cursor_name TEXT,
  event_id TEXT,
  event_type TEXT,
  reason TEXT,
  payload BLOB,
  created_time INTEGER,
  recorded_at INTEGER
)`,
  `CREATE TABLE IF NOT EXISTS outbox_leases (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  lease_until INTEGER NOT NULL
)`,
  `CREATE TABLE IF NOT EXISTS idempotency_markers (
  key TEXT PRIMARY KEY,
  created_time INTEGER
)`,
  `CREATE TABLE IF NOT EXISTS tenant_event_seq (
  account_id TEXT PRIMARY KEY,
  next_seq INTEGER NOT NULL DEFAULT 0
)`,
  `CREATE TABLE IF NOT EXISTS tenant_event_policy (
  tenant_id TEXT PRIMARY KEY,
  policy INTEGER NOT NULL DEFAULT 0,
  event_epoch INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER
)`,
].map(named)

const made = new WeakMap<Database, Promise<void>>()

/** Creates the tables of workers if migrations do not. */
export function prepareLog(database: Database): Promise<void> {
  if (database.dialect.ddl.migration !== undefined) return Promise.resolve()
  const known = made.get(database)
  if (known !== undefined) return known
  const making = makeTables(database)
  made.set(database, making)
  // The next call tries again.
  making.catch(() => made.delete(database))
  return making
}

async function makeTables(database: Database): Promise<void> {
  for (const statement of SQLITE_LOG) await database.run(statement, [])
}
