import { randomBytes } from 'node:crypto'
import * as openid from 'openid-client'

/** How a person signs in to the page. */
export interface SignInOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Where the page is for browsers, such as `http://localhost:3000`. */
  readonly origin: string
}

/** Somebody who has signed in. The tokens stay on the server: the browser has a cookie alone. */
export interface Session {
  readonly name: string
  readonly tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers
}

interface Begun {
  readonly verifier: string
  readonly state: string
  readonly nonce: string
}

/** As many are remembered. The oldest goes first. */
const MOST = 1_000

/** Sign-in by the authorization code flow with PKCE, with sessions in the memory of this process. */
export class SignIn {
  readonly #begun = new Map<string, Begun>()
  readonly #sessions = new Map<string, Session>()
  #configuration: Promise<openid.Configuration> | undefined

  constructor(private readonly options: SignInOptions) {}

  /** Sends the browser to the provider. */
  async begin(): Promise<Response> {
    const configuration = await this.#provider()
    const [id, verifier] = [newId(), openid.randomPKCECodeVerifier()]
    const [state, nonce] = [openid.randomState(), openid.randomNonce()]
    keep(this.#begun, id, { verifier, state, nonce })
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: `${this.options.origin}/callback`,
      scope: 'openid profile',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    return redirect(url.href, cookie('begun', id))
  }

  /** The browser is back from the provider. */
  async finish(request: Request): Promise<Response> {
    const id = cookieOf(request, 'begun')
    const begun = this.#begun.get(id)
    this.#begun.delete(id)
    if (begun === undefined) return redirect('/login')
    const { search } = new URL(request.url)
    const tokens = await openid.authorizationCodeGrant(
      await this.#provider(),
      new URL(`${this.options.origin}/callback${search}`),
      {
        pkceCodeVerifier: begun.verifier,
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        idTokenExpected: true,
      },
    )
    const session = newId()
    const name = tokens.claims()?.['name']
    keep(this.#sessions, session, { name: typeof name === 'string' ? name : '', tokens })
    return redirect('/app', cookie('session', session), cookie('begun', ''))
  }

  /** Ends the session, here and at the provider. */
  async end(request: Request): Promise<Response> {
    const id = cookieOf(request, 'session')
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    if (session?.tokens.id_token === undefined) return redirect('/app', cookie('session', ''))
    const url = openid.buildEndSessionUrl(await this.#provider(), {
      id_token_hint: session.tokens.id_token,
      post_logout_redirect_uri: `${this.options.origin}/app`,
    })
    return redirect(url.href, cookie('session', ''))
  }

  sessionOf(request: Request): Session | undefined {
    return this.#sessions.get(cookieOf(request, 'session'))
  }

  /** New tokens for the session; undefined when the provider has ended it. */
  async renew(request: Request): Promise<Session | undefined> {
    const id = cookieOf(request, 'session')
    const session = this.#sessions.get(id)
    if (session?.tokens.refresh_token === undefined) return undefined
    try {
      const tokens = await openid.refreshTokenGrant(await this.#provider(), session.tokens.refresh_token)
      const renewed = { ...session, tokens: { ...session.tokens, ...tokens } as Session['tokens'] }
      keep(this.#sessions, id, renewed)
      return renewed
    } catch {
      this.#sessions.delete(id)
      return undefined
    }
  }

  #provider(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret } = this.options
    const execute = issuer.startsWith('http:') ? [openid.allowInsecureRequests] : []
    const found = (this.#configuration ??= openid.discovery(
      new URL(issuer),
      clientId,
      clientSecret,
      undefined,
      {
        execute,
      },
    ))
    // The provider may start later than this service.
    found.catch(() => (this.#configuration = undefined))
    return found
  }
}

const newId = (): string => randomBytes(32).toString('base64url')

function keep<T>(map: Map<string, T>, id: string, value: T): void {
  const [oldest] = map.keys()
  if (map.size >= MOST && oldest !== undefined) map.delete(oldest)
  map.set(id, value)
}

/** Lax: the browser sends them when it comes back from the provider, and not with forms of other sites. */
const cookie = (name: string, value: string): string =>
  `${cookieName(name)}=${value}; Path=/; HttpOnly; SameSite=Lax${value === '' ? '; Max-Age=0' : ''}`

const cookieName = (name: string): string => `sign_in_${name}`

const cookieOf = (request: Request, name: string): string =>
  (request.headers.get('cookie') ?? '')
    .split('; ')
    .find((one) => one.startsWith(`${cookieName(name)}=`))
    ?.slice(cookieName(name).length + 1) ?? ''

function redirect(location: string, ...cookies: readonly string[]): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store' })
  for (const one of cookies) headers.append('set-cookie', one)
  return new Response(null, { status: 303, headers })
}
