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
 * A WHERE condition and the values of its placeholders.
 *
 * `where` has no keyword and is empty if there is no condition.
 */
export interface Where {
  readonly where: string
  readonly params: unknown[]
}

/**
 * Translates an AIP-160 filter to SQL. Values are bound and never part of the SQL string. Unknown fields are
 * rejected. The default dialect is `postgres` with `$1` placeholders; the others use `?`.
 *
 * @param columns - the column of each field that the filter may use.
 * @throws InvalidArgument on `filter`, with the position.
 */
export const parseFilter = (
  expression: string,
  columns: Columns,
  { dialect = 'postgres' }: { readonly dialect?: DialectName } = {},
): Where => whereOf(parseFilterPlan(expression, columns), dialect)

/**
 * Translates an AIP-132 `order_by` to a list of columns. The list is empty if the expression is blank.
 *
 * @throws InvalidArgument on `order_by`, with the position.
 */
export const parseOrderBy = (
  expression: string,
  columns: Columns,
): { readonly column: string; readonly direction: Direction }[] =>
  parseOrderTerms(expression, columns).map(({ column, direction }) => ({ column: column.column, direction }))

/**
 * Checks a filter now and translates it to a dialect later.
 *
 * @param jsonColumns - tags fields, for `tags.key = "value"`, `tags:key` and `has(tags.key)`.
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
