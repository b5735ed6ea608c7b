import { foreignKeyShape, type LiveIndex, shapeOf } from '../dialects/catalog/live-table.js'
import type { ColumnDefinition, TableDefinition } from '../dialects/catalog/table-definition.js'
import { quoteTable } from '../dialects/quote-table.js'
import { SEARCH_VECTOR } from '../dialects/search-predicate.js'
import { tableText } from '../schema/table-name-of.js'
import type { ComparedDialect } from './expected-table.js'
import type { Difference } from './table-differences.js'

/** What `verify` does not know, because it does not look at what the files make. */
const YOURS = ', unless a file of yours does already'
const ALL_YOURS = ', unless files of yours do already'
const EXPAND = `ashlar migrate diff NAME writes the file for it${YOURS}`
const CONTRACT = `once no older image runs, ashlar migrate diff NAME --contract writes the file for it${YOURS}`
const BOTH = `ashlar migrate diff NAME writes the file for the right one, and once no older image runs, diff NAME --contract the one that drops this${ALL_YOURS}`
const CONTRACT_DROPS = `ashlar migrate diff NAME --contract writes the file that drops it${YOURS}`

/** A difference in the words of `diff`, which has compared the files. */
export const withoutYours = (text: string): string => text.replace(YOURS, '').replace(ALL_YOURS, '')

/**
 * A difference as one line with what to do, the same for `verify` and `diff`; undefined where another line says it. It names
 * statements only where nothing else writes them, because most that come to mind lock or rewrite the table.
 */
export function differenceText(
  difference: Difference,
  definition: TableDefinition,
  dialect: ComparedDialect,
): string | undefined {
  const table = tableText(definition)
  const { catalog, quote } = dialect
  const alter = `ALTER TABLE ${quoteTable(definition, dialect)} `
  switch (difference.kind) {
    case 'noTable':
      return `${table} is missing: ${EXPAND}`
    case 'fault':
      return `${table} ${difference.text}`
    case 'addColumn':
      return `${table}.${difference.column.name} is missing: ${EXPAND}`
    case 'generated':
      return `${table}.${difference.column.name} is made by the database, and the model writes it: drop the column in a file of your own, and diff adds it again`
    case 'type': {
      const { column, live } = difference
      const isExact = !column.isText || catalog.exactCollations.includes(live.collation ?? '')
      const collation = isExact
        ? ''
        : `, with the collation ${catalog.exactCollations[0] ?? ''} in place of ${live.collation ?? 'its own'}`
      const type = column.catalogType
      const until = [
        ...(column.isText && lengthOf(live.type) < lengthOf(type) ? ['longer values are refused'] : []),
        ...(isExact ? [] : [`texts are ordered and compared by the other collation`]),
      ].join(', and ')
      return `${table}.${column.name} is ${live.type} and has to be ${type}${collation}: ${until === '' ? '' : `until then ${until}; `}${CONTRACT}`
    }
    case 'collation': {
      const { column, live } = difference
      return `${table}.${column.name} has the collation ${live.collation ?? 'of nobody knows what'} and needs ${catalog.exactCollations[0] ?? ''}: until then texts are ordered and compared by the other one; ${CONTRACT}`
    }
    case 'nullable': {
      const { column } = difference
      if (column.nullable) return `${table}.${column.name} is NOT NULL and has to take NULL: ${CONTRACT}`
      const unfilled = nullRows(definition, column, dialect)
      const first = unfilled === undefined ? '' : `fill it first (${unfilled}); `
      return `${table}.${column.name} takes NULL and has to be NOT NULL: ${first}${CONTRACT}`
    }
    case 'default':
      return `${table}.${difference.column.name} has to have the default ${difference.wanted}: ${EXPAND}`
    case 'spareDefault':
      return `${table}.${difference.column.name} keeps the default ${difference.live.fallback ?? ''}, which let older images leave it out: once none of them runs, ashlar migrate diff NAME --contract writes ${alter}ALTER COLUMN ${quote(difference.column.name)} DROP DEFAULT`
    case 'extraColumn': {
      const { live, to } = difference
      if (to !== undefined)
        return `${to.name} replaces ${table}.${live.name}: once no running image uses ${live.name}, ${CONTRACT_DROPS}`
      if (live.name === SEARCH_VECTOR && live.generated !== undefined)
        return `${table}.${live.name} is of a search that is not INDEXED any more: once no running image searches by it, ${CONTRACT_DROPS}`
      return `${table}.${live.name} is not in the model: declare it; or, once no running image uses it, ${CONTRACT_DROPS}`
    }
    case 'primaryKey': {
      const [is, wanted] = [difference.is.join(', '), difference.wanted.join(', ')]
      return `${table} has ${is === '' ? 'no primary key' : `the primary key (${is})`} and has to have (${wanted}): make it in a quiet hour, because it locks the table`
    }
    case 'addIndex': {
      const { index, there } = difference
      return there === undefined
        ? `${table} lacks the index ${index.name} ${shapeOf(index)}: ${EXPAND}`
        : `the index ${index.name} of ${table} is ${shapeOf(there)} and has to be ${shapeOf(index)}: ${BOTH}`
    }
    case 'extraIndex': {
      const { index, isReplaced } = difference
      if (isReplaced) return undefined
      if (index.unique && isForLiveRows(index, definition))
        return `the index ${index.name} of ${table} is replaced, and still refuses the values of deleted rows: once no older image runs, ${CONTRACT_DROPS}`
      return index.unique
        ? `the index ${index.name} of ${table} is ${shapeOf(index)}, which the model does not have: it refuses rows that are allowed${crossesTenants(index, definition)}; declare it, or ${CONTRACT_DROPS}`
        : `the index ${index.name} of ${table} is ${shapeOf(index)}, which the model does not have any more: every write pays for it; ${CONTRACT_DROPS}`
    }
    case 'addForeignKey': {
      const { key, others } = difference
      if (others.length > 0) return undefined
      return `${table} lacks the foreign key ${key.name} ${foreignKeyShape({ ...key, target: tableText(key.target) })}, so that a reference can leave its tenant: ${catalog.changes.addsForeignKeysInUse ? EXPAND : CONTRACT}`
    }
    case 'extraForeignKey': {
      const { key, wanted, isThere } = difference
      if (wanted === undefined)
        return `the foreign key ${key.name} of ${table} is ${foreignKeyShape(key)}, which the model does not have any more: ${CONTRACT_DROPS}`
      const shape = foreignKeyShape({ ...wanted, target: tableText(wanted.target) })
      return `the foreign key ${key.name} of ${table} is ${foreignKeyShape(key)} and has to be ${shape}: ${isThere ? CONTRACT_DROPS : BOTH}`
    }
    case 'uncheckedForeignKey':
      return `the foreign key ${difference.key.name} of ${table} is ${foreignKeyShape(difference.key)}, so that rows from before may refer to nothing: ${EXPAND}`
    case 'uncheckedCheck':
      return `the check ${difference.check.name} of ${table} is NOT VALID, so that rows from before may break it: ${alter}VALIDATE CONSTRAINT ${quote(difference.check.name)}`
  }
}

/** Of `varchar(80)`; Infinity for a type without a length. */
const lengthOf = (type: string): number => Number(/char[a-z ]*\((\d+)\)/i.exec(type)?.[1] ?? Infinity)

/**
 * How to find the rows without a value of a column that becomes required, and who fills them; undefined where the contract does, or
 * where they are copied from the column that it was.
 */
export function nullRows(
  table: TableDefinition,
  { name, initial, renamedFrom }: ColumnDefinition,
  dialect: ComparedDialect,
): string | undefined {
  if (initial !== undefined || renamedFrom !== undefined) return undefined
  return `SELECT * FROM ${quoteTable(table, dialect)} WHERE ${dialect.quote(name)} IS NULL finds the rows, and ashlar migrate new NAME begins a backfill`
}

/** Whether the model has its columns in a unique index that leaves deleted rows out. */
const isForLiveRows = (live: LiveIndex, { indexes }: TableDefinition): boolean =>
  live.where === undefined &&
  indexes.some(
    ({ unique, columns, where }) =>
      unique &&
      columns.length + (where === undefined ? 0 : 1) > live.columns.length &&
      live.columns.every((column, at) => columns[at] === column),
  )

/** What a unique index tells a caller who meets a row that the caller may not see. */
const crossesTenants = ({ columns }: LiveIndex, { tenant }: TableDefinition): string =>
  tenant === undefined || columns.includes(tenant) ? '' : ', and may tell one tenant what another has'
