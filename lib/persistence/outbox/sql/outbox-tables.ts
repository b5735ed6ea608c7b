/**
 * Creates the table that migrations create on other engines. SQLite has no migrations, so it is created on
 * first use.
 */
export const SQLITE_OUTBOX = `CREATE TABLE IF NOT EXISTS outbox (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
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
