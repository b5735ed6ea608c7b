import { NO_CODE } from './named-fields.js'

/** The growth of an expression's cost with the number of elements it iterates over. */
export interface ExpressionCost {
  /** 0 where it goes through nothing; 2 where it compares all elements with all. */
  readonly degree: number
  /** True if characters count as elements do. */
  readonly splits: boolean
}

/** Macros that go through a list or a map. Those that make a list copy it for each element. */
const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'existsOne', 'map', 'filter'])
const COPIES: ReadonlySet<string> = new Set(['map', 'filter'])
const OPENS: ReadonlySet<string> = new Set(['(', '[', '{'])
const CLOSES: ReadonlySet<string> = new Set([')', ']', '}'])

/** Reads the cost of an expression from its text. If that is ambiguous, the higher cost is used. */
export const expressionCost = (expression: string): ExpressionCost => {
  const tokens = expression.replaceAll(NO_CODE, "''").match(/[A-Za-z_]\w*|\d[\w.]*|\S/g) ?? []
  return {
    degree: Math.max(0, ...degreesOf(tokens, 0, tokens.length, []).values()),
    splits: tokens.some((token) => token === 'split'),
  }
}

/**
 * By what is gone through: the variable of a macro around it, whose elements hold it, or `''` for all else.
 * @param bound - the variables of the macros around it.
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
      // The elements together hold no more than the iterated value. Any other value is evaluated again for
      // each of them.
      if (of === variable) add(root, degree)
      else add(of === '' ? root : of, 1 + degree)
    }
    at = end
  }
  return degrees
}

/** The position of the bracket that closes the one at `open`. */
const closing = (tokens: readonly string[], open: number): number => {
  let depth = 0
  for (let at = open; at < tokens.length; at++) {
    const token = tokens[at] as string
    if (OPENS.has(token)) depth++
    if (CLOSES.has(token) && --depth === 0) return at
  }
  return tokens.length
}

/** The first part of `a.b[c].d(e)`. @param dot - the position after it. */
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
