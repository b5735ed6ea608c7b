import { toNanoseconds } from '../../resource/kinds/duration.js'
import { toDate } from '../../resource/kinds/timestamp.js'
import { FilterTokens, type TokenKind } from './filter-tokens.js'

/** @inline */
type Timestamp = Parameters<typeof toDate>[0]
/** @inline */
type Duration = Parameters<typeof toNanoseconds>[0]

declare const FILTER: unique symbol

/**
 * An AIP-160 filter from the tag {@link filter}. It is a string and is accepted wherever a filter is. Other
 * strings do not have this type.
 */
export type Filter = string & { readonly [FILTER]: true }

/** The values that a filter can compare. `null` means an unset field. An enum is given by number or name. */
export type FilterValue = string | number | bigint | boolean | Date | Uint8Array | Timestamp | Duration | null

/**
 * Builds an AIP-160 filter. Values are quoted and formatted by type, so that they cannot change the filter's
 * structure. Use it for every filter in code.
 *
 * A placeholder may stand for the value of a comparison, for a tag's key, as in `` filter`tags.${key} =
 * ${value}` ``, or for a condition, which must be another filter and is put in parentheses: `` filter`${one}
 * OR ${other}` ``.
 *
 * @throws TypeError if a placeholder stands elsewhere, or its value is `undefined`, NaN, an infinity, an
 *   object or a function.
 * @throws InvalidArgument if a condition is not a complete filter.
 * @example
 * ```ts
 * import { filter } from 'ashlar'
 * import type { WidgetRepository } from './widget-repository.js'
 *
 * export const named = (widgets: WidgetRepository, title: string, size: number) =>
 *   widgets.list({ filter: filter`display_name = ${title} AND size > ${size}`, orderBy: [{ size: 'desc' }] })
 * ```
 */
export function filter(template: TemplateStringsArray, ...values: readonly FilterValue[]): Filter {
  let places = known.get(template)
  if (places === undefined) known.set(template, (places = placesIn(template)))
  let text = template[0] ?? ''
  for (const [i, place] of places.entries())
    text += WRITE[place](values[i] as FilterValue) + (template[i + 1] ?? '')
  return text as Filter
}

/**
 * Returns a filter for a field's value.
 *
 * @param field - a field of a model, never of a caller.
 * @throws TypeError like {@link filter}.
 */
export const hasValue = (field: string, value: FilterValue): Filter =>
  `${field} = ${literal(value)}` as Filter

/**
 * Formats a value for AIP-160.
 *
 * @throws TypeError if the value has no such format, which is possible in JavaScript code.
 */
const literal = (value: unknown): string => {
  if (value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return String(value)
    throw new TypeError(`filter: ${value} cannot be compared with anything`)
  }
  if (value === undefined) throw new TypeError('filter: a value is undefined: use null to find unset fields')
  if (value instanceof Date) return `"${dateText(value)}"`
  if (value instanceof Uint8Array) return `"${Buffer.from(value).toString('base64')}"`
  if (isMessage(value, 'google.protobuf.Timestamp')) return `"${dateText(toDate(value as Timestamp))}"`
  if (isMessage(value, 'google.protobuf.Duration')) return `"${secondsText(value as Duration)}"`
  throw new TypeError(
    `filter: ${Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`} cannot be compared: pass a string, number, bigint, boolean, Date, Uint8Array or null`,
  )
}

const isMessage = (value: unknown, name: string): boolean =>
  typeof value === 'object' && (value as { readonly $typeName?: unknown }).$typeName === name

const dateText = (date: Date): string => {
  if (Number.isNaN(date.getTime())) throw new TypeError('filter: an invalid Date cannot be compared')
  return date.toISOString()
}

const secondsText = (duration: Duration): string => {
  const nanos = toNanoseconds(duration)
  const digits = String(nanos < 0n ? -nanos : nanos).padStart(10, '0')
  return `${nanos < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}s`
}

/** The role of a template's placeholder. */
type Place = 'value' | 'key' | 'condition'

const WRITE: Readonly<Record<Place, (value: FilterValue) => string>> = {
  value: (value) => literal(value),
  key: (value) => {
    if (typeof value === 'string') return JSON.stringify(value)
    throw new TypeError('filter: the placeholder after a dot is a tag key, which must be a string')
  },
  condition: (value) => {
    if (typeof value !== 'string')
      throw new TypeError(
        'filter: a value must follow a comparison operator, and a condition must be another filter`…`',
      )
    checkWhole(value)
    return `(${value})`
  },
}

/** The placeholders of templates. Each template is parsed once, for all values. */
const known = new WeakMap<TemplateStringsArray, readonly Place[]>()

/**
 * Determines the meaning of each placeholder in a template.
 *
 * @throws TypeError if a placeholder is not a value, key or condition.
 */
const placesIn = (template: TemplateStringsArray): readonly Place[] => {
  const chunks = template.map((chunk) => tokensOf(chunk))
  return chunks.slice(1).map((_, i) => {
    const place = placeBehind(chunks[i] as Chunk, i === 0)
    const after = template[i + 1] ?? ''
    if (!(place === 'key' ? BEHIND_KEY : BEHIND_VALUE).test(after))
      throw new TypeError(
        `filter: nothing can directly follow a value: put a space before ${JSON.stringify(after.slice(0, 20))}`,
      )
    if (place === 'condition' && !BEHIND_CONDITION.test(after)) misplaced()
    return place
  })
}

type Chunk = readonly { readonly kind: TokenKind; readonly text: string }[]

/** The tokens that may follow a placeholder. Spaces are ASCII spaces, as in the grammar. */
const BEHIND_VALUE = /^(?:[ \t\n\v\f\r)]|$)/
const BEHIND_KEY = /^(?:[ \t\n\v\f\r)=!<>:]|$)/
const BEHIND_CONDITION = /^[ \t\n\v\f\r]*(?:\)|$|(?:AND|OR)\b)/i

const placeBehind = (before: Chunk, isFirst: boolean): Place => {
  const last = before.at(-1)
  if (last === undefined) return isFirst ? 'condition' : misplaced()
  if (last.kind === 'op') return 'value'
  if (last.kind === '.') return 'key'
  const called = before.at(-2)
  if (last.kind === '(' && !(called?.kind === 'word' && called.text === 'has')) return 'condition'
  const isConnective = last.kind === 'word' && /^(?:AND|OR|NOT)$/i.test(last.text) && called?.kind !== 'op'
  return last.kind === '-' || isConnective ? 'condition' : misplaced()
}

const misplaced = (): never => {
  throw new TypeError(
    'filter: a value must follow a comparison operator such as =, and another filter must stand between AND, OR and parentheses; write fields and operators in the template text',
  )
}

function tokensOf(chunk: string): Chunk {
  try {
    const tokens = new FilterTokens(chunk)
    const found: { kind: TokenKind; text: string }[] = []
    for (; !tokens.is('end'); tokens.next()) found.push({ kind: tokens.kind, text: tokens.text })
    return found
  } catch (error) {
    const why = error instanceof Error ? error.message : ''
    const hint = why.includes('unterminated') ? ': leave the quotes out; values are quoted automatically' : ''
    throw new TypeError(`filter: ${why}${hint}`, { cause: error })
  }
}

/**
 * Rejects conditions whose parentheses are not balanced. Other errors are found when the complete filter is
 * parsed.
 */
function checkWhole(text: string): void {
  const tokens = new FilterTokens(text, false)
  if (tokens.is('end')) tokens.fail('a condition of the filter is empty')
  let depth = 0
  for (; !tokens.is('end'); tokens.next()) {
    if (tokens.is('(')) depth++
    else if (tokens.is(')') && --depth < 0) break
  }
  if (depth !== 0) tokens.fail('a parenthesis of a condition is not matched')
}
