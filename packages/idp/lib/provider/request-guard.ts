import type { IncomingMessage, ServerResponse } from 'node:http'
import { policyOf } from '../pages/page.js'

/** The response to a request that is rejected before it is processed. */
export interface Refusal {
  readonly status: number
  readonly message: string
}

/** Sets the headers of every response. Pages extend the policy themselves. */
export function setSafeHeaders(response: ServerResponse): void {
  response.setHeader('cache-control', 'no-store')
  response.setHeader('content-security-policy', policyOf({}))
  response.setHeader('x-frame-options', 'DENY')
  response.setHeader('x-content-type-options', 'nosniff')
  // With no-referrer, a browser would hide the origin of forms.
  response.setHeader('referrer-policy', 'same-origin')
  response.setHeader('cross-origin-opener-policy', 'same-origin')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
}

/** Returns the name in a Host header without its port. */
export const hostNameOf = (host: string): string => host.replace(/:\d*$/, '').toLowerCase()

/** Rejects requests that another site's page may have caused a browser to send. */
export class RequestGuard {
  readonly #hosts: ReadonlySet<string>

  constructor(
    private readonly issuer: string,
    host: string,
  ) {
    this.#hosts = new Set([new URL(issuer).hostname, 'localhost', host.toLowerCase()])
  }

  /** Rejects unknown host names, because a foreign domain can resolve to this machine (DNS rebinding). */
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

  /** Rejects forms of other sites, by the request's origin and the browser's own statement about the site. */
  refuseForeignForm({ headers }: IncomingMessage): Refusal | undefined {
    const { origin } = headers
    const site = headers['sec-fetch-site']
    const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none'
    if (!isForeignSite && (origin === undefined || origin === this.issuer)) return undefined
    return { status: 403, message: 'The form was not sent from a page of this provider.' }
  }

  /**
   * Returns the address of a page at the issuer, so that there is only one session. Returns undefined if the
   * request is already there.
   */
  elsewhere({ headers, method, url = '' }: IncomingMessage): string | undefined {
    const isPage = (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html')
    return isPage && headers.host?.toLowerCase() !== new URL(this.issuer).host ? this.issuer + url : undefined
  }
}
