import { foreignKeyShape, shapeOf } from '../dialects/catalog/live-table.js'
import type {
  ColumnDefinition,
  IndexDefinition,
  TableDefinition,
} from '../dialects/catalog/table-definition.js'
import { columnText } from '../dialects/column-text.js'
import { quoteTable } from '../dialects/quote-table.js'
import { addForeignKey, createIndex, dropForeignKey } from '../schema/create-table.js'
import { tableText } from '../schema/table-name-of.js'
import type { ComparedDialect } from './expected-table.js'
import type { Difference } from './table-differences.js'

/** A difference as one line with what to do; undefined where another line says it. */
export function differenceText(
  difference: Difference,
  definition: TableDefinition,
  dialect: ComparedDialect,
): string | undefined {
  const table = tableText(definition)
  const { catalog, quote } = dialect
  const alter = `ALTER TABLE ${quoteTable(definition, dialect)} `
  const corrected = (what: 'type' | 'nullable' | 'fallback', column: ColumnDefinition) =>
    `${alter}${catalog.change(what, column, columnText(column, dialect))}`
  const make = (index: IndexDefinition) => createIndex(definition, index, dialect, catalog.indexOption)
  const { option, then } = catalog.addedForeignKey
  const validate = (name: string) => (then === '' ? '' : `; then ${alter}${then} ${quote(name)}`)
  switch (difference.kind) {
    case 'noTable':
      return `${table} is missing: ashlar migrate new … --entities writes the file that creates it, up applies it`
    case 'fault':
      return `${table} ${difference.text}`
    case 'addColumn':
      return `${table}.${difference.column.name} is missing: ${alter}ADD COLUMN ${columnText(difference.column, dialect)}`
    case 'generated':
      return `${table}.${difference.column.name} is made by the database, and the model writes it: ${alter}DROP COLUMN ${quote(difference.column.name)}`
    case 'type': {
      const { column, live } = difference
      return `${table}.${column.name} is ${live.type} and has to be ${catalog.typeText(column.type)}: ${corrected('type', column)}`
    }
    case 'collation': {
      const { column, live } = difference
      return `${table}.${column.name} has the collation ${live.collation ?? 'of nobody knows what'} and needs ${catalog.exactCollations[0] ?? ''}, or texts are ordered and compared in another way: ${corrected('type', column)}`
    }
    case 'nullable': {
      const { column } = difference
      return `${table}.${column.name} ${column.nullable ? 'is NOT NULL and has to take NULL' : 'takes NULL and has to be NOT NULL'}: ${corrected('nullable', column)}`
    }
    case 'default':
      return `${table}.${difference.column.name} has to have the default ${difference.wanted}: ${corrected('fallback', difference.column)}`
    case 'spareDefault':
      return `${table}.${difference.column.name} keeps the default ${difference.live.fallback ?? ''}, which let older images leave it out: once none of them runs, ashlar migrate diff NAME --contract writes ${alter}ALTER COLUMN ${quote(difference.column.name)} DROP DEFAULT`
    case 'extraColumn': {
      const { live, to } = difference
      if (to !== undefined)
        return `${table}.${live.name} is called ${to.name} now: drop it once every row is copied and no running image uses it`
      return `${table}.${live.name} is not in the model: declare it, or drop it once no running image uses it`
    }
    case 'primaryKey': {
      const [is, wanted] = [difference.is.join(', '), difference.wanted.join(', ')]
      return `${table} has ${is === '' ? 'no primary key' : `the primary key (${is})`} and has to have (${wanted}): make it in a quiet hour, because it locks the table`
    }
    case 'addIndex': {
      const { index, there } = difference
      return there === undefined
        ? `${table} lacks the index ${index.name} ${shapeOf(index)}: ${make(index)}`
        : `the index ${index.name} of ${table} is ${shapeOf(there)} and has to be ${shapeOf(index)}: drop it, then ${make(index)}`
    }
    case 'extraIndex': {
      const { index, isReplaced } = difference
      if (isReplaced) return undefined
      return index.unique
        ? `the index ${index.name} of ${table} is ${shapeOf(index)}, which the model does not have: it refuses rows that are allowed, and may tell one tenant what another has; drop it, or declare it`
        : `the index ${index.name} of ${table} is ${shapeOf(index)}, which the model does not have any more: every write pays for it; drop it`
    }
    case 'addForeignKey': {
      const { key, others } = difference
      if (others.length > 0) return undefined
      return `${table} lacks the foreign key ${key.name} ${foreignKeyShape({ ...key, target: tableText(key.target) })}, so that a reference can leave its tenant: ${addForeignKey(definition, key, dialect)}${option}${validate(key.name)}`
    }
    case 'extraForeignKey': {
      const { key, wanted, isThere } = difference
      const drop = dropForeignKey(definition, key, dialect)
      if (wanted === undefined)
        return `the foreign key ${key.name} of ${table} is ${foreignKeyShape(key)}, which the model does not have any more: ${drop}`
      const shape = foreignKeyShape({ ...wanted, target: tableText(wanted.target) })
      return `the foreign key ${key.name} of ${table} is ${foreignKeyShape(key)} and has to be ${shape}: ${drop}${isThere ? '' : `, then ${addForeignKey(definition, wanted, dialect)}${option}${validate(wanted.name)}`}`
    }
    case 'uncheckedForeignKey':
      return `the foreign key ${difference.key.name} of ${table} is ${foreignKeyShape(difference.key)}, so that rows from before may refer to nothing: ${alter}VALIDATE CONSTRAINT ${quote(difference.key.name)}`
    case 'uncheckedCheck':
      return `the check ${difference.check.name} of ${table} is NOT VALID, so that rows from before may break it: ${alter}VALIDATE CONSTRAINT ${quote(difference.check.name)}`
  }
}
