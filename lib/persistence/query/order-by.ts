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

/** The direction of a sort term: ascending or descending. */
export type Direction = 'asc' | 'desc'

/** A term of a sort order. NULL sorts last in ascending and first in descending order. */
export interface OrderTerm {
  /** @internal */
  readonly column: PlanColumn
  readonly direction: Direction
}

/** The maximum length of an order_by in UTF-16 units. */
export const MAX_ORDER_BY_LENGTH = 4096

/**
 * Parses an AIP-132 order_by. Returns an empty list if it is blank.
 *
 * @param closed - existing fields that must not be named, with reasons.
 * @param behind - the fields that can be named through relations, such as `project.title`.
 * @throws InvalidArgument with the position if a field is unknown, named twice or not sortable (tags,
 *   JSON), if a term is empty, or if a direction is
 * neither `asc` nor `desc`.
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

/** Returns the column at the end of a path. */
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

/** Returns the sortable names, as advice for a field that is not sortable. */
const sortable = ({ fields: { columns }, path }: FieldPath): string => {
  const names = Object.keys(columns).filter((name) => isSortable(planColumn(columns[name] ?? name)))
  return validNames(names, path)
}

/** Returns true if rows can be sorted by the column. Tags and JSON are not sortable. */
export const isSortable = (column: PlanColumn): boolean => rulesOf(column).isSortable

/** Words are separated by ASCII spaces only. Other spaces are part of a name, which is then unknown. */
const WORD = /[^ \t\n\v\f\r]/
const WORDS = new RegExp(`${WORD.source}+`, 'g')

const fail = (what: string, expression: string, at: number, hint = ''): never => {
  const position = [...expression.slice(0, at)].length + 1
  throw new InvalidArgument('order_by', `${what} at position ${position}${hint}`)
}

/**
 * A term of a sort order: a proto field name, which sorts in ascending order, or an object with a direction.
 */
export type OrderBy<T> =
  ProtoNameOf<T> | { readonly [K in ProtoNameOf<T>]: Readonly<Record<K, Direction>> }[ProtoNameOf<T>]

/**
 * Returns a sort order as an AIP-132 string.
 *
 * @param codeNames - names that a list of terms may use in addition to fields.
 * @throws InvalidArgument if a term is not a field with a direction.
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

/** Commas and spaces would split a name into several terms. */
const NAME = /^[^\s,]+$/
