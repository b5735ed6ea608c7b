import { byCodePoint } from '../../text/code-point-order.js'
import type { Facets, EntityValue, Range } from './kind.js'
import { INTEGER } from './literal.js'

/**
 * The rules for values of a kind as a key part. In the process a key is a string, and each value has exactly
 * one string form: two forms would be two rows for a policy, a limit or an idempotency key.
 */
export interface KeyRules {
  /**
   * Returns the value of a canonical string in the form in which the column is bound; undefined for any other
   * string.
   */
  readonly parse: (text: string, field: Facets) => EntityValue | undefined
  /** Returns the canonical form of a string in another format; undefined if there is none. */
  readonly meant: (text: string, field: Facets) => string | undefined
  /** True if a UUID is a valid value, so that a repository can generate it. */
  readonly takesUuid: (field: Facets) => boolean
  /**
   * Returns a negative, zero or positive number, in the order of ORDER BY on every engine. Both strings are
   * canonical.
   */
  readonly compare: (a: string, b: string) => number
}

const UUID_LENGTH = 36

/** Accepts any string that a column can store as a key. */
export const TEXT_KEY: KeyRules = {
  parse: (text) => (text.includes('\0') || !text.isWellFormed() ? undefined : text),
  meant: () => undefined,
  takesUuid: ({ maxLength = UUID_LENGTH }) => maxLength >= UUID_LENGTH,
  compare: byCodePoint,
}

/**
 * Returns the rules of integer keys, which are written in decimal.
 * @param most - the kind's range; a field may have a smaller one.
 */
export const integerKey = (most: Range): KeyRules => {
  const isWide = typeof most[0] === 'bigint'
  const parse = (text: string, { range = most }: Facets): number | bigint | undefined => {
    if (text.length > LONGEST || !INTEGER.test(text) || text === '-0') return undefined
    const value = isWide ? BigInt(text) : Number(text)
    return value >= range[0] && value <= range[1] ? value : undefined
  }
  return {
    parse,
    takesUuid: () => false,
    meant(text, field) {
      const [, sign, digits] = text.length > MAX_SPELLED ? [] : (SPELLED.exec(text) ?? [])
      if (digits === undefined) return undefined
      const canonical = String(BigInt((sign === '-' ? '-' : '') + digits))
      return parse(canonical, field) === undefined ? undefined : canonical
    },
    compare(a, b) {
      const [x, y] = [BigInt(a), BigInt(b)]
      return x < y ? -1 : Number(x > y)
    },
  }
}

/** The length of the longest 64-bit integer with its sign. */
const LONGEST = 20
const MAX_SPELLED = 64

/** Matches an integer with the characters that people and programs add around it. */
const SPELLED = /^\s*([+-]?)(\d+)(?:\.0*)?\s*$/
