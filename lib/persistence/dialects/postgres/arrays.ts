import type { Element, KindName } from '../../../resource/kinds/kind.js'
import { doubleOfHex } from './hex.js'
import { storedTime } from '../values/stored-time.js'

/** Converts an element between proto3 JSON and PostgreSQL's string format. */
interface ElementText {
  readonly write: (json: unknown) => string
  /** Returns the JSON value, or undefined if JSON cannot represent it. */
  readonly read: (text: string) => unknown
  /** Returns the expression to select, if PostgreSQL's default format depends on session settings. */
  readonly selected?: (element: string) => string
}

const number = (text: string): unknown => {
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}

const FRACTION: ElementText = {
  write: String,
  read: (hex) => {
    const value = doubleOfHex(hex) as number
    return Number.isFinite(value) ? value : undefined
  },
  selected: (element) => `encode(float8send(${element}), 'hex')`,
}

const TEXTS: Readonly<Partial<Record<KindName, ElementText>>> = {
  bool: { write: String, read: (text) => text === 't' },
  int32: { write: String, read: number },
  uint32: { write: String, read: number },
  float: FRACTION,
  double: FRACTION,
  bytes: {
    write: (json) => `\\x${Buffer.from(json as string, 'base64').toString('hex')}`,
    read: (hex) => Buffer.from(hex, 'hex').toString('base64'),
    selected: (element) => `encode(${element}, 'hex')`,
  },
  timestamp: { write: String, read: (text) => storedTime(text)?.toISOString() },
}
const PLAIN: ElementText = { write: String, read: (text) => text }

/**
 * Returns the literal of an array.
 *
 * @param json - the elements as proto3 JSON.
 */
export function arrayText(json: readonly unknown[], { kind }: Element): string {
  const { write } = TEXTS[kind] ?? PLAIN
  return `{${json.map((one) => `"${write(one).replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** Returns the SELECT expression that reads an array as a string. */
export function arraySelected(column: string, { kind }: Element): string {
  const selected = TEXTS[kind]?.selected
  if (selected === undefined) return `${column}::text`
  const elements = `SELECT ${selected('u.e')} FROM unnest(${column}) WITH ORDINALITY AS u(e, o) ORDER BY u.o`
  // Selects an unreadable value for arrays of several dimensions.
  return `(CASE WHEN array_ndims(${column}) > 1 THEN '{{}}' WHEN ${column} IS NOT NULL THEN ARRAY(${elements})::text END)`
}

/**
 * Parses an array literal of PostgreSQL.
 *
 * @throws RangeError if an element is NULL or has no JSON value, or if the array has several dimensions.
 */
export function arrayElements(text: string, { kind }: Element): unknown[] {
  const { read } = TEXTS[kind] ?? PLAIN
  if (!text.startsWith('{') || !text.endsWith('}'))
    throw new RangeError('the array does not start at index 1')
  const elements: unknown[] = []
  const inside = text.slice(1, -1)
  for (let at = 0; at < inside.length; at++) {
    ELEMENT.lastIndex = at
    const [whole, quoted, bare] = ELEMENT.exec(inside) ?? []
    if (whole === undefined || bare === 'NULL')
      throw new RangeError('the array has NULL or several dimensions')
    const json = read(bare ?? (quoted ?? '').replace(/\\(.)/gs, '$1'))
    if (json === undefined) throw new RangeError('the array has a value that its field cannot hold')
    elements.push(json)
    at += whole.length
  }
  return elements
}

/** Matches an element that a comma or the end of the string follows. */
const ELEMENT = /(?:"((?:[^"\\]|\\.)*)"|([^",{}\\]+))(?=,|$)/sy
