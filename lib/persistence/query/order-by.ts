import { InvalidArgument } from '../../errors.js'
import type { Columns } from '../../resource/fields/field.js'
import { quoted } from './filter-tokens.js'
import { didYouMean } from '../../text/nearest-names.js'
import { planColumn } from './plan-column.js'
import type { PlanColumn } from './plan.js'

export type Direction = 'asc' | 'desc'

/** One term of an order. NULL sorts last ascending and first descending. */
export interface OrderTerm {
  readonly column: PlanColumn
  readonly direction: Direction
}

/** The longest order_by, in UTF-16 units. */
export const MAX_ORDER_BY_LENGTH = 4096

/**
 * The terms of an AIP-132 order_by, none when it is blank.
 * @param closed - fields that exist and cannot be named.
 * @throws InvalidArgument with the position: an unknown field, an empty term, a field named twice, a direction that is
 * neither `asc` nor `desc`, a field that has no order (tags, JSON).
 */
export const parseOrderTerms = (
  expression: string,
  columns: Columns,
  closed?: ReadonlySet<string>,
): readonly OrderTerm[] => {
  if (expression.length > MAX_ORDER_BY_LENGTH)
    fail(`longer than ${MAX_ORDER_BY_LENGTH} characters`, expression, MAX_ORDER_BY_LENGTH)
  if (!WORD.test(expression)) return []
  const named = new Set<string>()
  let start = 0
  return expression.split(',').map((text) => {
    const words = text.match(WORDS) ?? []
    const [name = '', direction = 'asc', ...rest] = words
    const at = start + (words.length === 0 ? text.length : text.search(WORD))
    start += text.length + 1
    if (name === '') fail('empty term', expression, at)

    const column = Object.hasOwn(columns, name) ? columns[name] : undefined
    if (column === undefined) {
      const [root = ''] = name.split('.')
      if (root !== name && Object.hasOwn(columns, root))
        return fail(`${quoted(name)} has no order`, expression, at)
      if (closed?.has(name)) return fail(`field ${quoted(name)} cannot be sorted by`, expression, at)
      return fail(`unknown field ${quoted(name)}`, expression, at, didYouMean(name, Object.keys(columns)))
    }
    if (named.has(name)) fail(`${quoted(name)} is named twice`, expression, at)
    named.add(name)

    const lower = direction.toLowerCase()
    if ((lower !== 'asc' && lower !== 'desc') || rest.length > 0) {
      const wrong = [direction, ...rest].join(' ')
      return fail(`${quoted(name)} is followed by asc or desc, not by ${quoted(wrong)}`, expression, at)
    }
    const term: OrderTerm = { column: planColumn(column), direction: lower }
    if (!isSortable(term.column)) fail(`${quoted(name)} has no order`, expression, at)
    return term
  })
}

/** Whether rows can be ordered by the column; tags and JSON have no order. */
export const isSortable = (column: PlanColumn): boolean => column.kind !== 'tags' && column.kind !== 'json'

/** Only ASCII spaces separate words: any other is part of a name, which is then unknown. */
const WORD = /[^ \t\n\v\f\r]/
const WORDS = new RegExp(`${WORD.source}+`, 'g')

const fail = (what: string, expression: string, at: number, hint = ''): never => {
  const position = [...expression.slice(0, at)].length + 1
  throw new InvalidArgument('order_by', `${what} at position ${position}${hint}`)
}
