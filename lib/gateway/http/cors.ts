import type { IncomingMessage, ServerResponse } from 'node:http'
import { addVary } from './respond.js'

/** The pages of other origins that can read responses. */
export interface CorsOptions {
  /** `*`, or exact origins such as `https://app.example.com`. */
  readonly origins: '*' | readonly string[]
  /** If true, browsers may send cookies. Requires exact origins. Default: false. */
  readonly credentials?: boolean
  /** Additional request headers that pages may set. */
  readonly allowHeaders?: readonly string[]
  /** Additional response headers that pages may read. */
  readonly exposeHeaders?: readonly string[]
  /** The number of seconds for which a browser may cache a preflight. Default: 600. */
  readonly maxAgeSeconds?: number
}

/** Request headers that the gateway itself reads, in addition to those that become metadata. */
const ALLOWED = [
  ...['Baggage', 'Content-Encoding', 'Content-Type', 'Grpc-Timeout', 'If-None-Match', 'Last-Event-ID'],
  'Prefer',
]
const EXPOSED = [
  ...['Allow', 'ETag', 'Preference-Applied', 'Retry-After', 'WWW-Authenticate'],
  ...['X-Idempotent-Replay', 'X-Ignored-Update-Mask', 'X-Request-Id'],
]

/** @throws TypeError for `*` together with credentials, and for a value that is not an origin. */
export function checkCors({ origins, credentials }: CorsOptions): void {
  if (origins === '*' && credentials === true)
    throw new TypeError('cors: credentials need exact origins, not "*"')
  for (const origin of origins === '*' ? [] : origins)
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+$/.test(origin))
      throw new TypeError(`cors: "${origin}" is not an origin`)
}

/**
 * Sets the headers that let the request's origin read the response. Returns true for a preflight, which needs
 * no further response body.
 * @param known - the request headers that become metadata, and the response headers created from metadata.
 */
export function applyCors(
  options: CorsOptions,
  known: KnownHeaders,
  request: IncomingMessage,
  response: ServerResponse,
  methods: readonly string[],
): boolean {
  const { origin } = request.headers
  if (options.origins !== '*') addVary(response, 'Origin')
  const allowed = origin !== undefined && !isOfForeignPage(options, request)
  if (allowed) {
    response.setHeader('access-control-allow-origin', options.origins === '*' ? '*' : origin)
    if (options.credentials === true) response.setHeader('access-control-allow-credentials', 'true')
    response.setHeader(
      'access-control-expose-headers',
      listOf(EXPOSED, known.responseHeaders, options.exposeHeaders),
    )
  }
  const isPreflight =
    request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
  if (isPreflight && allowed) {
    response.setHeader('access-control-allow-methods', methods.join(', '))
    response.setHeader('access-control-allow-headers', listOf(ALLOWED, known.forwarded, options.allowHeaders))
    response.setHeader('access-control-max-age', String(options.maxAgeSeconds ?? 600))
  }
  return isPreflight
}

/** Returns true if a browser sends the request for a page whose origin is not allowed. */
export const isOfForeignPage = (
  options: CorsOptions | undefined,
  { headers: { origin } }: Pick<IncomingMessage, 'headers'>,
): boolean => origin !== undefined && options?.origins !== '*' && options?.origins.includes(origin) !== true

/**
 * Matches content types that browsers send for pages of other origins without a preflight (Fetch, section
 * 2.2.2).
 */
const UNASKED_TYPE = /^\s*(?:text\/plain|application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i

/** The `Sec-Fetch-Site` values of a request from a page of another origin. */
const OF_OTHER_ORIGIN: readonly unknown[] = ['cross-site', 'same-site']

/**
 * Returns true if a POST without a preflight may come from a page of another origin that CORS does not allow.
 * A page with a hidden origin is not allowed.
 */
export const isUnaskedFromPage = (options: CorsOptions | undefined, request: IncomingMessage): boolean => {
  const { headers } = request
  if (headers.origin === undefined)
    return options?.origins !== '*' && OF_OTHER_ORIGIN.includes(headers['sec-fetch-site'])
  const { 'content-type': type = '' } = headers
  if (type !== '' && !UNASKED_TYPE.test(type)) return false
  return isOfForeignPage(options, request) && !isOfOwnPage(headers)
}

/**
 * Returns true if the request comes from a page of this host. Only hosts are compared, because the scheme
 * differs behind a proxy that terminates TLS.
 */
const isOfOwnPage = (headers: IncomingMessage['headers']): boolean => {
  if (headers['sec-fetch-site'] === 'same-origin') return true
  const { origin = '', host = headers[':authority'] } = headers
  const [, ofPage] = /^https?:\/\/([^/]+)$/.exec(origin) ?? []
  return ofPage !== undefined && ofPage === host
}

/** Request headers that become metadata, and metadata that becomes response headers. */
export interface KnownHeaders {
  readonly forwarded: readonly string[]
  readonly responseHeaders: readonly string[]
}

/** Returns a list of the names without duplicates, compared case-insensitively. */
const listOf = (...lists: readonly (readonly string[] | undefined)[]): string => {
  const byName = new Map<string, string>()
  for (const name of lists.flatMap((list) => list ?? []))
    if (!byName.has(name.toLowerCase())) byName.set(name.toLowerCase(), spelled(name))
  return [...byName.values()].sort().join(', ')
}

const spelled = (name: string): string =>
  /[A-Z]/.test(name) ? name : name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase())
