import { type RunningProvider, startProvider } from 'ashlar-idp'
import { expect } from 'chai'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PageOptions, signInPage } from '../../../examples/sign-in/page.js'

const ORIGIN = 'http://localhost:3000'
const SECURE = 'https://shop.example.com'
const GARBAGE: RequestListener = (_request, response) => void response.end('<html>')

describe('the page that signs a person in', () => {
  let folder: string
  let provider: RunningProvider
  let service: Server
  let rejected = new Set<string | undefined>()
  const start = (port: number) =>
    startProvider({
      ...{ port, warn: () => {}, state: join(folder, 'state') },
      clients: join(folder, 'clients.yaml'),
      users: join(folder, 'users.yaml'),
    })
  const users = (...subs: readonly string[]) =>
    writeFileSync(
      join(folder, 'users.yaml'),
      subs.map((sub) => `- { sub: ${sub}, name: ${sub}, tenant: acme }\n`).join(''),
    )
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-page-'))
    const redirects = `redirect_uris: ["${ORIGIN}/callback", "${SECURE}/callback"]`
    writeFileSync(
      join(folder, 'clients.local.yaml'),
      `- { client_id: app, client_secret: x, ${redirects} }\n`,
    )
    users('alice', 'bob')
    provider = await start(0)
    service = await listening(({ headers }, response) =>
      response.writeHead(rejected.has(headers.authorization) ? 401 : 200).end('{"message":"x","widgets":[]}'),
    )
  })
  beforeEach(() => (rejected = new Set()))
  after(async () => {
    await provider.close()
    service.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const pageOf = (options: Partial<PageOptions> = {}) =>
    new Visitor(
      signInPage({
        ...{ issuer: provider.issuer, clientId: 'app', clientSecret: 'x', origin: ORIGIN },
        api: () => urlOf(service),
        ...options,
      }),
      options.origin ?? ORIGIN,
    )

  it('renews once if several requests find the access token expired', async () => {
    for (const count of [2, 6]) {
      const visitor = pageOf({ tokenRoute: true })
      await visitor.signIn('alice')
      for (let time = 0; time < 2; time++) {
        rejected.add(`Bearer ${(await visitor.token()).access_token}`)
        const pages = await Promise.all(Array.from({ length: count }, () => visitor.text('/app')))
        for (const text of pages) expect(text).to.include('<strong>alice</strong>')
      }
    }
  })

  it('keeps the session if the provider is away, slow to start or returns garbage', async () => {
    const visitor = pageOf({ tokenRoute: true })
    await visitor.signIn('alice')
    rejected.add(`Bearer ${(await visitor.token()).access_token}`)
    const { port } = provider
    await provider.close()
    expect((await visitor.open('/app')).status).to.equal(502)
    const other = await listening(GARBAGE, port)
    expect((await visitor.open('/app')).status).to.equal(502)
    await closed(other)
    const busy = await listening((_request, response) => void response.writeHead(503).end('{}'), port)
    expect((await visitor.open('/app')).status).to.equal(502)
    await closed(busy)
    provider = await start(port)
    expect(await visitor.text('/app')).to.include('<strong>alice</strong>')
  })

  it('ends the session if the provider has ended it', async () => {
    const visitor = pageOf({ tokenRoute: true })
    await visitor.signIn('bob')
    rejected.add(`Bearer ${(await visitor.token()).access_token}`)
    users('alice')
    expect(await visitor.text('/app')).to.include('Your session has ended.')
    expect(await visitor.text('/app')).to.include('You are not signed in.')
    users('alice', 'bob')
  })

  it('does not sign in again a person who signs out during a renewal', async () => {
    const visitor = pageOf({ tokenRoute: true })
    await visitor.signIn('alice')
    rejected.add(`Bearer ${(await visitor.token()).access_token}`)
    const session = visitor.copy()
    const [shown] = await Promise.all([session.text('/app'), visitor.open('/logout', { method: 'POST' })])
    expect(shown).to.include('Your session has ended.')
    expect(await session.text('/app')).to.include('You are not signed in.')
  })

  it('finishes sign-ins of several tabs in any order, each once', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const visitor = pageOf()
      const tabs = [await visitor.begin('alice'), await visitor.begin('alice')]
      for (const tab of order)
        expect((await visitor.open(tabs[tab] ?? '')).headers.get('location')).to.equal('/app')
      expect((await visitor.open(tabs[0] ?? '')).headers.get('location')).to.equal('/app')
      expect(await visitor.text('/app')).to.include('<strong>alice</strong>')
    }
  })

  it('finishes a sign-in after 1,000 others have begun', async () => {
    const visitor = pageOf()
    const signedIn = visitor.copy()
    await signedIn.signIn('bob')
    const callback = await visitor.begin('alice')
    for (let count = 0; count < 1_000; count++) await visitor.anonymous().open('/login')
    expect((await visitor.open(callback)).headers.get('location')).to.equal('/app')
    expect(await signedIn.text('/app')).to.include('<strong>bob</strong>')
  })

  it('keeps at most ten unfinished sign-ins in a browser, the last ones', async () => {
    const visitor = pageOf()
    const first = await visitor.begin('alice')
    let last = ''
    for (let count = 0; count < 12; count++) last = await visitor.begin('alice')
    expect(visitor.cookies().split('attempt_')).to.have.length(11)
    expect((await visitor.open(first)).status).to.equal(400)
    expect((await visitor.open(last)).headers.get('location')).to.equal('/app')
  })

  it('rejects a sign-in whose cookie was changed, is of another one, or is missing', async () => {
    const visitor = pageOf()
    const [callback, other] = [await visitor.begin('alice'), await visitor.begin('alice')]
    const [[name = '', value = ''] = [], [, others = ''] = []] = [...visitor.jar]
    const flipped = (value.startsWith('A') ? 'B' : 'A') + value.slice(1)
    for (const wrong of [flipped, value.slice(0, -1), others, 'x', '', '{}', value + value]) {
      const changed = visitor.copy()
      changed.jar.set(name, wrong)
      expect((await changed.open(callback)).status, wrong).to.equal(400)
    }
    const [mixed, next] = [new URL(callback, ORIGIN), new URL(other, ORIGIN)]
    mixed.searchParams.set('state', next.searchParams.get('state') ?? '')
    expect((await visitor.copy().open(`/callback${mixed.search}`)).status).to.equal(400)
    expect((await visitor.anonymous().open(callback)).status).to.equal(400)
    expect((await visitor.open(callback)).headers.get('location')).to.equal('/app')
  })

  it('sets __Host- cookies with Secure on https, and names with the port elsewhere', async () => {
    for (const [origin, start, end] of [
      [SECURE, '__Host-sign_in_default_', /; Path=\/; HttpOnly; SameSite=Lax; Secure$/],
      [ORIGIN, 'sign_in_3000_', /; Path=\/; HttpOnly; SameSite=Lax$/],
    ] as const) {
      const visitor = pageOf({ origin })
      const login = await visitor.open('/login')
      const finished = await visitor.open(await visitor.begin('alice'))
      const set = [login, finished].flatMap(({ headers }) => headers.getSetCookie())
      expect(set).to.have.length(3)
      for (const cookie of set) {
        expect(cookie.startsWith(start), cookie).to.equal(true)
        expect(cookie).to.match(end)
        expect(cookie).to.include('; Max-Age=')
      }
    }
  })

  it('ignores cookies that another host of the domain can set', async () => {
    const visitor = pageOf({ origin: SECURE })
    await visitor.signIn('alice')
    expect(await visitor.text('/app')).to.include('alice')
    const [[name = '', value = ''] = []] = [...visitor.jar]
    for (const space of ['\xA0', '\t', '\x0B', '\x0C']) {
      const cookie = `other=x; ${space}${name}=${value}`
      const page = await visitor.anonymous().open('/app', { headers: { cookie } })
      expect(await page.text()).to.include('You are not signed in.')
    }
  })

  it('signs out also if the provider ends no sessions', async () => {
    const found = await fetch(`${provider.issuer}/.well-known/openid-configuration`)
    const { end_session_endpoint: _, ...others } = (await found.json()) as Record<string, unknown>
    const { fetch: real } = globalThis
    const visitor = pageOf()
    try {
      globalThis.fetch = (input, init) =>
        /well-known/.test(input instanceof Request ? input.url : String(input))
          ? Promise.resolve(Response.json(others))
          : real(input, init)
      await visitor.signIn('alice')
    } finally {
      globalThis.fetch = real
    }
    const response = await visitor.open('/logout', { method: 'POST' })
    expect([response.status, response.headers.get('location')]).to.deep.equal([303, '/app'])
    expect(visitor.cookies()).to.equal('')
  })

  it('shows a page if the body of a form does not arrive', async () => {
    const visitor = pageOf()
    const body = new ReadableStream({ pull: (to) => to.error(new DOMException('gone', 'AbortError')) })
    const form = { method: 'POST', body, duplex: 'half' } as RequestInit
    expect((await visitor.open('/app/widgets', form)).status).to.equal(502)
  })

  it('ends sessions and unfinished sign-ins by their age', async () => {
    const visitor = pageOf()
    await visitor.signIn('alice')
    const callback = await visitor.begin('alice')
    const { now } = Date
    try {
      Date.now = () => now() + 12 * 3_600_000
      expect(await visitor.text('/app')).to.include('You are not signed in.')
      expect((await visitor.open(callback)).status).to.equal(400)
    } finally {
      Date.now = now
    }
  })

  it('ends the oldest sessions of a person who signs in often, and no others', async () => {
    const visitor = pageOf()
    await visitor.signIn('bob')
    const tabs: Visitor[] = []
    for (let count = 0; count < 21; count++) {
      const tab = visitor.anonymous()
      await tab.signIn('alice')
      tabs.push(tab)
    }
    expect(await tabs[0]?.text('/app')).to.include('You are not signed in.')
    expect(await tabs[1]?.text('/app')).to.include('alice')
    expect(await visitor.text('/app')).to.include('bob')
  })

  it('shows a page if the person cancels, and an error of the provider as one', async () => {
    for (const [error, status] of [
      ['access_denied', 200],
      ['login_required', 200],
      ['server_error', 502],
    ] as const) {
      const visitor = pageOf()
      const state = new URL(await visitor.begin('alice'), ORIGIN).searchParams.get('state') ?? ''
      const query = new URLSearchParams({ error, state, iss: provider.issuer, error_description: '<b>' })
      const response = await visitor.open(`/callback?${query}`)
      expect(response.status, error).to.equal(status)
      expect(await response.text()).not.to.include('<b>')
    }
  })

  it('shows what the service reports', async () => {
    for (const [status, body, shown] of [
      [403, '{"message":"not allowed"}', 'not allowed'],
      [500, 'oops', 'the service responded with 500'],
      [200, 'null', 'the service responded with 200'],
    ] as const) {
      const failing = await listening((_request, response) => response.writeHead(status).end(body))
      const visitor = pageOf({ api: () => urlOf(failing) })
      await visitor.signIn('alice')
      expect(await visitor.text('/app')).to.include(shown)
      await closed(failing)
    }
  })

  it('gives scripts of its origin the access token, if it is told to', async () => {
    const off = pageOf()
    await off.signIn('alice')
    expect(off.handlers.map(({ pattern }) => pattern)).not.to.include('/app/token')
    const visitor = pageOf({ tokenRoute: true })
    const status = async (headers: Record<string, string>, method = 'POST') =>
      (await visitor.open('/app/token', { method, headers })).status
    const asked = { 'x-requested-with': 'fetch' }
    expect(await status(asked)).to.equal(401)
    await visitor.signIn('alice')
    expect(await status({})).to.equal(403)
    expect(await status({ ...asked, origin: 'https://evil.example' })).to.equal(403)
    expect(await status({ ...asked, origin: '' })).to.equal(403)
    expect(await status({ ...asked, 'sec-fetch-site': 'cross-site' })).to.equal(403)
    expect(await status(asked, 'GET')).to.equal(405)
    const { access_token, expires_in } = await visitor.token()
    expect(access_token).to.be.a('string')
    expect(expires_in).to.be.within(1, 300)
  })

  it('gives scripts an access token until it expires if it cannot be renewed', async () => {
    const { fetch } = globalThis
    const { now } = Date
    globalThis.fetch = async (...given) => {
      const response = await fetch(...given)
      if (!String(given[0]).endsWith('/token')) return response
      const { refresh_token: _refreshToken, ...tokens } = (await response.json()) as Record<string, unknown>
      return Response.json(tokens)
    }
    const visitor = pageOf({ tokenRoute: true })
    try {
      await visitor.signIn('alice')
      const { access_token, expires_in } = await visitor.token()
      Date.now = () => now() + (expires_in - 30) * 1000
      expect(await visitor.token()).to.include({ access_token })
      Date.now = () => now() + (expires_in + 1) * 1000
      const headers = { 'x-requested-with': 'fetch' }
      expect((await visitor.open('/app/token', { method: 'POST', headers })).status).to.equal(401)
    } finally {
      Object.assign(globalThis, { fetch })
      Date.now = now
    }
  })
})

interface Token {
  readonly access_token: string
  readonly expires_in: number
}

/** A browser with its cookies at the page and at the provider. */
class Visitor {
  jar = new Map<string, string>()

  constructor(
    readonly handlers: ReturnType<typeof signInPage>,
    private readonly origin: string,
  ) {}

  /** Another browser. */
  anonymous(): Visitor {
    return new Visitor(this.handlers, this.origin)
  }

  copy(): Visitor {
    const copy = this.anonymous()
    copy.jar = new Map(this.jar)
    return copy
  }

  cookies(): string {
    return [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  async open(path: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(path, this.origin)
    const headers = { origin: this.origin, cookie: this.cookies(), ...(init.headers as object) }
    const found = this.handlers.find(({ pattern }) => pattern === url.pathname)
    if (found === undefined) throw new TypeError(`nothing serves ${path}`)
    const handler = found.handler as (request: Request) => Promise<Response>
    const response = await handler(new Request(url, { ...init, headers }))
    keep(this.jar, response)
    return response
  }

  async text(path: string): Promise<string> {
    return (await this.open(path)).text()
  }

  async token(): Promise<Token> {
    const headers = { 'x-requested-with': 'fetch' }
    return (await (await this.open('/app/token', { method: 'POST', headers })).json()) as Token
  }

  async signIn(sub: string): Promise<void> {
    expect((await this.open(await this.begin(sub))).headers.get('location')).to.equal('/app')
  }

  /** Begins to sign in and chooses a user. Returns the callback, which finishes the sign-in. */
  async begin(sub: string): Promise<string> {
    const jar = new Map<string, string>()
    const go = async (path: string, init: RequestInit = {}) => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const url = new URL(path, base)
      const headers = { ...(init.headers as object), cookie }
      const response = await fetch(url, { redirect: 'manual', ...init, headers })
      keep(jar, response)
      return response.headers.get('location') ?? ''
    }
    const base = (await this.open('/login')).headers.get('location') ?? ''
    const chooser = await go(base)
    const { origin } = new URL(base)
    const chosen = { method: 'POST', body: new URLSearchParams({ sub }), headers: { origin } }
    const { pathname, search } = new URL(await go(await go(chooser, chosen)))
    return pathname + search
  }
}

function keep(jar: Map<string, string>, { headers }: Response): void {
  for (const cookie of headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    if (value === '') jar.delete(name)
    else jar.set(name, value)
  }
}

async function listening(handler: RequestListener, port = 0): Promise<Server> {
  const server = createServer(handler).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
