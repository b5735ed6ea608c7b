/** The request of a page. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly url: string
}

/** A browser without a screen: it keeps cookies by host and path, follows redirects, and submits forms. */
export class Browser {
  readonly #cookies = new Map<string, { readonly value: string; readonly path: string }>()

  /** The origin at which it stopped: an address that does not begin with one of its own. */
  constructor(readonly origin: string) {}

  async get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send(new URL(url, this.origin).href, { headers: { accept: 'text/html', ...headers } })
  }

  /** Submits a form of a page of this origin. */
  async post(
    url: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.#send(new URL(url, this.origin).href, {
      method: 'POST',
      headers: { accept: 'text/html', origin: this.origin, 'sec-fetch-site': 'same-origin', ...headers },
      body: new URLSearchParams(fields),
    })
  }

  cookieNames(): readonly string[] {
    return [...this.#cookies.keys()].map((key) => key.split(' ')[0] ?? '')
  }

  /** Follows redirects as long as they stay at the origin. The last answer is a page, or a redirect away. */
  async #send(url: string, init: RequestInit & { headers: Record<string, string> }): Promise<Answer> {
    const { pathname } = new URL(url)
    const cookies = [...this.#cookies]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`)
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, ...(cookies.length > 0 ? { cookie: cookies.join('; ') } : {}) },
    })
    for (const cookie of response.headers.getSetCookie()) this.#keep(cookie)
    const location = response.headers.get('location')
    const next = location === null ? undefined : new URL(location, url)
    const body = await response.text()
    if (next?.origin === this.origin && response.status >= 300 && response.status < 400)
      return this.#send(next.href, { headers: { accept: 'text/html' } })
    return { status: response.status, headers: response.headers, body, url: next?.href ?? url }
  }

  #keep(cookie: string): void {
    const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim())
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const path = attributes.find((one) => one.toLowerCase().startsWith('path='))?.slice(5) ?? '/'
    const isGone = attributes.some((one) => /^expires=Thu, 01 Jan 1970/i.test(one))
    if (isGone) this.#cookies.delete(`${name} ${path}`)
    else this.#cookies.set(`${name} ${path}`, { value, path })
  }
}
