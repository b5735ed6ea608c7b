/** The part of a name between slashes: a collection such as `books`, or a variable. */
export interface NameSegment {
  readonly kind: 'literal' | 'variable'
  /** The literal, or the name of the variable. */
  readonly text: string
}

/** A pattern of resource names (AIP-122), such as `shelves/{shelf}/books/{book}`. */
export interface Pattern {
  /** The pattern as written. */
  readonly text: string
  readonly segments: readonly NameSegment[]
  /** The names of the variables in order. */
  readonly variables: readonly string[]
  /** True if the pattern ends in a literal, as in `users/{user}/config` (AIP-156). */
  readonly isSingleton: boolean
}

/** Stands for any parent in the name of a read request (AIP-159). */
export const WILDCARD = '-'

const VARIABLE = /^\{([a-z](?:[a-z0-9_]*[a-z0-9])?)\}$/
const LITERAL = /^[a-z][A-Za-z0-9_-]*$/

/**
 * Parses a pattern, in which collections and variables alternate. A literal at the end denotes a singleton.
 * @throws TypeError with the cause and advice.
 */
export function parsePattern(text: string): Pattern {
  if (text === '*') throw new TypeError('"*" stands for any name: write the one pattern of the resource')
  const segments = text.split('/').map((part, at): NameSegment => {
    const kind = at % 2 === 0 ? 'literal' : 'variable'
    const name = kind === 'literal' ? LITERAL.exec(part)?.[0] : VARIABLE.exec(part)?.[1]
    if (name === undefined) throw new TypeError(`${JSON.stringify(part)} is not a ${EXPECTED[kind]}`)
    return { kind, text: name }
  })
  const variables = segments.filter(({ kind }) => kind === 'variable').map((segment) => segment.text)
  if (variables.length === 0)
    throw new TypeError('it has no variable, so nothing distinguishes resources: add one in braces')
  const twice = variables.find((name, at) => variables.indexOf(name) !== at)
  if (twice !== undefined) throw new TypeError(`the variable ${twice} occurs twice in it`)
  return { text, segments, variables, isSingleton: segments.length % 2 === 1 }
}

const EXPECTED = {
  literal:
    'collection: letters, digits, "_" and "-", beginning with a lower-case letter, as in shelves/{shelf}',
  variable: 'variable: one name in braces, in snake_case, as in shelves/{shelf}',
}

/** Returns the pattern of a resource's parent; undefined for a top-level resource. */
export function parentOf({ segments, isSingleton }: Pattern): Pattern | undefined {
  const rest = segments.slice(0, isSingleton ? -1 : -2)
  if (rest.length === 0) return undefined
  return parsePattern(rest.map(({ kind, text }) => (kind === 'literal' ? text : `{${text}}`)).join('/'))
}

/** Returns the values of the variables in order; undefined for a string that does not match. */
export function valuesIn({ segments }: Pattern, text: string): readonly string[] | undefined {
  const values: string[] = []
  let from = 0
  for (const [at, segment] of segments.entries()) {
    const slash = at === segments.length - 1 ? text.length : text.indexOf('/', from)
    if (slash <= from) return undefined
    const part = text.slice(from, slash)
    if (segment.kind === 'literal' ? part !== segment.text : part.includes('/')) return undefined
    if (segment.kind === 'variable') values.push(part)
    from = slash + 1
  }
  return values
}

/** Builds a name from the values of all variables. */
export const nameWith = ({ segments }: Pattern, values: readonly string[]): string => {
  let next = 0
  return segments.map(({ kind, text }) => (kind === 'literal' ? text : values[next++])).join('/')
}

/** Returns the reason why a resource's own name cannot contain the part; undefined if it can. */
export const ownPartProblem = (value: string): string | undefined =>
  value === WILDCARD ? 'is "-", which stands for any parent' : partProblem(value)

/** Returns the reason why no name can contain the part; undefined if one can. */
export const partProblem = (value: string): string | undefined => {
  if (value === '') return 'is empty'
  if (value.includes('/')) return 'contains a slash, which separates the parts of a name'
  return value === '.' || value === '..' ? 'is a dot segment, which clients remove from a path' : undefined
}
