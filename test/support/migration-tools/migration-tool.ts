import type { Dialect } from '../../../lib/migrations/index.js'

/** Another migration tool, with the migrations that a project already has. */
export interface MigrationTool {
  readonly name: string
  readonly dialects: readonly Dialect[]
  /** Applies the first one or two migrations of the project. @param folder - the folder for its files. */
  readonly apply: (url: string, dialect: Dialect, count: 1 | 2, folder: string) => Promise<void>
}

/**
 * The columns of the table that the first migration creates: name, maximum length, and whether NULL is
 * allowed.
 */
export const COLUMNS: readonly (readonly [name: string, length: number, nullable: boolean])[] = [
  ['account_id', 255, false],
  ['id', 255, false],
  ['title', 100, false],
  ['colour', 200, false],
  ['note', 200, true],
]

/** The same migrations for tools whose migrations are written in SQL. */
export const STATEMENTS: readonly [string, string] = [
  `CREATE TABLE tasks (${COLUMNS.map(([name, length, nullable]) => `${name} varchar(${length})${nullable ? '' : ' NOT NULL'}`).join(', ')}, PRIMARY KEY (account_id, id))`,
  'ALTER TABLE tasks ADD COLUMN due bigint',
]
