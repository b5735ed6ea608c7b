import type { IncomingMessage, ServerResponse } from 'node:http'
import { policyOf } from '../pages/page.js'

/** A request that is refused before anything else looks at it. */
export interface Refusal {
  readonly status: number
  readonly message: string
}

/** Headers of every response. Pages say in their own policy what else they need. */
export function setSafeHeaders(response: ServerResponse): void {
  response.setHeader('cache-control', 'no-store')
  response.setHeader('content-security-policy', policyOf({}))
  response.setHeader('x-frame-options', 'DENY')
  response.setHeader('x-content-type-options', 'nosniff')
  // Not no-referrer: a browser would then hide the origin of forms.
  response.setHeader('referrer-policy', 'same-origin')
  response.setHeader('cross-origin-opener-policy', 'same-origin')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
}

/** The name in a Host header, without its port. */
export const hostNameOf = (host: string): string => host.replace(/:\d*$/, '').toLowerCase()

/** Refuses a request that another site's page could have had a browser send. */
export class RequestGuard {
  readonly #hosts: ReadonlySet<string>

  constructor(
    private readonly issuer: string,
    host: string,
  ) {
    this.#hosts = new Set([new URL(issuer).hostname, 'localhost', host.toLowerCase()])
  }

  /** A name that a foreign domain could be made to point here is not one of these (DNS rebinding). */
  refuseHost({ headers, headersDistinct, url = '' }: IncomingMessage): Refusal | undefined {
    if (!url.startsWith('/')) return { status: 400, message: 'The request names no path of this provider.' }
    if ((headersDistinct['host']?.length ?? 0) > 1)
      return { status: 400, message: 'The request names several hosts.' }
    const { host = '' } = headers
    if (/^[^\s/@?#]+$/.test(host) && this.#hosts.has(hostNameOf(host))) return undefined
    const names = [...this.#hosts].join(', ')
    return {
      status: 421,
      message: `This provider does not serve the host of the request. It serves ${names}.`,
    }
  }

  /**
   * A form of a page here says so by its origin, and the browser says whether it comes from the same site.
   */
  refuseForeignForm({ headers }: IncomingMessage): Refusal | undefined {
    const { origin } = headers
    const site = headers['sec-fetch-site']
    const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none'
    if (!isForeignSite && (origin === undefined || origin === this.issuer)) return undefined
    return { status: 403, message: 'The form was not sent from a page of this provider.' }
  }

  /**
   * Pages are at the issuer's own address, so that there is one session. Undefined where the request is there
   * already.
   */
  elsewhere({ headers, method, url = '' }: IncomingMessage): string | undefined {
    const isPage = (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html')
    return isPage && headers.host?.toLowerCase() !== new URL(this.issuer).host ? this.issuer + url : undefined
  }
}
