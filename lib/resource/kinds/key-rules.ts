import { byCodePoint } from '../../text/code-point-order.js'
import type { Facets, PlanValue, Range } from './kind.js'
import { INTEGER } from './literal.js'

/**
 * The rules for values of a kind as a part of a key. In the process a key is a string, and one value has one
 * string: two strings would be two rows for a policy, a limit or an idempotency key.
 */
export interface KeyRules {
  /** The value of a canonical string, as the column is bound; undefined for any other string. */
  readonly parse: (text: string, field: Facets) => PlanValue | undefined
  /** The canonical form of a string in another format. Undefined if it has none. */
  readonly meant: (text: string, field: Facets) => string | undefined
  /** True if a UUID can be one, so that a repository can generate it. */
  readonly takesUuid: (field: Facets) => boolean
  /** Negative, zero or positive, as ORDER BY of each engine has the two. Both are canonical. */
  readonly compare: (a: string, b: string) => number
}

const UUID_LENGTH = 36

/** Any text that a column can hold is a key. */
export const TEXT_KEY: KeyRules = {
  parse: (text) => (text.includes('\0') || !text.isWellFormed() ? undefined : text),
  meant: () => undefined,
  takesUuid: ({ maxLength = UUID_LENGTH }) => maxLength >= UUID_LENGTH,
  compare: byCodePoint,
}

/** Integers are keys in decimal. @param most - the range of the kind; a field may have a smaller one. */
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

/** Sign and digits of the longest integer of 64 bits. */
const LONGEST = 20
const MAX_SPELLED = 64

/** An integer with what people and programs put around it. */
const SPELLED = /^\s*([+-]?)(\d+)(?:\.0*)?\s*$/
