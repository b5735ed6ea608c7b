import type { Dialect } from '../dialects/dialect.js'
import { quoteIdentifier } from '../dialects/identifier.js'
import {
  type ColumnDefinition,
  columnText,
  createIndex,
  type IndexDefinition,
  type TableDefinition,
} from './table-definition.js'
import { quoteTable, type TableName, tableText } from './table-name.js'
import { type LiveColumn, type LiveTable, shapeOf } from './live-table.js'

type Engine = Exclude<Dialect, 'sqlite'>

/**
 * What of a live table is not as the model has it, one line each with what to do; empty when nothing is.
 * @param others - columns that the model has elsewhere.
 */
export function compareTable(
  wanted: TableDefinition,
  live: LiveTable | undefined,
  dialect: Engine,
  others: readonly string[] = [],
): readonly string[] {
  const name = tableText(wanted)
  if (live === undefined)
    return [
      `${name} is missing: ashlar migrate new … --entities writes the file that creates it, up applies it`,
    ]
  if (live.faults.length > 0) return live.faults.map((fault) => `${name} ${fault}`)
  return [
    ...columnDifferences(wanted, live, dialect, others),
    ...keyDifferences(wanted, live),
    ...indexDifferences(wanted, live, dialect),
  ]
}

function columnDifferences(
  definition: TableDefinition,
  live: LiveTable,
  dialect: Engine,
  others: readonly string[],
): readonly string[] {
  const { columns } = definition
  const table = tableText(definition)
  const found = new Map(live.columns.map((column) => [column.name, column]))
  const known = new Set([...columns.map(({ name }) => name), ...others])
  const alter = `ALTER TABLE ${quoteTable(definition, dialect)} `
  return [
    ...columns.flatMap((column) => {
      const there = found.get(column.name)
      if (there === undefined)
        return [`${table}.${column.name} is missing: ${alter}ADD COLUMN ${columnText(column, dialect)}`]
      return columnDifference(column, there, dialect).map(
        ([what, change]) => `${table}.${column.name} ${what}: ${alter}${change}`,
      )
    }),
    ...live.columns
      .filter(({ name }) => !known.has(name))
      .map(
        ({ name }) =>
          `${table}.${name} is not in the model: declare it, or drop it once no running image uses it`,
      ),
  ]
}

type Difference = readonly [what: string, change: string]

function columnDifference(
  wanted: ColumnDefinition,
  live: LiveColumn,
  dialect: Engine,
): readonly Difference[] {
  const column = quoteIdentifier(wanted.name, dialect)
  const isPostgres = dialect === 'postgres'
  const whole = `MODIFY ${columnText(wanted, dialect)}`
  const type = catalogType(wanted.type, dialect)
  const differences: Difference[] = []
  const retype = isPostgres
    ? `ALTER COLUMN ${column} TYPE ${wanted.type}${wanted.isText ? ' COLLATE "C"' : ''}`
    : whole
  if (live.isComputed) return [['is made by the database, and the model writes it', `DROP COLUMN ${column}`]]
  if (live.type !== type) differences.push([`is ${live.type} and has to be ${type}`, retype])
  else if (wanted.isText && !EXACT[dialect].includes(live.collation ?? ''))
    differences.push([
      `has the collation ${live.collation ?? 'of nobody knows what'} and needs ${EXACT[dialect][0] ?? ''}, or texts are ordered and compared in another way`,
      retype,
    ])
  if (live.nullable !== wanted.nullable)
    differences.push([
      wanted.nullable ? 'is NOT NULL and has to take NULL' : 'takes NULL and has to be NOT NULL',
      isPostgres ? `ALTER COLUMN ${column} ${wanted.nullable ? 'DROP' : 'SET'} NOT NULL` : whole,
    ])
  if (wanted.fallback !== undefined && live.fallback !== wanted.fallback)
    differences.push([`has to have the default ${wanted.fallback}`, whole])
  return differences
}

/** By code point, case and trailing spaces counting. Either of the two on MySQL: a server knows only its own. */
const EXACT: Readonly<Record<Engine, readonly string[]>> = {
  postgres: ['C', 'POSIX'],
  mariadb: ['utf8mb4_nopad_bin', 'utf8mb4_0900_bin'],
  mysql: ['utf8mb4_0900_bin', 'utf8mb4_nopad_bin'],
}

/** A type as PostgreSQL's catalog says it. MySQL's says what was written. */
const catalogType = (type: string, dialect: Engine): string =>
  dialect === 'postgres'
    ? type
        .replace(/^timestamptz$/, 'timestamp with time zone')
        .replace(/^varchar/, 'character varying')
        .replace(/^numeric\((\d+)\)$/, 'numeric($1,0)')
    : type

function keyDifferences(table: TableDefinition, live: LiveTable): readonly string[] {
  const [is, wanted] = [live.primaryKey.join(', '), table.primaryKey.join(', ')]
  if (is === wanted) return []
  return [
    `${tableText(table)} has ${is === '' ? 'no primary key' : `the primary key (${is})`} and has to have (${wanted}): make it in a quiet hour, because it locks the table`,
  ]
}

function indexDifferences(definition: TableDefinition, live: LiveTable, dialect: Engine): readonly string[] {
  const table = tableText(definition)
  const wanted = definition.indexes.map((index) => ({ index, shape: shapeOf(index) }))
  const missing = wanted.filter(({ shape }) => !live.indexes.some((one) => one.shape === shape))
  const replaced = new Set(missing.map(({ index }) => index.name))
  const extra = live.indexes.filter(
    ({ name, unique, shape }) => unique && !replaced.has(name) && !wanted.some((one) => one.shape === shape),
  )
  return [
    ...missing.map(({ index, shape }) => {
      const there = live.indexes.find(({ name }) => name === index.name)
      return there === undefined
        ? `${table} lacks the index ${index.name} ${shape}: ${makeText(definition, index, dialect)}`
        : `the index ${index.name} of ${table} is ${there.shape} and has to be ${shape}: drop it, then ${makeText(definition, index, dialect)}`
    }),
    ...extra.map(
      ({ name, shape }) =>
        `the index ${name} of ${table} is ${shape}, which the model does not have: it refuses rows that are allowed, and may tell one tenant what another has; drop it, or declare it`,
    ),
  ]
}

const makeText = (table: TableName, index: IndexDefinition, dialect: Engine): string =>
  createIndex(table, index, dialect, dialect === 'postgres' ? 'CONCURRENTLY ' : '')
