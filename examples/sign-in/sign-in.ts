import { setTimeout as wait } from 'node:timers/promises'
import * as openid from 'openid-client'
import { Cookies } from './cookies.js'
import { type Session, SESSION_SECONDS, Sessions } from './sessions.js'

/** Signing in to the page. */
export interface SignInOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Where the page is for browsers, such as `http://localhost:3000`. */
  readonly origin: string
}

/** A sign-in that did not take place. The message is for the person. */
export class NotSignedIn extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly cookies: readonly string[] = [],
  ) {
    super(message)
  }
}

/** A sign-in that began in a browser. A sealed cookie holds it, so other sign-ins cannot push it out. */
interface Attempt {
  readonly verifier: string
  readonly state: string
  readonly nonce: string
  readonly endsAt: number
}

const ATTEMPT_SECONDS = 600
/** As many sign-ins can be open in one browser: all cookies have to fit into the headers of a request. */
const MAX_ATTEMPTS = 10
const RETRY_AFTER_MS = 250
const TIMEOUT_SECONDS = 10
/** The user did not agree to sign in (RFC 6749, 4.1.2.1; OpenID Connect Core, 3.1.2.6). */
const DECLINED = /^(access_denied|(login|consent|interaction|account_selection)_required)$/

/** Sign-in by the authorization code flow with PKCE. */
export class SignIn {
  readonly #sessions = new Sessions()
  readonly #cookies: Cookies
  readonly #renewals = new Map<string, Promise<Session | undefined>>()
  #configuration: Promise<openid.Configuration> | undefined

  constructor(private readonly options: SignInOptions) {
    this.#cookies = new Cookies(options.origin)
  }

  /** Sends the browser to the provider. */
  async begin(request?: Request): Promise<Response> {
    const configuration = await this.#provider()
    const verifier = openid.randomPKCECodeVerifier()
    const [state, nonce] = [openid.randomState(), openid.randomNonce()]
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: `${this.options.origin}/callback`,
      scope: 'openid profile',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    const attempt: Attempt = { verifier, state, nonce, endsAt: Date.now() + ATTEMPT_SECONDS * 1000 }
    const name = attemptName(state)
    const sealed = this.#cookies.set(name, this.#cookies.seal(name, attempt), ATTEMPT_SECONDS)
    return redirect(url.href, sealed, ...this.#superfluous(request))
  }

  /** The browser is back from the provider. */
  async finish(request: Request): Promise<Response> {
    const { search, searchParams } = new URL(request.url)
    const name = attemptName(searchParams.get('state') ?? '')
    const attempt = this.#attemptOf(name, this.#cookies.valueOf(request, name))
    if (attempt === undefined) {
      if (this.sessionOf(request) !== undefined) return redirect('/app')
      throw new NotSignedIn('This sign-in began in another browser, has ended or is too old.', 400)
    }
    const callback = new URL(`${this.options.origin}/callback${search}`)
    const tokens = await openid
      .authorizationCodeGrant(await this.#provider(), callback, {
        pkceCodeVerifier: attempt.verifier,
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        idTokenExpected: true,
      })
      .catch((error: unknown) => {
        const ended = [this.#cookies.remove(name)]
        if (isInvalidGrant(error)) throw new NotSignedIn('This sign-in is used or too old.', 400, ended)
        if (!(error instanceof openid.AuthorizationResponseError)) throw error
        if (DECLINED.test(error.error)) throw new NotSignedIn('You did not sign in.', 200, ended)
        throw new TypeError(`the provider reports ${error.error} ${error.error_description ?? ''}`.trim())
      })
    const claims = tokens.claims()
    const subject = claims?.sub ?? ''
    const personName = claims?.['name']
    this.#sessions.delete(this.#cookies.valueOf(request, 'session'))
    const id = this.#sessions.add({
      subject,
      name: typeof personName === 'string' ? personName : subject,
      endsAt: Date.now() + SESSION_SECONDS * 1000,
      ...ofTokens(tokens),
    })
    return redirect('/app', this.#cookies.set('session', id, SESSION_SECONDS), this.#cookies.remove(name))
  }

  /** Ends the session here, and at the provider if it can be reached and ends sessions. */
  async end(request: Request): Promise<Response> {
    const session = this.sessionOf(request)
    this.#sessions.delete(this.#cookies.valueOf(request, 'session'))
    const ended = this.#cookies.remove('session')
    if (session?.idToken === undefined) return redirect('/app', ended)
    const parameters = {
      id_token_hint: session.idToken,
      post_logout_redirect_uri: `${this.options.origin}/app`,
    }
    const url = await this.#provider()
      .then((provider) => openid.buildEndSessionUrl(provider, parameters))
      .catch(() => undefined)
    return redirect(url?.href ?? '/app', ended)
  }

  sessionOf(request: Request): Session | undefined {
    return this.#sessions.get(this.#cookies.valueOf(request, 'session'))
  }

  /**
   * Returns the session with another access token than the one it was read with; undefined if the session has
   * ended. One renewal runs at a time: a provider may end the sign-in if a refresh token comes twice.
   */
  async renew(request: Request, read: Session): Promise<Session | undefined> {
    const id = this.#cookies.valueOf(request, 'session') ?? ''
    const current = this.#sessions.get(id)
    if (current?.accessToken !== read.accessToken) return current
    const running =
      this.#renewals.get(id) ?? this.#renew(id, current).finally(() => this.#renewals.delete(id))
    this.#renewals.set(id, running)
    return running
  }

  async #renew(id: string, session: Session): Promise<Session | undefined> {
    const tokens = await this.#refreshed(session)
    if (tokens === undefined) this.#sessions.delete(id)
    else this.#sessions.replace(id, session, { ...session, ...ofTokens(tokens, session) })
    return this.#sessions.get(id)
  }

  /** Undefined if the provider has ended the sign-in. An outage is retried once, and by later requests. */
  async #refreshed({ refreshToken }: Session): Promise<openid.TokenEndpointResponse | undefined> {
    if (refreshToken === undefined) return undefined
    const refresh = async () => openid.refreshTokenGrant(await this.#provider(), refreshToken)
    const again = async (error: unknown) => {
      // A refresh token may come once: a provider that is slow may have used it.
      if (isInvalidGrant(error) || (error as { readonly code?: string }).code === 'OAUTH_TIMEOUT') throw error
      await wait(RETRY_AFTER_MS)
      return refresh()
    }
    try {
      return await refresh().catch(again)
    } catch (error) {
      if (isInvalidGrant(error)) return undefined
      throw error
    }
  }

  #attemptOf(name: string, text = ''): Attempt | undefined {
    const attempt = this.#cookies.unseal(name, text) as Attempt | undefined
    return attempt !== undefined && attempt.endsAt > Date.now() ? attempt : undefined
  }

  /** Removes the cookies of sign-ins that have ended, and of the oldest ones if there are too many. */
  #superfluous(request: Request | undefined): readonly string[] {
    if (request === undefined) return []
    const names = [...this.#cookies.startingWith(request, ATTEMPT)]
      .map(([name, text]) => ({ name, endsAt: this.#attemptOf(name, text)?.endsAt ?? 0 }))
      .sort((a, b) => b.endsAt - a.endsAt)
      .filter(({ endsAt }, index) => endsAt === 0 || index >= MAX_ATTEMPTS - 1)
    return names.map(({ name }) => this.#cookies.remove(name))
  }

  #provider(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret } = this.options
    const execute = issuer.startsWith('http:') ? [openid.allowInsecureRequests] : []
    const found = (this.#configuration ??= openid.discovery(
      new URL(issuer),
      clientId,
      clientSecret,
      undefined,
      { execute, timeout: TIMEOUT_SECONDS },
    ))
    // The provider may start later than this service.
    found.catch(() => (this.#configuration = undefined))
    return found
  }
}

const ATTEMPT = 'attempt_'
const attemptName = (state: string): string => ATTEMPT + state.slice(0, 16)

const isInvalidGrant = (error: unknown): boolean =>
  error instanceof openid.ResponseBodyError && error.error === 'invalid_grant'

/** The part that a session keeps of a response with tokens. A provider may leave out a token that it does not change. */
const ofTokens = (
  { access_token, expires_in, refresh_token, id_token }: openid.TokenEndpointResponse,
  before?: Session,
) => ({
  accessToken: access_token,
  expiresAt: Date.now() + (expires_in ?? 300) * 1000,
  refreshToken: refresh_token ?? before?.refreshToken,
  idToken: id_token ?? before?.idToken,
})

function redirect(location: string, ...cookies: readonly string[]): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store' })
  for (const one of cookies) headers.append('set-cookie', one)
  return new Response(null, { status: 303, headers })
}
