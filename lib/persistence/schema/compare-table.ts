import {
  type Catalog,
  foreignKeyShape,
  type LiveColumn,
  type LiveTable,
  shapeOf,
} from '../dialects/catalog/live-table.js'
import type {
  ColumnDefinition,
  IndexDefinition,
  TableDefinition,
  TableName,
} from '../dialects/catalog/table-definition.js'
import { columnText } from '../dialects/column-text.js'
import type { Dialect } from '../dialects/dialect.js'
import { quoteTable } from '../dialects/quote-table.js'
import { addForeignKey, createIndex, dropForeignKey } from './create-table.js'
import { tableText } from './table-name-of.js'

/** A dialect whose live schemas can be read. */
export type ComparedDialect = Dialect & { readonly catalog: Catalog }

/**
 * The differences of a live table from the model, one line each with what to do; empty when there are none.
 * @param others - columns of the table that do not belong to fields of the model.
 */
export function compareTable(
  wanted: TableDefinition,
  live: LiveTable | undefined,
  dialect: ComparedDialect,
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
    ...foreignKeyDifferences(wanted, live, dialect),
  ]
}

function columnDifferences(
  definition: TableDefinition,
  live: LiveTable,
  dialect: ComparedDialect,
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
  dialect: ComparedDialect,
): readonly Difference[] {
  const { catalog } = dialect
  const change = (what: Parameters<Catalog['change']>[0]) =>
    catalog.change(what, wanted, columnText(wanted, dialect))
  const type = catalog.typeText(wanted.type)
  const differences: Difference[] = []
  if (live.isComputed)
    return [['is made by the database, and the model writes it', `DROP COLUMN ${dialect.quote(wanted.name)}`]]
  if (live.type !== type) differences.push([`is ${live.type} and has to be ${type}`, change('type')])
  else if (wanted.isText && !catalog.exactCollations.includes(live.collation ?? ''))
    differences.push([
      `has the collation ${live.collation ?? 'of nobody knows what'} and needs ${catalog.exactCollations[0] ?? ''}, or texts are ordered and compared in another way`,
      change('type'),
    ])
  if (live.nullable !== wanted.nullable)
    differences.push([
      wanted.nullable ? 'is NOT NULL and has to take NULL' : 'takes NULL and has to be NOT NULL',
      change('nullable'),
    ])
  if (wanted.fallback !== undefined && live.fallback !== wanted.fallback)
    differences.push([`has to have the default ${wanted.fallback}`, change('fallback')])
  return differences
}

function keyDifferences(table: TableDefinition, live: LiveTable): readonly string[] {
  const [is, wanted] = [live.primaryKey.join(', '), table.primaryKey.join(', ')]
  if (is === wanted) return []
  return [
    `${tableText(table)} has ${is === '' ? 'no primary key' : `the primary key (${is})`} and has to have (${wanted}): make it in a quiet hour, because it locks the table`,
  ]
}

function indexDifferences(
  definition: TableDefinition,
  live: LiveTable,
  dialect: ComparedDialect,
): readonly string[] {
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

/** A foreign key of other columns is nobody's concern here. */
function foreignKeyDifferences(
  definition: TableDefinition,
  live: LiveTable,
  dialect: ComparedDialect,
): readonly string[] {
  const table = tableText(definition)
  const { option, then } = dialect.catalog.addedForeignKey
  return definition.foreignKeys.flatMap((key) => {
    const shape = foreignKeyShape({ ...key, target: tableText(key.target) })
    const reference = key.columns.at(-1) as string
    const there = live.foreignKeys.filter(({ columns }) => columns.includes(reference))
    const others = there.filter((one) => one.shape !== shape)
    const validate =
      then === ''
        ? ''
        : `; then ALTER TABLE ${quoteTable(definition, dialect)} ${then} ${dialect.quote(key.name)}`
    const add = `${addForeignKey(definition, key, dialect)}${option}${validate}`
    const isThere = there.length > others.length
    if (!isThere && others.length === 0)
      return [
        `${table} lacks the foreign key ${key.name} ${shape}, so that a reference can leave its tenant: ${add}`,
      ]
    return others.map(
      (other) =>
        `the foreign key ${other.name} of ${table} is ${other.shape} and has to be ${shape}: ${dropForeignKey(definition, other, dialect)}${isThere ? '' : `, then ${add}`}`,
    )
  })
}

const makeText = (table: TableName, index: IndexDefinition, dialect: ComparedDialect): string =>
  createIndex(table, index, dialect, dialect.catalog.indexOption)
