import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { errorPage } from '../pages/notices.js'
import { respelled } from './access-tokens.js'
import type { ProviderContext } from './provider-context.js'
import { notAllowed, Pages, sendJson, sendPage } from './pages.js'
import { bodyOf, withBody } from '../http/request-body.js'
import { type Refusal, RequestGuard, setSafeHeaders } from './request-guard.js'

/**
 * The endpoints to which an app may post parameters with a user's browser (OpenID Connect Core, 3.1.2.1;
 * RP-Initiated Logout, 2). Browsers send no cookies with such a form, so it is redirected to a GET.
 */
const POSTED = ['/auth', '/session/end']
/** The parameters become a request line, which Node.js bounds. */
const MAX_POSTED_BYTES = 8 * 1024

/** The paths that accept POST requests from other origins, because clients call these endpoints. */
const NO_FORMS = ['/token', '/token/introspection', '/token/revocation', '/device/auth', '/me']
/** Endpoints whose token parameter may be an access token. */
const TOKEN_ENDPOINTS = ['/token/introspection', '/token/revocation']
/** The paths whose responses pages of other origins may read. */
const PUBLIC = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/jwks']

/**
 * Returns the handler of every request. `library` is called each time, because a rotation of keys creates a
 * new one.
 */
export function handlerOf(context: ProviderContext, library: () => Provider): RequestListener {
  const guard = new RequestGuard(context.issuer, context.host)
  const { host, protocol } = new URL(context.issuer)
  return (request, response) => {
    setSafeHeaders(response)
    void respond(request, response).catch((error: unknown) => fail(context, request, response, error))
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const refusal = guard.refuseHost(request)
    if (refusal !== undefined) return refuse(request, response, refusal)
    if (path === '/healthz' || path === '/readyz') return health(request, response)
    const elsewhere = guard.elsewhere(request)
    if (elsewhere !== undefined) return void response.writeHead(307, { location: elsewhere }).end()
    atTheIssuer(request)
    const { method = '' } = request
    const ofPage = Pages.methodsOf(path)
    if (ofPage !== undefined && !ofPage.includes(method)) return notAllowed(response, ofPage.join(', '))
    if (method === 'OPTIONS' && !PUBLIC.includes(path)) return notAllowed(response, 'GET, HEAD, POST')
    if (method === 'POST' && POSTED.includes(canonical(path))) return getInstead(request, response)
    if (method === 'POST' && !NO_FORMS.includes(path)) {
      const foreign = guard.refuseForeignForm(request)
      if (foreign !== undefined) return refuse(request, response, foreign)
    }
    const provider = library()
    if (ofPage !== undefined) return new Pages(provider, context).respond(request, response, path)
    const isTokenEndpoint = method === 'POST' && TOKEN_ENDPOINTS.includes(canonical(path))
    const passed = isTokenEndpoint ? withBody(request, respelledForm(await bodyOf(request))) : request
    await provider.callback()(passed, response)
  }

  async function getInstead(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', context.issuer)
    // Keep a parameter that is sent twice; the library rejects it.
    for (const [name, value] of new URLSearchParams(await bodyOf(request, MAX_POSTED_BYTES)))
      searchParams.append(name, value)
    response.writeHead(303, { location: `${context.issuer}${pathname}?${searchParams}` }).end()
  }

  /** Sets the headers from which the library derives addresses to the issuer's, regardless of the request. */
  function atTheIssuer({ headers }: IncomingMessage): void {
    for (const name of Object.keys(headers))
      if (/^(x-forwarded-.*|forwarded)$/.test(name)) delete headers[name]
    headers.host = host
    headers['x-forwarded-proto'] = protocol.slice(0, -1)
  }
}

/** Returns true for the endpoints that pages of other origins may call. The others have no CORS headers. */
export const isPublic = (path: string): boolean => PUBLIC.includes(path)

/** Returns a path in lower case without a trailing slash, because the library accepts all these forms. */
const canonical = (path: string): string => path.toLowerCase().replace(/\/$/, '')

function respelledForm(body: string): string {
  const fields = new URLSearchParams(body)
  const tokens = fields.getAll('token')
  if (tokens.length === 1) fields.set('token', respelled(tokens[0] ?? ''))
  return fields.toString()
}

function health(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === 'GET' || request.method === 'HEAD') return sendJson(response, 200, { status: 'ok' })
  notAllowed(response, 'GET, HEAD')
}

function refuse(request: IncomingMessage, response: ServerResponse, { status, message }: Refusal): void {
  if ((request.headers.accept ?? '').includes('text/html'))
    return sendPage(response, status, errorPage(message, undefined))
  sendJson(response, status, { error: 'invalid_request', error_description: message })
}

function fail(
  context: ProviderContext,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  if (response.headersSent) return void response.destroy()
  if (error instanceof RangeError)
    return sendJson(response, 413, { error: 'invalid_request', error_description: error.message })
  // A client that disconnects during its request is not an error of the provider.
  if (request.destroyed && !request.complete) return void response.destroy()
  context.warn(String((error as Error).stack))
  sendJson(response, 500, { error: 'server_error' })
}
