import type { HTTPHandler } from '../../lib/index.js'
import type { Session } from './sessions.js'
import { NotSignedIn, SignIn, type SignInOptions } from './sign-in.js'

export interface PageOptions extends SignInOptions {
  /** The address of the service for this process, such as `http://127.0.0.1:3000`. */
  readonly api: () => string
  /**
   * Serves `POST /app/token`, by which scripts of the page get the access token for calls by Connect. Every
   * script of the origin can then read it. Default: false.
   */
  readonly tokenRoute?: boolean
}

/** A page that signs a user in and lists the widgets of their tenant. It calls the service as any other client does. */
export function signInPage(options: PageOptions): readonly HTTPHandler[] {
  const signIn = new SignIn(options)
  const { host } = new URL(options.origin)
  const guarded =
    (method: string, handler: (request: Request) => Promise<Response>) => async (request: Request) => {
      const url = new URL(request.url)
      // Cookies belong to one name of this machine.
      if (request.method === 'GET' && url.host !== host)
        return Response.redirect(`${options.origin}${url.pathname}${url.search}`, 307)
      if (request.method !== method) return new Response(null, { status: 405, headers: { allow: method } })
      const site = request.headers.get('sec-fetch-site') ?? 'same-origin'
      if (method === 'POST' && (request.headers.get('origin') !== options.origin || site !== 'same-origin'))
        return new Response('The request does not come from a page of this origin.', { status: 403 })
      return handler(request).catch((error: unknown) => {
        const isDeclined = error instanceof NotSignedIn
        const message = isDeclined ? error.message : `That did not work: ${reasonOf(error)}`
        const response = page(
          html`<p role="alert">${message}</p>
            ${BEGIN}`,
          isDeclined ? error.status : 502,
        )
        for (const cookie of isDeclined ? error.cookies : []) response.headers.append('set-cookie', cookie)
        return response
      })
    }
  return [
    { pattern: '/app', handler: guarded('GET', (request) => show(request)) },
    { pattern: '/app/widgets', handler: guarded('POST', (request) => add(request)) },
    { pattern: '/login', handler: guarded('GET', (request) => signIn.begin(request)) },
    { pattern: '/callback', handler: guarded('GET', (request) => signIn.finish(request)) },
    { pattern: '/logout', handler: guarded('POST', (request) => signIn.end(request)) },
    ...(options.tokenRoute === true
      ? [{ pattern: '/app/token', handler: guarded('POST', (request) => token(request)) }]
      : []),
  ]

  async function show(request: Request): Promise<Response> {
    const session = signIn.sessionOf(request)
    if (session === undefined)
      return page(
        html`<p>You are not signed in.</p>
          ${BEGIN}`,
      )
    const body = await call(request, session, '/v1/widgets')
    if (body === undefined)
      return page(
        html`<p>Your session has ended.</p>
          ${BEGIN}`,
      )
    const { widgets = [] } = body as { widgets?: readonly { id: string; displayName: string }[] }
    return page(
      html`<p>You are <strong>${session.name}</strong>.</p>
        <form method="post" action="/logout"><button>Sign out</button></form>
        <h2>Widgets of your tenant</h2>
        ${
          widgets.length === 0
            ? html`<p>There is none yet.</p>`
            : html`<ul>
                ${widgets.map(({ displayName }) => html`<li>${displayName}</li>`)}
              </ul>`
        }
        <form method="post" action="/app/widgets">
          <label for="name">Name of a new widget</label
          ><input id="name" name="name" required maxlength="60" /><button>Add</button>
        </form>`,
    )
  }

  async function add(request: Request): Promise<Response> {
    const name = new URLSearchParams(await request.text()).get('name') ?? ''
    const session = signIn.sessionOf(request)
    if (session !== undefined) await call(request, session, '/v1/widgets', { displayName: name, size: 1 })
    return new Response(null, { status: 303, headers: { location: '/app' } })
  }

  /** The access token, which a script sends to the service until shortly before it expires. */
  async function token(request: Request): Promise<Response> {
    // Pages of other origins cannot send this header without permission, which they do not get.
    if (request.headers.get('x-requested-with') === null)
      return Response.json({ error: 'Send the header X-Requested-With.' }, { status: 403, headers: NO_STORE })
    const read = signIn.sessionOf(request)
    // Without a refresh token, an access token is used until it expires.
    const least = read?.refreshToken === undefined ? 0 : FRESH_MS
    const isFresh = read !== undefined && read.expiresAt - Date.now() > least
    const session = read === undefined || isFresh ? read : await signIn.renew(request, read)
    if (session === undefined)
      return Response.json({ error: 'Nobody is signed in.' }, { status: 401, headers: NO_STORE })
    const expires_in = Math.floor((session.expiresAt - Date.now()) / 1000)
    return Response.json({ access_token: session.accessToken, expires_in }, { headers: NO_STORE })
  }

  /**
   * Calls the service with the person's access token, and once more with a new one. Undefined if the session
   * has ended.
   */
  async function call(request: Request, session: Session, path: string, body?: object): Promise<unknown> {
    let response = await send(session, path, body)
    if (response.status === 401) {
      const renewed = await signIn.renew(request, session)
      if (renewed === undefined) return undefined
      response = await send(renewed, path, body)
    }
    const value = (await response.json().catch(() => undefined)) as { message?: string } | null | undefined
    if (!response.ok || typeof value !== 'object' || value === null)
      throw new TypeError(value?.message ?? `the service responded with ${response.status}`)
    return value
  }

  function send({ accessToken }: Session, path: string, body?: object): Promise<Response> {
    return fetch(new URL(path, options.api()), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  function reasonOf(error: unknown): string {
    const { message } = error as Error
    const codes = codesOf(error)
    const isAway = codes.some((one) => /^E[A-Z_]+$/.test(one))
    if (codes[0]?.startsWith('OAUTH_') === true && !isAway)
      return `the provider ${options.issuer} did not respond as expected: ${message}`
    return isAway
      ? `the provider ${options.issuer} does not respond. Start it: npx ashlar-idp serve`
      : message
  }
}

/** The codes of an error and of what caused it, such as ECONNREFUSED of the operating system. */
function codesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return []
  const { code } = error as { readonly code?: unknown }
  return [...(typeof code === 'string' ? [code] : []), ...codesOf(error.cause)]
}

/** A token that expires sooner is not given to a script. */
const FRESH_MS = 60_000
const NO_STORE = { 'cache-control': 'no-store' }

const BEGIN = html`<p><a class="button" href="/login">Sign in</a></p>`

const STYLE = `:root{color-scheme:light dark;--ground:#f6f7f9;--ink:#17202b;--card:#fff;--line:#8a94a3;--accent:#1d5fd1;--on:#fff}
@media (prefers-color-scheme:dark){:root{--ground:#12161c;--ink:#e9edf2;--card:#1b212a;--line:#7b8796;--accent:#8bb4ff;--on:#0b1a33}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:40rem;margin:0 auto;padding:1rem}button,.button,input{min-height:2.75rem;padding:.5rem 1rem;border:1px solid var(--line);border-radius:.5rem;background:var(--card);color:var(--ink);font:inherit}
.button{display:inline-block;background:var(--accent);color:var(--on);text-decoration:none}label{display:block}input{width:100%;max-width:24rem;margin:.25rem .5rem .5rem 0}
li{padding:.35rem 0}:focus-visible{outline:3px solid var(--accent);outline-offset:2px}`

function page(body: Markup, status = 200): Response {
  const { markup } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Widgets</title>
        <style>
          ${{ markup: STYLE }}
        </style>
      </head>
      <body>
        <main>
          <h1>Widgets</h1>
          ${body}
        </main>
      </body>
    </html>`
  return new Response(markup, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
      // With no-referrer, browsers would hide the origin of forms.
      'referrer-policy': 'same-origin',
    },
  })
}

/** Markup that may be sent as it is. */
interface Markup {
  readonly markup: string
}

type Part = Markup | string | readonly Markup[]

/** Markup with values in it, which are escaped. */
function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const rendered = parts.map((part) =>
    typeof part === 'string'
      ? part.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
      : [part]
          .flat()
          .map(({ markup }) => markup)
          .join(''),
  )
  return { markup: strings.map((string, index) => string + (rendered[index] ?? '')).join('') }
}
