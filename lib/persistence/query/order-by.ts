import { InvalidArgument } from '../../errors.js'
import type { Columns } from '../../resource/fields/field.js'
import type { ProtoNameOf } from '../../resource/mask-of.js'
import { quoted } from './filter-tokens.js'
import { didYouMean, validNames } from '../../text/nearest-names.js'
import { rulesOf } from './plan-rules.js'
import type { PlanColumn } from './query-plan.js'
import {
  columnNamed,
  type FieldsBehind,
  type FieldPath,
  planColumn,
  startOf,
  step,
} from './related-fields.js'

/** Smallest first, or largest first. */
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
 * @param closed - fields that exist and cannot be named, each with the reason.
 * @param behind - what may be named through relations: `project.title`.
 * @throws InvalidArgument with the position: an unknown field, an empty term, a field named twice, a
 * direction that is neither `asc` nor `desc`, a field that has no order (tags, JSON).
 */
export const parseOrderTerms = (
  expression: string,
  columns: Columns,
  closed?: ReadonlyMap<string, string>,
  behind?: FieldsBehind,
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

    const { column, place } = columnIn(startOf({ columns, closed, behind }), name, expression, at)
    if (named.has(name)) fail(`${quoted(name)} is named twice`, expression, at)
    named.add(name)

    const lower = direction.toLowerCase()
    if ((lower !== 'asc' && lower !== 'desc') || rest.length > 0) {
      const wrong = [direction, ...rest].join(' ')
      return fail(`${quoted(name)} must be followed by asc or desc, not by ${quoted(wrong)}`, expression, at)
    }
    if (!isSortable(column))
      fail(`${quoted(name)} has no sort order: it contains several values`, expression, at, sortable(place))
    return { column, direction: lower }
  })
}

/** The column of a path, and where it is. */
function columnIn(
  from: FieldPath,
  path: string,
  expression: string,
  at: number,
): { readonly column: PlanColumn; readonly place: FieldPath } {
  let place = from
  let name = path
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.')) {
    const next = step(place, name.slice(0, dot))
    if (typeof next === 'string')
      return fail(`${quoted([...place.path, name.slice(0, dot)].join('.'))} ${next}`, expression, at)
    if (next === undefined) break
    if (next.some.length > 0)
      return fail(
        `${quoted(path)} has no sort order: it can have several values`,
        expression,
        at,
        sortable(place),
      )
    place = next
    name = name.slice(dot + 1)
  }
  const { fields, of } = place
  const column = columnNamed(fields, name, of)
  if (column !== undefined) return { column, place }
  const [root = ''] = name.split('.')
  if (root !== name && Object.hasOwn(fields.columns, root))
    return fail(
      `${quoted(path)} has no sort order: it is inside another field`,
      expression,
      at,
      sortable(place),
    )
  const why = fields.closed?.get(name)
  if (why !== undefined)
    return fail(`field ${quoted(path)} cannot be sorted by: ${why}`, expression, at, sortable(place))
  return fail(
    `unknown field ${quoted(path)}`,
    expression,
    at,
    didYouMean(name, Object.keys(fields.columns), place.path),
  )
}

/** The names that are valid in place of a field that has no order. */
const sortable = ({ fields: { columns }, path }: FieldPath): string => {
  const names = Object.keys(columns).filter((name) => isSortable(planColumn(columns[name] ?? name)))
  return validNames(names, path)
}

/** True if rows can be ordered by the column; tags and JSON have no order. */
export const isSortable = (column: PlanColumn): boolean => rulesOf(column).isSortable

/** Only ASCII spaces separate words: any other is part of a name, which is then unknown. */
const WORD = /[^ \t\n\v\f\r]/
const WORDS = new RegExp(`${WORD.source}+`, 'g')

const fail = (what: string, expression: string, at: number, hint = ''): never => {
  const position = [...expression.slice(0, at)].length + 1
  throw new InvalidArgument('order_by', `${what} at position ${position}${hint}`)
}

/** One term of an order: a proto field name, ascending, or a name with its direction. */
export type OrderBy<T> =
  ProtoNameOf<T> | { readonly [K in ProtoNameOf<T>]: Readonly<Record<K, Direction>> }[ProtoNameOf<T>]

/**
 * An order as AIP-132 text.
 * @param codeNames - what a list of terms may name beside fields.
 * @throws InvalidArgument for a term that is not a field and its direction.
 */
export const orderText = (
  order: string | readonly OrderBy<never>[] | undefined,
  codeNames?: ReadonlyMap<string, string>,
): string => {
  if (order === undefined || typeof order === 'string') return order ?? ''
  return order.map((term) => termText(term, codeNames)).join(',')
}

const termText = (term: string | object, codeNames: ReadonlyMap<string, string> | undefined): string => {
  const [entry, other]: readonly (readonly unknown[] | undefined)[] =
    typeof term === 'string' ? [[term, 'asc']] : Object.entries(term)
  const [name, direction]: readonly unknown[] = entry ?? []
  if (other !== undefined || typeof name !== 'string' || !NAME.test(name))
    throw new InvalidArgument('order_by', 'each term must name one field: a name, or { name: "desc" }')
  if (direction !== 'asc' && direction !== 'desc')
    throw new InvalidArgument('order_by', `the direction of ${name} must be "asc" or "desc"`)
  const field = codeNames?.get(name) ?? name
  return direction === 'asc' ? field : `${field} desc`
}

/** No comma and no space, by which a name would be several terms. */
const NAME = /^[^\s,]+$/
