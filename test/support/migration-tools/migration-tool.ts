import type { Dialect } from '../../../lib/migrations/index.js'

/** Another tool, as somebody has used it so far. */
export interface MigrationTool {
  readonly name: string
  readonly dialects: readonly Dialect[]
  /**
   * Applies the first migrations that somebody wrote for the tool. @param folder - where it may keep its
   * files.
   */
  readonly apply: (url: string, dialect: Dialect, count: 1 | 2, folder: string) => Promise<void>
}

/** The columns of the table of the first migration: name, most characters, and whether it may be NULL. */
export const COLUMNS: readonly (readonly [name: string, length: number, nullable: boolean])[] = [
  ['account_id', 255, false],
  ['id', 255, false],
  ['title', 100, false],
  ['colour', 200, false],
  ['note', 200, true],
]

/** The same for tools whose migrations are SQL. */
export const STATEMENTS: readonly [string, string] = [
  `CREATE TABLE tasks (${COLUMNS.map(([name, length, nullable]) => `${name} varchar(${length})${nullable ? '' : ' NOT NULL'}`).join(', ')}, PRIMARY KEY (account_id, id))`,
  'ALTER TABLE tasks ADD COLUMN due bigint',
]
