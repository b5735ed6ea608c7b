import type { IncomingMessage, ServerResponse } from 'node:http'

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

const ALLOWED = [
  'Account-Id',
  'Authorization',
  'Content-Type',
  'Groups',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Prefer',
  'Subject',
  'Traceparent',
  'X-Request-Id',
]
const EXPOSED = ['ETag', 'Retry-After', 'X-Idempotent-Replay', 'X-Ignored-Update-Mask', 'X-Request-Id']

/** @throws TypeError for `*` together with credentials, and for something that is no origin. */
export function checkCors({ origins, credentials }: CorsOptions): void {
  if (origins === '*' && credentials === true)
    throw new TypeError('cors: credentials need exact origins, not "*"')
  for (const origin of origins === '*' ? [] : origins)
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+$/.test(origin))
      throw new TypeError(`cors: "${origin}" is not an origin`)
}

/** Sets the headers that let the request's origin read the answer; true when it was a preflight, now without a body. */
export function applyCors(
  options: CorsOptions,
  request: IncomingMessage,
  response: ServerResponse,
  methods: readonly string[],
): boolean {
  const { origin } = request.headers
  if (options.origins !== '*') response.appendHeader('vary', 'Origin')
  const allowed = origin !== undefined && (options.origins === '*' || options.origins.includes(origin))
  if (allowed) {
    response.setHeader('access-control-allow-origin', options.origins === '*' ? '*' : origin)
    if (options.credentials === true) response.setHeader('access-control-allow-credentials', 'true')
    response.setHeader(
      'access-control-expose-headers',
      [...EXPOSED, ...(options.exposeHeaders ?? [])].join(', '),
    )
  }
  const isPreflight =
    request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
  if (isPreflight && allowed) {
    response.setHeader('access-control-allow-methods', methods.join(', '))
    response.setHeader(
      'access-control-allow-headers',
      [...ALLOWED, ...(options.allowHeaders ?? [])].join(', '),
    )
    response.setHeader('access-control-max-age', String(options.maxAgeSeconds ?? 600))
  }
  return isPreflight
}
