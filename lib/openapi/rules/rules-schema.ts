import type { DeclaredRules } from './declared-rules.js'
import { jsonPattern } from './json-pattern.js'
import { quotedPattern } from './json-pattern.js'

/** Rules as JSON Schema if it can express them exactly, and otherwise as sentences. */
export interface RulesSchema {
  readonly schema: Readonly<Record<string, unknown>>
  readonly texts: readonly string[]
  /** True if an omitted field breaks a rule, because it counts as zero. */
  readonly refusesZero: boolean
}

type Keywords = Readonly<Record<string, unknown>>
type Mapping = (value: unknown, isZero: (value: unknown) => boolean) => Mapped | undefined
interface Mapped {
  readonly keywords: Keywords
  readonly refusesZero: boolean
}

const NOTHING: RulesSchema = { schema: {}, texts: [], refusesZero: false }

/**
 * Converts rules to JSON Schema.
 * @param enumNames - names of enum values, by number.
 */
export function rulesSchema(
  rules: DeclaredRules | undefined,
  enumNames: ReadonlyMap<number, string> = new Map(),
): RulesSchema {
  if (rules === undefined || rules.ignore === 'always') return NOTHING
  let schema: Keywords = {}
  let refusesZero = rules.required
  const texts: string[] = rules.expressions.map((text) => `Rule: ${text}.`)
  const mappings = rules.ignore === 'if zero' || isOutside(rules) ? {} : mappingsOf(rules.kind, enumNames)
  for (const [name, value] of rules.set) {
    if (NO_RULES.has(name)) continue
    const mapped = Object.hasOwn(mappings, name) ? mappings[name]?.(value, ZERO) : undefined
    const isTaken =
      mapped !== undefined && Object.keys(mapped.keywords).some((key) => Object.hasOwn(schema, key))
    if (mapped === undefined || isTaken) texts.push(`Rule: ${rules.kind ?? ''}.${name} = ${spelled(value)}.`)
    else schema = { ...schema, ...mapped.keywords }
    refusesZero ||= mapped?.refusesZero === true
  }
  if (rules.ignore === 'if zero' && texts.length > 0)
    texts.push('These rules do not apply to the zero value.')
  return { schema, texts, refusesZero: refusesZero && rules.ignore !== 'if zero' }
}

/**
 * Entries that do not restrict the value itself: examples, and rules of items, keys and values, which the
 * field's schema contains.
 */
const NO_RULES = new Set(['example', 'items', 'keys', 'values'])

/**
 * Returns true if the limits allow the values outside a range. For example, `gt: 10, lt: 5` allows values
 * above 10 and values below 5.
 */
function isOutside({ set }: DeclaredRules): boolean {
  const low = set.get('gt') ?? set.get('gte')
  const high = set.get('lt') ?? set.get('lte')
  const isNumber = (value: unknown): value is number => typeof value === 'number'
  return isNumber(low) && isNumber(high) && low >= high && !(low === high && set.has('gte') && set.has('lte'))
}

const ZERO = (value: unknown): boolean => value === 0 || value === '' || value === false

const TEXT: Readonly<Record<string, Mapping>> = {
  const: (value, isZero) => ({ keywords: { const: value }, refusesZero: !isZero(value) }),
  in: (value, isZero) => ({ keywords: { enum: value }, refusesZero: !(value as unknown[]).some(isZero) }),
  not_in: (value, isZero) => ({
    keywords: { not: { enum: value } },
    refusesZero: (value as unknown[]).some(isZero),
  }),
}

/** Returns the mapping of a format. An empty string does not match any format. */
const format =
  (name: string): Mapping =>
  (value) =>
    value === true ? { keywords: { format: name }, refusesZero: true } : undefined

const pattern = (text: string | undefined): Mapped | undefined =>
  text === undefined
    ? undefined
    : { keywords: { pattern: text }, refusesZero: !new RegExp(text, 'u').test('') }

const STRING: Readonly<Record<string, Mapping>> = {
  ...TEXT,
  min_len: (value) => ({ keywords: { minLength: Number(value) }, refusesZero: Number(value) > 0 }),
  max_len: (value) => ({ keywords: { maxLength: Number(value) }, refusesZero: false }),
  len: (value) => ({
    keywords: { minLength: Number(value), maxLength: Number(value) },
    refusesZero: Number(value) > 0,
  }),
  pattern: (value) => pattern(jsonPattern(String(value))),
  prefix: (value) => pattern(`^${quotedPattern(String(value))}`),
  suffix: (value) => pattern(`${quotedPattern(String(value))}$`),
  contains: (value) => pattern(quotedPattern(String(value))),
  not_contains: (value) => ({
    keywords: { not: { pattern: quotedPattern(String(value)) } },
    refusesZero: value === '',
  }),
  email: format('email'),
  hostname: format('hostname'),
  ipv4: format('ipv4'),
  ipv6: format('ipv6'),
  uri: format('uri'),
  uri_ref: (value) =>
    value === true ? { keywords: { format: 'uri-reference' }, refusesZero: false } : undefined,
  uuid: format('uuid'),
}

const bound =
  (keyword: string, holds: (zero: number, bound: number) => boolean): Mapping =>
  (value) => ({ keywords: { [keyword]: value }, refusesZero: !holds(0, value as number) })

const NUMBER: Readonly<Record<string, Mapping>> = {
  ...TEXT,
  gt: bound('exclusiveMinimum', (zero, than) => zero > than),
  gte: bound('minimum', (zero, than) => zero >= than),
  lt: bound('exclusiveMaximum', (zero, than) => zero < than),
  lte: bound('maximum', (zero, than) => zero <= than),
  // The schema of a finite number does not contain the names of infinities.
  finite: (value) => (value === true ? { keywords: {}, refusesZero: false } : undefined),
}

const LIST: Readonly<Record<string, Mapping>> = {
  min_items: (value) => ({ keywords: { minItems: Number(value) }, refusesZero: Number(value) > 0 }),
  max_items: (value) => ({ keywords: { maxItems: Number(value) }, refusesZero: false }),
  unique: (value) => (value === true ? { keywords: { uniqueItems: true }, refusesZero: false } : undefined),
}

const MAP: Readonly<Record<string, Mapping>> = {
  min_pairs: (value) => ({ keywords: { minProperties: Number(value) }, refusesZero: Number(value) > 0 }),
  max_pairs: (value) => ({ keywords: { maxProperties: Number(value) }, refusesZero: false }),
}

const KINDS: Readonly<Record<string, Readonly<Record<string, Mapping>>>> = {
  string: STRING,
  bool: { const: TEXT['const'] as Mapping },
  ...Object.fromEntries(
    ['int32', 'uint32', 'sint32', 'fixed32', 'sfixed32', 'float', 'double'].map((kind) => [kind, NUMBER]),
  ),
  repeated: LIST,
  map: MAP,
}

function mappingsOf(
  kind: string | undefined,
  enumNames: ReadonlyMap<number, string>,
): Readonly<Record<string, Mapping>> {
  if (kind !== 'enum') return (kind === undefined ? undefined : KINDS[kind]) ?? {}
  /** Returns the values by name and by number, because a request may contain either. */
  const bothOf = (numbers: readonly unknown[]): readonly unknown[] | undefined => {
    const names = numbers.map((number) => enumNames.get(number as number))
    return names.every((name) => name !== undefined) ? [...names, ...numbers] : undefined
  }
  const only = (value: unknown): Mapped | undefined => {
    const numbers = [value].flat()
    const both = bothOf(numbers)
    return both && { keywords: { enum: both }, refusesZero: !numbers.includes(0) }
  }
  return {
    const: only,
    in: only,
    not_in: (value) => {
      const numbers = [value].flat()
      const both = bothOf(numbers)
      return both && { keywords: { not: { enum: both } }, refusesZero: numbers.includes(0) }
    },
    // The schema contains only known numbers anyway.
    defined_only: (value) => (value === true ? { keywords: {}, refusesZero: false } : undefined),
  }
}

/** Formats a rule's value. */
function spelled(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'bigint') return String(inner)
    return inner instanceof Uint8Array ? Buffer.from(inner).toString('base64') : inner
  })
}
