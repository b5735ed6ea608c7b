import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { endGrant } from '../state/adapter.js'
import { AMR } from './token-claims.js'
import { SESSION_SECONDS } from './configuration.js'
import type { ProviderContext } from './provider-context.js'

type Session = InstanceType<Provider['Session']>

/** Returns true if the session was saved. Only then it has an expiry. */
const isKept = ({ exp }: Session): boolean => Number.isFinite(exp)

/** The browser's session, which the app dashboard and the authorization endpoint share. */
export class Sessions {
  constructor(
    private readonly provider: Provider,
    private readonly context: ProviderContext,
  ) {}

  /** Returns the `sub` of the signed-in user. */
  async subOf(request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
    const { accountId } = await this.#session(request, response)
    return accountId !== undefined && this.context.user(accountId) !== undefined ? accountId : undefined
  }

  /**
   * Signs in at the app dashboard. Ends another user's session. A sign-in always changes the session's id.
   */
  async signIn(request: IncomingMessage, response: ServerResponse, sub: string): Promise<void> {
    const session = await this.#session(request, response)
    if (session.accountId !== undefined && session.accountId !== sub) this.#forgetApps(session)
    session.loginAccount({ accountId: sub, loginTs: this.context.now(), amr: AMR })
    if (isKept(session)) session.resetIdentifier()
    await session.save(SESSION_SECONDS)
    this.#setCookie(request, response, session.jti)
  }

  /**
   * Ends another user's session in this browser, so that an authorization request can continue as the new
   * user.
   */
  async leaveFor(request: IncomingMessage, response: ServerResponse, sub: string): Promise<void> {
    const session = await this.#session(request, response)
    if (session.accountId === undefined || session.accountId === sub) return
    this.#forgetApps(session)
    Object.assign(session, { accountId: undefined, loginTs: undefined, amr: undefined })
    await session.save(SESSION_SECONDS)
  }

  async signOut(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = await this.#session(request, response)
    if (isKept(session)) {
      this.#forgetApps(session)
      await session.destroy()
    }
    this.#setCookie(request, response, null)
  }

  /** Ends grants without offline access, which end with the session. */
  #forgetApps(session: Session): void {
    for (const { grantId, persistsLogout } of Object.values(session.authorizations ?? {}))
      if (grantId !== undefined && persistsLogout !== true) endGrant(this.context.state, grantId)
    Object.assign(session, { authorizations: undefined })
  }

  #session(request: IncomingMessage, response: ServerResponse): Promise<Session> {
    return this.provider.Session.get(this.provider.createContext(request, response) as never)
  }

  #setCookie(request: IncomingMessage, response: ServerResponse, id: string | null): void {
    const { cookies } = this.provider.createContext(request, response)
    cookies.set(this.provider.cookieName('session'), id, {
      httpOnly: true,
      sameSite: 'lax',
      path: '/',
      signed: true,
      secure: this.context.issuer.startsWith('https:'),
      ...(id === null ? {} : { maxAge: SESSION_SECONDS * 1000 }),
    })
  }
}
