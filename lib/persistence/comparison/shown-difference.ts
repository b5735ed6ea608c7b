import type { TableDifference } from '../../text/table-difference.js'
import { foreignKeyShape, type LiveIndex, shapeOf } from '../dialects/catalog/live-table.js'
import type {
  ColumnDefinition,
  ForeignKeyDefinition,
  TableDefinition,
} from '../dialects/catalog/table-definition.js'
import { quoteTable } from '../dialects/quote-table.js'
import { SEARCH_VECTOR } from '../dialects/search-predicate.js'
import { tableText } from '../schema/table-name-of.js'
import type { ComparedDialect } from './expected-table.js'
import type { Difference } from './table-differences.js'

const ONCE_ALONE = 'once no older image runs, '

/** A difference with what to do, the same for `verify` and `diff`; undefined where another one says it. */
export function shownDifference(
  difference: Difference,
  definition: TableDefinition,
  dialect: ComparedDialect,
): TableDifference | undefined {
  const table = tableText(definition)
  const { kind } = difference
  const of = (text: string, rest: Partial<TableDifference>): TableDifference => ({
    kind,
    table,
    text,
    ...rest,
  })
  const {
    catalog: { live: catalog },
    text: { quote },
  } = dialect
  const alter = `ALTER TABLE ${quoteTable(definition, dialect)} `
  switch (difference.kind) {
    case 'noTable':
      return of(`${table} is missing`, { next: 'expand' })
    case 'fault':
      return of(`${table} ${difference.text}`, {})
    case 'addColumn': {
      const { name: column } = difference.column
      return of(`${table}.${column} is missing`, { column, next: 'expand' })
    }
    case 'generated': {
      const { name: column } = difference.column
      return of(`${table}.${column} is made by the database, and the model writes it`, {
        column,
        detail: 'drop the column in a file of your own, and diff adds it again',
      })
    }
    case 'unminted': {
      const { name: column } = difference.column
      return of(`${table}.${column} has to be a number that the database generates, and is not`, {
        column,
        detail: `in a file of your own: ${dialect.ddl.identity.added(definition, difference.column)}`,
      })
    }
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
      return of(`${table}.${column.name} is ${live.type} and has to be ${type}${collation}`, {
        column: column.name,
        is: isExact || live.collation === undefined ? live.type : `${live.type} COLLATE ${live.collation}`,
        wanted: isExact ? type : `${type} COLLATE ${catalog.exactCollations[0] ?? ''}`,
        ...(until !== '' && { detail: `until then ${until}; ` }),
        next: 'contract',
      })
    }
    case 'collation': {
      const { column, live } = difference
      const { collation: is } = live
      const [wanted = ''] = catalog.exactCollations
      return of(
        `${table}.${column.name} has the collation ${is ?? 'of nobody knows what'} and needs ${wanted}`,
        {
          column: column.name,
          ...(is !== undefined && { is }),
          wanted,
          detail: 'until then texts are ordered and compared by the other one; ',
          next: 'contract',
        },
      )
    }
    case 'nullable': {
      const { name: column, nullable } = difference.column
      if (nullable)
        return of(`${table}.${column} is NOT NULL and has to take NULL`, {
          column,
          is: 'NOT NULL',
          wanted: 'NULL',
          next: 'contract',
        })
      const fill = nullRows(definition, difference.column, dialect)
      return of(`${table}.${column} takes NULL and has to be NOT NULL`, {
        column,
        is: 'NULL',
        wanted: 'NOT NULL',
        ...(fill !== undefined && { fill }),
        next: 'contract',
      })
    }
    case 'default': {
      const { column, live, wanted } = difference
      return of(`${table}.${column.name} has to have the default ${wanted}`, {
        column: column.name,
        ...(live.fallback !== undefined && { is: live.fallback }),
        wanted,
        next: 'expand',
      })
    }
    case 'spareDefault': {
      const { name: column } = difference.column
      const { fallback: is = '' } = difference.live
      return of(`${table}.${column} keeps the default ${is}, which let older images leave it out`, {
        column,
        is,
        statement: `${alter}ALTER COLUMN ${quote(column)} DROP DEFAULT`,
        next: 'contract',
      })
    }
    case 'extraColumn': {
      const { live, to } = difference
      const column = live.name
      if (to !== undefined)
        return of(`${to.name} replaces ${table}.${column}`, {
          column,
          detail: `once no running image uses ${column}, `,
          next: 'drop',
        })
      if (column === SEARCH_VECTOR && live.generated !== undefined)
        return of(`${table}.${column} is of a search that is not INDEXED any more`, {
          column,
          detail: 'once no running image searches by it, ',
          next: 'drop',
        })
      return of(`${table}.${column} is not in the model`, {
        column,
        detail: 'declare it; or, once no running image uses it, ',
        next: 'drop',
      })
    }
    case 'primaryKey': {
      const [is, wanted] = [difference.is.join(', '), difference.wanted.join(', ')]
      return of(
        `${table} has ${is === '' ? 'no primary key' : `the primary key (${is})`} and has to have (${wanted})`,
        { is, wanted, detail: 'make it in a quiet hour, because it locks the table' },
      )
    }
    case 'addIndex': {
      const { name } = difference.index
      const wanted = shapeOf(difference.index)
      if (difference.there === undefined)
        return of(`${table} lacks the index ${name} ${wanted}`, { name, wanted, next: 'expand' })
      const is = shapeOf(difference.there)
      return of(`the index ${name} of ${table} is ${is} and has to be ${wanted}`, {
        name,
        is,
        wanted,
        next: 'both',
      })
    }
    case 'extraIndex': {
      const { index, isReplaced } = difference
      if (isReplaced) return undefined
      const { name } = index
      const is = shapeOf(index)
      if (index.unique && isForLiveRows(index, definition))
        return of(`the index ${name} of ${table} is replaced, and still refuses the values of deleted rows`, {
          name,
          is,
          detail: ONCE_ALONE,
          next: 'drop',
        })
      return index.unique
        ? of(`the index ${name} of ${table} is ${is}, which the model does not have`, {
            name,
            is,
            detail: `it refuses rows that are allowed${crossesTenants(index, definition)}; declare it, or `,
            next: 'drop',
          })
        : of(`the index ${name} of ${table} is ${is}, which the model does not have any more`, {
            name,
            is,
            detail: 'every write pays for it; ',
            next: 'drop',
          })
    }
    case 'addForeignKey': {
      const { key, others } = difference
      if (others.length > 0) return undefined
      const { name } = key
      const wanted = wantedShape(key)
      return of(
        `${table} lacks the foreign key ${name} ${wanted}, so that a reference can leave its tenant`,
        { name, wanted, next: catalog.changes.addsForeignKeysInUse ? 'expand' : 'contract' },
      )
    }
    case 'extraForeignKey': {
      const { key, isThere } = difference
      const { name } = key
      const is = foreignKeyShape(key)
      const text = `the foreign key ${name} of ${table} is ${is}`
      if (difference.wanted === undefined)
        return of(`${text}, which the model does not have any more`, { name, is, next: 'drop' })
      const wanted = wantedShape(difference.wanted)
      return of(`${text} and has to be ${wanted}`, { name, is, wanted, next: isThere ? 'drop' : 'both' })
    }
    case 'uncheckedForeignKey': {
      const { name } = difference.key
      const is = foreignKeyShape(difference.key)
      return of(
        `the foreign key ${name} of ${table} is ${is}, so that rows from before may refer to nothing`,
        { name, is, next: 'expand' },
      )
    }
    case 'uncheckedCheck':
      return of(
        `the check ${difference.check.name} of ${table} is NOT VALID, so that rows from before may break it`,
        {
          name: difference.check.name,
          detail: `${alter}VALIDATE CONSTRAINT ${quote(difference.check.name)}`,
        },
      )
  }
}

const wantedShape = (key: ForeignKeyDefinition): string =>
  foreignKeyShape({ ...key, target: tableText(key.target) })

/** Of `varchar(80)`; Infinity for a type without a length. */
const lengthOf = (type: string): number => Number(/char[a-z ]*\((\d+)\)/i.exec(type)?.[1] ?? Infinity)

/**
 * A query for the rows without a value of a column that becomes required; undefined where the contract fills
 * them, or where they are copied from the column that it was.
 */
export function nullRows(
  table: TableDefinition,
  { name, initial, renamedFrom }: ColumnDefinition,
  dialect: ComparedDialect,
): string | undefined {
  if (initial !== undefined || renamedFrom !== undefined) return undefined
  return `SELECT * FROM ${quoteTable(table, dialect)} WHERE ${dialect.text.quote(name)} IS NULL`
}

/** True if the model has its columns in a unique index that leaves deleted rows out. */
const isForLiveRows = (live: LiveIndex, { indexes }: TableDefinition): boolean =>
  live.where === undefined &&
  indexes.some(
    ({ unique, columns, where }) =>
      unique &&
      columns.length + (where === undefined ? 0 : 1) > live.columns.length &&
      live.columns.every((column, at) => columns[at] === column),
  )

/** The information that a unique index reveals to a caller about a row that the caller may not read. */
const crossesTenants = ({ columns }: LiveIndex, { tenant }: TableDefinition): string =>
  tenant === undefined || columns.includes(tenant) ? '' : ', and may tell one tenant what another has'
