import type { Column, Columns } from '../../resource/fields/field.js'
import { tags } from '../../resource/kinds/json.js'
import type { DialectName } from './dialect.js'
import { dialectNamed } from './dialect-named.js'
import { parseFilterPlan } from '../query/filter.js'
import { type Direction, parseOrderTerms } from '../query/order-by.js'
import type { FilterNode } from '../query/query-plan.js'
import { toPredicate } from './to-predicate.js'
import { inPositions, repeating } from './values/bound-value.js'

/**
 * A WHERE clause without its keyword, `''` when it asks nothing, and the values of its placeholders in order.
 */
export interface Where {
  readonly where: string
  readonly params: unknown[]
}

/**
 * An AIP-160 filter as SQL. Values are bound, never written into the text; unknown fields are refused.
 * The dialect is `postgres` (`$1`) when left out; the others use `?`.
 * @param columns - filterable field → column; nothing else can be named.
 * @throws InvalidArgument on `filter`, with the position.
 */
export const parseFilter = (
  expression: string,
  columns: Columns,
  { dialect = 'postgres' }: { readonly dialect?: DialectName } = {},
): Where => whereOf(parseFilterPlan(expression, columns), dialect)

/**
 * An AIP-132 order_by as columns in order, none when it is blank.
 * @throws InvalidArgument on `order_by`, with the position.
 */
export const parseOrderBy = (
  expression: string,
  columns: Columns,
): { readonly column: string; readonly direction: Direction }[] =>
  parseOrderTerms(expression, columns).map(({ column, direction }) => ({ column: column.column, direction }))

/**
 * A filter checked now and written for a dialect later, with JSON columns of its own.
 * @param jsonColumns - tags fields: `tags.key = "value"`, `tags:key`, `has(tags.key)`.
 * @throws InvalidArgument on `filter`, with the position.
 */
export const filterPredicate = (
  filter: string,
  columns: Columns,
  jsonColumns: Columns = {},
): ((dialect?: DialectName) => Where) => {
  const plan = parseFilterPlan(filter, { ...columns, ...tagColumns(jsonColumns) })
  return (dialect = 'postgres') => whereOf(plan, dialect)
}

const whereOf = (plan: FilterNode | undefined, dialect: DialectName): Where => {
  const params: unknown[] = []
  const where = repeating(plan === undefined ? '' : toPredicate(plan, dialectNamed(dialect), params))
  return { where: where.text, params: [...inPositions(params, where)] }
}

const tagColumns = (jsonColumns: Columns): Record<string, Column> =>
  Object.fromEntries(
    Object.entries(jsonColumns).map(([name, column]) => [
      name,
      typeof column === 'string' ? { column, kind: tags.name, nullable: true } : column,
    ]),
  )
