/** What the migrations make elsewhere. SQLite has none, so that its tables are made where they are used first. */
export const SQLITE_OUTBOX = `CREATE TABLE IF NOT EXISTS outbox (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  aggregate_type TEXT NOT NULL,
  aggregate_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  payload BLOB,
  created_time INTEGER NOT NULL,
  event_seq INTEGER NOT NULL DEFAULT 0,
  event_epoch INTEGER NOT NULL DEFAULT 0,
  log_position INTEGER UNIQUE
)`

/** The outbox, and what those who read it need. */
const SQLITE_TABLES: readonly string[] = [
  SQLITE_OUTBOX,
  'CREATE INDEX IF NOT EXISTS outbox_unsequenced ON outbox (position) WHERE log_position IS NULL',
  `CREATE TABLE IF NOT EXISTS outbox_dispatch_cursor (
  name TEXT PRIMARY KEY,
  cursor_time INTEGER,
  cursor_id TEXT,
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
  'CREATE TABLE IF NOT EXISTS idempotency_markers (key TEXT PRIMARY KEY, created_time INTEGER)',
  'CREATE TABLE IF NOT EXISTS tenant_event_seq (account_id TEXT PRIMARY KEY, next_seq INTEGER NOT NULL DEFAULT 0)',
  `CREATE TABLE IF NOT EXISTS tenant_event_policy (
  tenant_id TEXT PRIMARY KEY,
  policy INTEGER NOT NULL DEFAULT 0,
  event_epoch INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER
)`,
  'CREATE TABLE IF NOT EXISTS outbox_leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, lease_until INTEGER NOT NULL)',
]
