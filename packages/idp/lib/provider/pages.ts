import type { IncomingMessage, ServerResponse } from 'node:http'
import { errors, type Provider } from 'oidc-provider'
import { originsOf } from '../clients/origins.js'
import { chooserPage } from '../pages/chooser.js'
import { launchpadPage } from '../pages/launchpad.js'
import { consentPage, errorPage } from '../pages/notices.js'
import { documentOf, type Page, policyOf } from '../pages/page.js'
import { AMR } from './token-claims.js'
import type { ProviderContext } from './provider-context.js'
import { formOf } from '../http/request-body.js'
import { textOf } from './parameter-text.js'
import { Sessions } from './sessions.js'

const INTERACTION = /^\/interaction\/([\w-]{1,64})$/
const READ = ['GET', 'HEAD']
const FORM = [...READ, 'POST']
const METHODS: ReadonlyMap<string, readonly string[]> = new Map([
  ['/', READ],
  ['/launchpad.json', READ],
  ['/sign-in', FORM],
  ['/sign-out', ['POST']],
])

/** Serves the provider's own pages: the app dashboard, the account picker, and the forms of both. */
export class Pages {
  readonly #sessions: Sessions

  constructor(
    private readonly provider: Provider,
    private readonly context: ProviderContext,
  ) {
    this.#sessions = new Sessions(provider, context)
  }

  /** Returns the methods of one of these pages, or undefined for other paths. */
  static methodsOf(path: string): readonly string[] | undefined {
    return METHODS.get(path) ?? (INTERACTION.test(path) ? FORM : undefined)
  }

  /** Responds to a request for one of the pages with one of its methods. */
  async respond(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const isRead = request.method !== 'POST'
    const uid = INTERACTION.exec(path)?.[1]
    if (uid !== undefined) return this.#interaction(request, response, path, uid, isRead)
    if (path === '/sign-in')
      return isRead ? this.#chooser(request, response) : this.#signIn(request, response)
    if (path === '/sign-out') {
      await this.#sessions.signOut(request, response)
      return redirect(response, '/')
    }
    return path === '/' ? this.#launchpad(request, response) : this.#launchpadData(request, response)
  }

  async #launchpad(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sub = await this.#sessions.subOf(request, response)
    const user = sub === undefined ? undefined : this.context.user(sub)
    sendPage(
      response,
      200,
      launchpadPage({ user, tiles: this.context.tiles(), problems: this.context.problems() }),
    )
  }

  async #launchpadData(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sub = await this.#sessions.subOf(request, response)
    const user = sub === undefined ? undefined : this.context.user(sub)
    sendJson(response, 200, {
      user:
        user === undefined
          ? null
          : { sub: user.sub, name: user.name, email: user.email, tenant: user.tenant },
      apps: this.context.tiles().map(({ clientId, name, description, iconUrl, launchUrl }) => ({
        client_id: clientId,
        name,
        description,
        icon_url: iconUrl,
        launch_url: launchUrl,
      })),
      problems: this.context.problems(),
    })
  }

  async #chooser(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const current = await this.#sessions.subOf(request, response)
    const users = this.context.users()
    const chooser = {
      users,
      action: '/sign-in',
      app: undefined,
      hint: undefined,
      current,
      back: '/',
      formOrigins: [],
    }
    sendPage(response, 200, chooserPage(chooser))
  }

  async #signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sub = (await formOf(request)).get('sub')
    if (sub === undefined || this.context.user(sub) === undefined)
      return sendPage(response, 400, errorPage('This user no longer exists.', undefined))
    await this.#sessions.signIn(request, response, sub)
    redirect(response, '/')
  }

  async #interaction(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    uid: string,
    isRead: boolean,
  ): Promise<void> {
    const details = await this.#detailsOf(request, response, uid)
    if (details === undefined)
      return sendPage(
        response,
        400,
        errorPage(
          'This sign-in began in another browser, has ended or has expired.',
          'Start again in the app.',
        ),
      )
    const { prompt, params, session } = details
    const clientId = textOf(params, 'client_id')
    const client = this.context.client(clientId)
    const app = client?.tile?.name.trim() || clientId
    const formOrigins = originsOf([textOf(params, 'redirect_uri'), ...(client?.redirectUris ?? [])])
    const user = session?.accountId === undefined ? undefined : this.context.user(session.accountId)
    const isConsent = prompt.name === 'consent' && user !== undefined
    if (isRead) {
      const hint = textOf(params, 'login_hint')
      const users = this.context.users()
      const page = isConsent
        ? consentPage(path, app, user.name, textOf(params, 'scope').split(' '), formOrigins)
        : chooserPage({ users, action: path, app, hint, current: user?.sub, back: undefined, formOrigins })
      return sendPage(response, 200, page)
    }
    const form = await formOf(request)
    if (form.has('cancel'))
      return this.#finish(request, response, {
        error: 'access_denied',
        error_description: 'The user cancelled the sign-in.',
      })
    if (isConsent) {
      if (form.get('consent') !== 'yes')
        return sendPage(response, 400, errorPage('The form is incomplete.', undefined))
      return this.#finish(request, response, { consent: {} })
    }
    const sub = form.get('sub')
    if (sub === undefined || this.context.user(sub) === undefined)
      return sendPage(response, 400, errorPage('This user no longer exists.', undefined))
    const login = { accountId: sub, amr: AMR, ts: this.context.now() }
    const returnTo = await this.provider.interactionResult(request, response, { login, select_account: {} })
    // End the session here. The library would end it with a form that a script submits.
    await this.#sessions.leaveFor(request, response, sub)
    redirect(response, returnTo)
  }

  /** Returns the interaction if this browser began it. */
  async #detailsOf(request: IncomingMessage, response: ServerResponse, uid: string) {
    try {
      const details = await this.provider.interactionDetails(request, response)
      return details.uid === uid ? details : undefined
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return undefined
      throw error
    }
  }

  async #finish(
    request: IncomingMessage,
    response: ServerResponse,
    result: Parameters<Provider['interactionResult']>[2],
  ): Promise<void> {
    redirect(response, await this.provider.interactionResult(request, response, result))
  }
}

export function sendPage(response: ServerResponse, status: number, page: Page): void {
  response.setHeader('content-security-policy', policyOf(page))
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(documentOf(page))
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(value)}\n`)
}

export function notAllowed(response: ServerResponse, allow: string): void {
  response.setHeader('allow', allow)
  sendJson(response, 405, { error: 'invalid_request', error_description: `use ${allow}` })
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location }).end()
}
