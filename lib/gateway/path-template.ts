import { InvalidArgument } from '../errors.js'

/** A piece of a path between slashes: a literal, `*` (one segment) or `**` (all that is left, also nothing). */
export type Segment =
  { readonly kind: 'literal'; readonly text: string } | { readonly kind: 'one' } | { readonly kind: 'rest' }

/** Which segments a request field is taken from. */
export interface Variable {
  /** Path of the field, such as `widget.id`. */
  readonly field: string
  readonly from: number
  /** Behind the last segment; undefined means to the end of the path. */
  readonly to: number | undefined
}

/** A parsed `google.api.http` path. */
export interface PathTemplate {
  readonly segments: readonly Segment[]
  readonly variables: readonly Variable[]
  /** Behind the last colon, `''` for none (AIP-136). */
  readonly verb: string
}

const IDENTIFIERS = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/
const LITERAL = /^[^*{}:/?#=\s]+$/

/**
 * Parses the grammar in the comments of google.api.HttpRule.
 * @throws TypeError saying what is wrong.
 */
export function parsePathTemplate(source: string): PathTemplate {
  if (!source.startsWith('/')) throw new TypeError('must begin with "/"')
  const segments: Segment[] = []
  const variables: Variable[] = []
  const { path, verb } = splitVerb(source)
  for (const piece of pieces(path.slice(1))) {
    if (!piece.startsWith('{')) segments.push(parseSegment(piece))
    else variables.push(parseVariable(piece, segments))
  }
  if (segments.slice(0, -1).some(({ kind }) => kind === 'rest'))
    throw new TypeError('"**" must be the last segment')
  const fields = variables.map(({ field }) => field)
  const twice = fields.find((field, index) => fields.indexOf(field) !== index)
  if (twice !== undefined) throw new TypeError(`"${twice}" is bound twice`)
  return { segments, variables, verb }
}

function splitVerb(source: string): { readonly path: string; readonly verb: string } {
  const colon = source.lastIndexOf(':')
  if (colon < 0) return { path: source, verb: '' }
  const verb = source.slice(colon + 1)
  if (!LITERAL.test(verb)) throw new TypeError('a verb must be a word at the end')
  return { path: source.slice(0, colon), verb }
}

/** Splits at the slashes outside of braces. */
const pieces = (path: string): readonly string[] => path.split(/\/(?![^{}]*\})/)

function parseSegment(text: string): Segment {
  if (text === '*') return { kind: 'one' }
  if (text === '**') return { kind: 'rest' }
  if (!LITERAL.test(text)) throw new TypeError(`"${text}" is not a segment`)
  return { kind: 'literal', text: decodeSegment(text) }
}

function parseVariable(piece: string, segments: Segment[]): Variable {
  const [field = '', pattern = '*', ...more] = piece.slice(1, -1).split('=')
  if (!IDENTIFIERS.test(field) || more.length > 0) throw new TypeError(`"${piece}" does not name a field`)
  const from = segments.length
  for (const part of pattern.split('/')) segments.push(parseSegment(part))
  const endless = segments.at(-1)?.kind === 'rest'
  return { field, from, to: endless ? undefined : segments.length }
}

/** The value of a variable: a single segment is decoded whole, of several `%2F` stays as it is. */
export function variableText({ from, to }: Variable, raw: readonly string[]): string {
  if (to === from + 1) return decodeSegment(raw[from] ?? '')
  return raw.slice(from, to).map(decodeKeepingSlashes).join('/')
}

function decodeKeepingSlashes(segment: string): string {
  if (!segment.includes('%')) return segment
  return segment
    .split(/(%2[fF])/)
    .map((part, index) => (index % 2 === 1 ? part : decodeSegment(part)))
    .join('')
}

/** @throws InvalidArgument for an escape that is none, or that is not UTF-8. */
export function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new InvalidArgument('', 'the path has a percent escape that is not UTF-8')
  }
}
