import type { Field } from '../../../resource/fields/field.js'
import type { LockClause } from '../../contract/row-lock.js'
import { storedSql } from '../../dialects/column-sql.js'
import type { Dialect } from '../../dialects/dialect.js'
import type { RowNames } from '../../dialects/joined-rows.js'
import type { OrderedSearch } from '../../dialects/search-predicate.js'
import type { PlanColumn } from '../../query/query-plan.js'
import type { Statements } from './statements.js'

/** The parts of a list's or a count's SQL. */
export interface ListSource {
  /** The text after FROM, including WHERE. */
  readonly from: string
  /** The text after ORDER BY; empty for a count. */
  readonly order: string
  /** Set if the rows of one tenant are searched by a stored vector, in key order. */
  readonly searched?: OrderedSearch | undefined
  /** Undefined where the statement reads the rows of its own table alone. */
  readonly related: RelatedColumns | undefined
}

/** The columns of a statement that reads several rows side by side. */
interface RelatedColumns {
  /** The qualifier of the own row's columns. */
  readonly own: string
  /** Those of other rows by which the list is ordered, for behind the own columns. */
  readonly sorted: readonly string[]
}

/** A page of rows. @param selected - the columns of the own row. @param tail - ORDER BY, LIMIT and OFFSET. */
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

/** As an entity's own columns are selected, each under a name that no other column has. */
export const sortedBy = (columns: readonly PlanColumn[], names: RowNames, dialect: Dialect): string[] =>
  columns
    .filter(({ of }) => of !== undefined)
    .map((column, i) => {
      const text = storedSql(column, dialect, names.of(column.of))
      const name = dialect.text.quote(`(sorted ${i})`)
      const selected = dialect.values.kinds[column.kind].selected(text, name, column)
      return selected === text ? `${text} AS ${name}` : selected
    })
