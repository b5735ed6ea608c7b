import type { MigrationSql } from '../catalog/migration-sql.js'
import { longKeys } from './long-keys.js'

export const mysqlMigration: MigrationSql = {
  lintComments: () => '',
  createSchema: () => [],
  /** InnoDB rejects longer keys, which would make the migration fail. */
  notes: (table) => longKeys(table).map((problem) => `on MySQL ${problem}`),
}
