import { NO_CODE } from './named-fields.js'

/** The growth of an expression's cost with the number of elements it iterates over. */
export interface ExpressionCost {
  /** 0 if it iterates over nothing; 2 if it compares every element with every other. */
  readonly degree: number
  /** True if every character of a string counts like an element. */
  readonly splits: boolean
}

/** The macros that iterate over a list or a map. Macros that build a list copy it for each element. */
const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'existsOne', 'map', 'filter'])
const COPIES: ReadonlySet<string> = new Set(['map', 'filter'])
const OPENS: ReadonlySet<string> = new Set(['(', '[', '{'])
const CLOSES: ReadonlySet<string> = new Set([')', ']', '}'])

/** Estimates an expression's cost from its source. If the source is ambiguous, the higher cost is used. */
export const expressionCost = (expression: string): ExpressionCost => {
  const tokens = expression.replaceAll(NO_CODE, "''").match(/[A-Za-z_]\w*|\d[\w.]*|\S/g) ?? []
  return {
    degree: Math.max(0, ...degreesOf(tokens, 0, tokens.length, []).values()),
    splits: tokens.some((token) => token === 'split'),
  }
}

/**
 * Returns the degree for each variable in `bound` whose elements are iterated over; `''` stands for any other
 * value.
 * @param bound - the variables of the surrounding macros.
 */
const degreesOf = (
  tokens: readonly string[],
  from: number,
  to: number,
  bound: readonly string[],
): ReadonlyMap<string, number> => {
  const degrees = new Map<string, number>()
  const add = (root: string, degree: number): void => {
    const of = bound.includes(root) ? root : ''
    degrees.set(of, Math.max(degree, degrees.get(of) ?? 0))
  }
  for (let at = from; at < to; at++) {
    const token = tokens[at] as string
    if (token === 'in' && tokens[at + 1] !== '[') add(tokens[at + 1] ?? '', 1)
    if (tokens[at - 1] !== '.' || tokens[at + 1] !== '(') continue
    const root = rootOf(tokens, at - 1)
    if (token === 'unique') add(root, 2)
    if (!MACROS.has(token)) continue
    const [variable = '', end] = [tokens[at + 2], closing(tokens, at + 1)]
    add(root, COPIES.has(token) ? 2 : 1)
    for (const [of, degree] of degreesOf(tokens, at + 2, end, [...bound, variable])) {
      // All elements together are at most as large as the iterated value. Any other value is evaluated again
      // for each element.
      if (of === variable) add(root, degree)
      else add(of === '' ? root : of, 1 + degree)
    }
    at = end
  }
  return degrees
}

/** Returns the position of the bracket that closes the bracket at `open`. */
const closing = (tokens: readonly string[], open: number): number => {
  let depth = 0
  for (let at = open; at < tokens.length; at++) {
    const token = tokens[at] as string
    if (OPENS.has(token)) depth++
    if (CLOSES.has(token) && --depth === 0) return at
  }
  return tokens.length
}

/**
 * Returns the first part of a chain such as `a.b[c].d(e)`.
 * @param dot - the position of the dot after which the chain ends.
 */
const rootOf = (tokens: readonly string[], dot: number): string => {
  let depth = 0
  for (let at = dot - 1; at >= 0; at--) {
    const token = tokens[at] as string
    if (CLOSES.has(token)) depth++
    else if (OPENS.has(token)) depth--
    else if (depth === 0 && token !== '.') {
      if (!/^\w/.test(token)) return ''
      if (tokens[at - 1] !== '.') return token
    }
    if (depth < 0) return ''
  }
  return ''
}
