import type { VersionTableSql } from '../session/engine.js'

export const mysqlVersionTable: VersionTableSql = {
  definition: `(
    version int NOT NULL PRIMARY KEY,
    name varchar(255) NOT NULL,
    checksum varchar(64),
    dirty boolean NOT NULL DEFAULT false,
    statements_done int NOT NULL DEFAULT 0,
    up_sql longtext,
    down_sql longtext,
    error text,
    applied_at datetime(6) NOT NULL
  ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
  backfills: `(
    version int NOT NULL PRIMARY KEY,
    walks text NOT NULL,
    position text,
    rows_walked bigint NOT NULL,
    rows_written bigint NOT NULL,
    moved_at datetime(6) NOT NULL
  ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
  appliedAt: 'applied_at',
  now: 'UTC_TIMESTAMP(6)',
  replace: () => ['REPLACE', ''],
  inSchema: () => ['table_schema = DATABASE()', []],
}
