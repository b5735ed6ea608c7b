import type { MigrationSql } from '../catalog/migration-sql.js'
import { longKeys } from './long-keys.js'

export const mysqlMigration: MigrationSql = {
  lintComments: () => '',
  createSchema: () => [],
  /** InnoDB refuses a longer key, so that the file would fail. */
  notes: (table) => longKeys(table).map((problem) => `on MySQL ${problem}`),
}
