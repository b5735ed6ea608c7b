import type { VersionTableSql } from '../session/engine.js'

export const postgresVersionTable: VersionTableSql = {
  definition: `(
    version integer PRIMARY KEY,
    name text NOT NULL,
    checksum text,
    dirty boolean NOT NULL DEFAULT false,
    statements_done integer NOT NULL DEFAULT 0,
    up_sql text,
    down_sql text,
    error text,
    applied_at timestamptz NOT NULL
  )`,
  backfills: `(
    version integer PRIMARY KEY,
    walks text NOT NULL,
    position text,
    rows_walked bigint NOT NULL,
    rows_written bigint NOT NULL,
    moved_at timestamptz NOT NULL
  )`,
  // The format of times depends on settings of the database or role, which a read-only session does not
  // change.
  appliedAt: `to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
  now: 'clock_timestamp()',
  replace: (columns) => [
    'INSERT',
    `ON CONFLICT (version) DO UPDATE SET ${columns.map((column) => `${column} = EXCLUDED.${column}`).join(', ')}`,
  ],
  inSchema: (schema) => ['table_schema = ?', [schema]],
}
