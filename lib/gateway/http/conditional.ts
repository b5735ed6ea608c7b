import { InvalidArgument } from '../../errors.js'

const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g
const QUOTED = /^(?:W\/)?"[\x21\x23-\x7e]*"$/
const OPAQUE = /^[\x21\x23-\x7e]+$/

/** An etag as the header wants it (RFC 9110 section 8.8.3); undefined for one that cannot be said there. */
export function etagHeader(etag: string | undefined): string | undefined {
  if (etag === undefined) return undefined
  if (QUOTED.test(etag)) return etag
  return OPAQUE.test(etag) ? `"${etag}"` : undefined
}

/** Entity tags of one condition. */
const MAX_ETAGS = 100

/** @throws InvalidArgument for an If-None-Match of more etags than anybody keeps. */
export function checkIfNoneMatch(ifNoneMatch: string | undefined): void {
  const count = ifNoneMatch?.match(TAG)?.length ?? 0
  if (count > MAX_ETAGS)
    throw new InvalidArgument('', `If-None-Match has ${count} etags: name at most ${MAX_ETAGS}`)
}

/** Whether If-None-Match names the etag, by weak comparison (RFC 9110 section 13.1.2). */
export function isKnown(ifNoneMatch: string | undefined, etag: string | undefined): boolean {
  if (ifNoneMatch === undefined || etag === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const tags = ifNoneMatch.match(TAG) ?? []
  return tags.some((tag) => opaque(tag) === opaque(etag)) || `"${ifNoneMatch.trim()}"` === opaque(etag)
}

const opaque = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag)
