import { InvalidArgument } from '../../errors.js'

/**
 * The part of a path between slashes: a literal, `*` (one segment) or `**` (the rest, which may be empty).
 */
export type Segment =
  { readonly kind: 'literal'; readonly text: string } | { readonly kind: 'one' } | { readonly kind: 'rest' }

/** The segments that fill a request field. */
export interface Variable {
  /** The path of the field, such as `widget.id`. */
  readonly field: string
  readonly from: number
  /** The index after the last segment; undefined for the end of the path. */
  readonly to: number | undefined
}

/** A parsed `google.api.http` path. */
export interface PathTemplate {
  /** The path as written in the rule. */
  readonly source: string
  readonly segments: readonly Segment[]
  readonly variables: readonly Variable[]
  /** The text after the last colon (AIP-136); `''` if there is none. */
  readonly verb: string
}

/** The error for a valid rule that the gateway does not support. Other protocols still serve its method. */
export class UnservedRule extends TypeError {}

/**
 * Parses the grammar in the comments of google.api.HttpRule.
 * @throws TypeError with the position (from 1), the cause and advice.
 * @throws UnservedRule for a valid template with `**` before its end.
 */
export const parsePathTemplate = (source: string): PathTemplate => new TemplateParser(source).parse()

const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y
/** A literal ends at a character of the grammar. Its characters are checked separately. */
const LITERAL = /[^*{}:/=]+/y
/** Matches characters that end a path, or that clients change. */
const NOT_IN_A_PATH = /[\s?#\\\u0000-\u001f\u007f]/
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/

class TemplateParser {
  readonly #source: string
  readonly #segments: Segment[] = []
  readonly #variables: Variable[] = []
  #at = 0
  /** The position of `**`. */
  #restAt: number | undefined
  /** True if a segment follows `**`. */
  #restInside = false

  constructor(source: string) {
    this.#source = source
  }

  parse(): PathTemplate {
    if (this.#peek() !== '/') throw this.#wrong('a path must begin with "/"')
    while (this.#peek() === '/') {
      this.#at++
      if (this.#peek() === '{') this.#variable()
      else this.#segment()
    }
    const verb = this.#verb()
    if (this.#restInside)
      throw new UnservedRule(
        `character ${(this.#restAt ?? 0) + 1}: "**" is only supported at the end of a path`,
      )
    return { source: this.#source, segments: this.#segments, variables: this.#variables, verb }
  }

  #peek(): string {
    return this.#source.charAt(this.#at)
  }

  #segment(): void {
    this.#restInside ||= this.#restAt !== undefined
    const at = this.#at
    if (this.#peek() === '*') {
      this.#at += this.#source.startsWith('**', at) ? 2 : 1
      if (this.#at - at === 2) this.#restAt ??= at
      this.#segments.push({ kind: this.#at - at === 2 ? 'rest' : 'one' })
    } else {
      if ('/:'.includes(this.#peek()))
        throw this.#wrong('a segment is empty: remove the slash in front of it')
      this.#segments.push({ kind: 'literal', text: this.#literal() })
    }
    if (!'/:}'.includes(this.#peek()))
      throw this.#wrong(`${quoted(this.#peek())} is in the middle of a segment`)
  }

  #variable(): void {
    const opened = this.#at++
    const field = this.#fieldPath(opened)
    if (this.#variables.some((other) => other.field === field))
      throw this.#wrong(`"${field}" is bound twice: name each field once`, opened)
    const from = this.#segments.length
    if (this.#peek() === '=') this.#pattern(opened)
    else {
      this.#restInside ||= this.#restAt !== undefined
      this.#segments.push({ kind: 'one' })
    }
    if (this.#peek() === '') throw this.#unclosed(opened)
    if (this.#peek() !== '}')
      throw this.#wrong(
        `${quoted(this.#peek())} is not allowed in a variable: write {field} or {field=pattern}`,
      )
    this.#at++
    if (!'/:'.includes(this.#peek()))
      throw this.#wrong(`${quoted(this.#peek())} follows a variable, which must be a whole segment`)
    this.#variables.push({ field, from, to: this.#restAt === undefined ? this.#segments.length : undefined })
  }

  #fieldPath(opened: number): string {
    const names: string[] = []
    for (;;) {
      const name = this.#match(IDENTIFIER)
      if (name === '' && this.#peek() === '') throw this.#unclosed(opened)
      if (name === '')
        throw this.#wrong('a variable must name a field: letters, digits and "_", parts separated by "."')
      names.push(name)
      if (this.#peek() !== '.') return names.join('.')
      this.#at++
    }
  }

  #pattern(opened: number): void {
    do {
      this.#at++
      if (this.#peek() === '') throw this.#unclosed(opened)
      if (this.#peek() === '}')
        throw this.#wrong('a variable has an empty pattern: write {field} or {field=*}')
      if (this.#peek() === '{') throw this.#wrong('a variable cannot contain another variable')
      this.#segment()
    } while (this.#peek() === '/')
    if (this.#peek() === ':') throw this.#wrong('a verb must follow the path, outside variables')
  }

  /** Returns the decoded literal, because the path of a request is decoded before the comparison. */
  #literal(): string {
    const from = this.#at
    const raw = this.#match(LITERAL)
    const bad = BAD_ESCAPE.exec(raw) ?? NOT_IN_A_PATH.exec(raw)
    if (bad?.[0] === '%')
      throw this.#wrong('"%" must be followed by two hexadecimal digits', from + bad.index)
    if (bad !== null)
      throw this.#wrong(
        `${quoted(bad[0])} is not allowed in a path: write it percent-encoded`,
        from + bad.index,
      )
    const text = decoded(raw)
    if (text === undefined) throw this.#wrong('a percent escape is not UTF-8', from + raw.indexOf('%'))
    if (text === '.' || text === '..')
      throw this.#wrong(`"${text}" is a dot segment, which clients remove from a path`, from)
    return text
  }

  #verb(): string {
    if (this.#peek() === '') return ''
    if (this.#peek() !== ':') throw this.#wrong(this.#strange())
    this.#at++
    if (this.#peek() === '') throw this.#wrong('a verb must follow the ":"')
    const verb = LITERAL_START.test(this.#peek()) ? this.#literal() : ''
    if (this.#peek() !== '') throw this.#wrong('a verb must be one word at the end of the path')
    return verb
  }

  #strange(): string {
    return this.#peek() === '}'
      ? '"}" closes a variable that was never opened'
      : `${quoted(this.#peek())} is not expected`
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [text = ''] = pattern.exec(this.#source) ?? []
    this.#at += text.length
    return text
  }

  #unclosed(opened: number): TypeError {
    return this.#wrong('"{" is never closed: write {field} or {field=pattern}', opened)
  }

  #wrong(cause: string, at = this.#at): TypeError {
    return new TypeError(`character ${at + 1}: ${cause}`)
  }
}

const LITERAL_START = /[^*{}:/=]/

const quoted = (character: string): string => (character === '' ? 'the end' : JSON.stringify(character))

/**
 * Returns the value of a variable. A single segment is decoded completely; in several segments, `%2F` is
 * kept.
 */
export function variableText({ from, to }: Variable, raw: readonly string[]): string {
  if (to === from + 1) {
    const segment = raw[from] ?? ''
    return segment.includes('%') ? decodeSegment(segment) : segment
  }
  return raw.slice(from, to).map(decodeKeepingSlashes).join('/')
}

function decodeKeepingSlashes(segment: string): string {
  if (!segment.includes('%')) return segment
  return segment
    .split(/(%2[fF])/)
    .map((part, index) => (index % 2 === 1 ? part : decodeSegment(part)))
    .join('')
}

/**
 * Decodes a segment.
 * @throws InvalidArgument for an escape that is malformed or not UTF-8.
 */
function decodeSegment(segment: string): string {
  const text = decoded(segment)
  if (text === undefined) throw new InvalidArgument('', 'the path has a percent escape that is not UTF-8')
  return text
}

/** Decodes a segment; undefined for an escape that is malformed or not UTF-8. */
export function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
