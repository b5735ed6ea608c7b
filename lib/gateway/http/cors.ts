import type { IncomingMessage, ServerResponse } from 'node:http'
import { addVary } from './respond.js'

/** Which pages of other origins may read the answers. */
export interface CorsOptions {
  /** `*`, or exact origins such as `https://app.example.com`. */
  readonly origins: '*' | readonly string[]
  /** Lets browsers send cookies; needs exact origins. Default false. */
  readonly credentials?: boolean
  /** Request headers that pages may set beside the usual ones. */
  readonly allowHeaders?: readonly string[]
  /** Response headers that pages may read beside the gateway's own. */
  readonly exposeHeaders?: readonly string[]
  /** How long a browser may remember a preflight. Default 600. */
  readonly maxAgeSeconds?: number
}

/** Headers that the gateway itself understands, beside those that become metadata. */
const ALLOWED = ['Baggage', 'Content-Encoding', 'Content-Type', 'Grpc-Timeout', 'If-None-Match', 'Prefer']
const EXPOSED = [
  ...['Allow', 'ETag', 'Preference-Applied', 'Retry-After', 'WWW-Authenticate'],
  ...['X-Idempotent-Replay', 'X-Ignored-Update-Mask', 'X-Request-Id'],
]

/** @throws TypeError for `*` together with credentials, and for something that is no origin. */
export function checkCors({ origins, credentials }: CorsOptions): void {
  if (origins === '*' && credentials === true)
    throw new TypeError('cors: credentials need exact origins, not "*"')
  for (const origin of origins === '*' ? [] : origins)
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+$/.test(origin))
      throw new TypeError(`cors: "${origin}" is not an origin`)
}

/**
 * Sets the headers that let the request's origin read the answer; true when it was a preflight, now without a body.
 * @param known - the headers of requests that become metadata, and those of answers that come from it.
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
  const allowed = origin !== undefined && (options.origins === '*' || options.origins.includes(origin))
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

/** What becomes metadata of a call, and what of it becomes headers. */
export interface KnownHeaders {
  readonly forwarded: readonly string[]
  readonly responseHeaders: readonly string[]
}

/** Each name once, whatever its case, in the usual spelling. */
const listOf = (...lists: readonly (readonly string[] | undefined)[]): string => {
  const byName = new Map<string, string>()
  for (const name of lists.flatMap((list) => list ?? []))
    if (!byName.has(name.toLowerCase())) byName.set(name.toLowerCase(), spelled(name))
  return [...byName.values()].sort().join(', ')
}

const spelled = (name: string): string =>
  /[A-Z]/.test(name) ? name : name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase())
