import type { Field } from '../../../resource/fields/field.js'
import type { LockClause } from '../../contract/row-lock.js'
import { storedSql } from '../../dialects/column-sql.js'
import type { Dialect } from '../../dialects/dialect.js'
import type { RowNames } from '../../dialects/joined-rows.js'
import type { OrderedSearch } from '../../dialects/search-predicate.js'
import type { PlanColumn } from '../../query/query-plan.js'
import type { Statements } from './statements.js'

/** The parts of a list's or count's SQL. */
export interface ListSource {
  /** The part after FROM, including WHERE. */
  readonly from: string
  /** The part after ORDER BY. Empty for a count. */
  readonly order: string
  /** Set if one tenant's rows are searched by a stored vector in key order. */
  readonly searched?: OrderedSearch | undefined
  /** Undefined if the statement only reads its own table. */
  readonly related: RelatedColumns | undefined
}

/** The columns of a statement that joins several tables. */
interface RelatedColumns {
  /** The qualifier of the own table's columns. */
  readonly own: string
  /** The sort columns of other tables, to follow the own columns. */
  readonly sorted: readonly string[]
}

/**
 * Returns the SQL of a page.
 *
 * @param selected - the columns of the own table.
 * @param tail - ORDER BY, LIMIT and OFFSET.
 */
export const listText = (
  statements: Statements,
  { from, related }: Pick<ListSource, 'from' | 'related'>,
  selected: readonly Field[],
  tail: string,
  lock?: LockClause,
): string => {
  const columns = [statements.columns(selected, related?.own), ...(related?.sorted ?? [])].join(', ')
  return `SELECT ${columns} FROM ${from}${tail}${lock === undefined ? '' : statements.dialect.transactions.rowLock(lock)}`
}

/** Returns sort columns in the form in which an entity's columns are selected, with unique aliases. */
export const sortedBy = (columns: readonly PlanColumn[], names: RowNames, dialect: Dialect): string[] =>
  columns
    .filter(({ of }) => of !== undefined)
    .map((column, i) => {
      const text = storedSql(column, dialect, names.of(column.of))
      const name = dialect.text.quote(`(sorted ${i})`)
      const selected = dialect.values.kinds[column.kind].selected(text, name, column)
      return selected === text ? `${text} AS ${name}` : selected
    })
