import type { IfMatch } from './call.js'
import { InvalidArgument } from './errors.js'

/** Parses and formats entity tags (RFC 9110). `Precondition` compares them with an entity. */

const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g
const QUOTED = /^(?:W\/)?"[\x21\x23-\x7e]*"$/
const OPAQUE = /^[\x21\x23-\x7e]+$/

/** The maximum number of entity tags in one condition. */
const MAX_ETAGS = 100

/** An etag that no entity has, for a condition that matches nothing. */
export const NO_ETAG = ''

/**
 * Parses an `If-Match` value (RFC 9110 sections 5.6.1 and 13.1.1): quoted etags and `*`. Empty list elements
 * are skipped, and so are weak etags, which never match strongly. A value without strong etags matches
 * nothing. A plain word, as in gRPC metadata and resources, is an etag too.
 * @param field - the name in errors.
 * @throws InvalidArgument for any other value.
 */
export const parseIfMatch = (value: string, field: string): IfMatch => {
  const text = value.trim()
  if (text === '*') return { any: true, etags: [] }
  if (!/[",\s]/.test(text) && text !== '') return { any: false, etags: [text] }
  const etags = new Set<string>()
  let count = 0
  for (let at = 0; at < text.length; at = ELEMENT.lastIndex) {
    ELEMENT.lastIndex = at
    const [element, weak, opaque] = ELEMENT.exec(text) ?? []
    if (element === undefined) throw new InvalidArgument(field, 'is not a list of quoted etags')
    if (opaque === undefined) continue
    count++
    if (weak === undefined) etags.add(opaque)
  }
  if (count > MAX_ETAGS) throw new InvalidArgument(field, `has ${count} etags: name at most ${MAX_ETAGS}`)
  return { any: false, etags: [...etags] }
}

/** Returns true if two conditions are equal. */
export const sameIfMatch = (a: IfMatch, b: IfMatch): boolean =>
  a.any === b.any && a.etags.length === b.etags.length && a.etags.every((etag) => b.etags.includes(etag))

/** Matches one element of the list, which may be empty, and the following comma. */
const ELEMENT = /[\t ]*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[\t ]*)?(?:,|$)/y

/** Formats an etag as a header value (RFC 9110 section 8.8.3); undefined if a header cannot contain it. */
export function etagHeader(etag: string | undefined): string | undefined {
  if (etag === undefined) return undefined
  if (QUOTED.test(etag)) return etag
  return OPAQUE.test(etag) ? `"${etag}"` : undefined
}

/** @throws InvalidArgument if an If-None-Match contains too many etags. */
export function checkIfNoneMatch(ifNoneMatch: string): void {
  const count = ifNoneMatch.match(TAG)?.length ?? 0
  if (count > MAX_ETAGS)
    throw new InvalidArgument('', `If-None-Match has ${count} etags: name at most ${MAX_ETAGS}`)
}

/** Returns true if an If-None-Match contains the etag, by weak comparison (RFC 9110 section 13.1.2). */
export function matchesWeakly(ifNoneMatch: string, etag: string | undefined): boolean {
  if (etag === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const tags = ifNoneMatch.match(TAG) ?? []
  return tags.some((tag) => opaque(tag) === opaque(etag)) || `"${ifNoneMatch.trim()}"` === opaque(etag)
}

const opaque = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag)
