import type { Dialect, Difference } from '../../lib/migrations/index.js'
import type { TableDifference } from '../../lib/text/table-difference.js'

/** Something that somebody did to the table of specimens, and the values of the differences that tell it. */
export interface Alteration {
  readonly name: string
  readonly sql: readonly string[]
  readonly found: readonly object[]
}

/** A difference without its sentence. What is wrong with a table as a whole has nothing else. */
export function valuesOf(difference: Difference | TableDifference): object {
  if (!('text' in difference)) return difference
  const { text, detail: _, ...values } = difference
  return difference.kind === 'fault' ? { ...values, text } : values
}

export const found = (kind: string, values: Partial<TableDifference>): object => ({
  ...{ kind, table: 'specimens', ...values },
})

/** One change of one column. */
export const column = (
  name: string,
  change: string,
  kind: string,
  values: Partial<TableDifference>,
): Alteration => ({
  name,
  sql: [`ALTER TABLE specimens ${change}`],
  found: [found(kind, values)],
})

/** A column that gets another type. */
export const type = (name: string, change: string, of: string, is: string, wanted: string): Alteration =>
  column(name, change, 'type', { column: of, is, wanted, next: 'contract' })

/** The unique index of specimens. */
export const KEY = 'specimens_account_id_code_key'

/** What changes nothing that the model has to do with. */
export const UNHARMFUL: Readonly<Record<Dialect, readonly Omit<Alteration, 'found'>[]>> = {
  postgres: [
    { name: 'an index of another name', sql: [`ALTER INDEX ${KEY} RENAME TO another_name`] },
    { name: 'an index more', sql: ['CREATE INDEX serials ON specimens (serial)'] },
    {
      name: 'a unique index that is a constraint',
      sql: [
        'DROP INDEX specimens_api_key_public_id_key',
        'ALTER TABLE specimens ADD CONSTRAINT public_ids UNIQUE (api_key_public_id)',
      ],
    },
    {
      name: 'an index that carries a column',
      sql: [
        'DROP INDEX specimens_expire_time_idx',
        'CREATE INDEX specimens_expire_time_idx ON specimens (expire_time) INCLUDE (id)',
      ],
    },
    {
      name: 'columns in another order',
      sql: [
        'ALTER TABLE notes DROP COLUMN text',
        'ALTER TABLE notes ADD COLUMN text varchar(255) COLLATE "C" NOT NULL',
      ],
    },
    { name: 'a default', sql: ['ALTER TABLE notes ALTER COLUMN stars SET DEFAULT 3'] },
    {
      name: 'a table of the same name elsewhere',
      sql: ['CREATE SCHEMA aside', 'CREATE TABLE aside.notes (id int)'],
    },
  ],
  mysql: [
    { name: 'an index of another name', sql: [`ALTER TABLE specimens RENAME INDEX ${KEY} TO another_name`] },
    { name: 'an index more', sql: ['CREATE INDEX serials ON specimens (serial)'] },
    { name: 'columns in another order', sql: ['ALTER TABLE notes MODIFY stars int NOT NULL FIRST'] },
    { name: 'a default', sql: ['ALTER TABLE notes ALTER COLUMN stars SET DEFAULT 3'] },
  ],
}
