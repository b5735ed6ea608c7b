import { OwnStatusError } from '../../gateway/http/own-status-error.js'
import type { FetchHandler } from '../../gateway/routing/mux.js'
import type { SwaggerUi } from './swagger-ui.js'

/**
 * The path of the page. The page loads its files by relative addresses below this path, so that a proxy may
 * add a prefix.
 */
export const DOCS_PATH = '/docs'

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`

/**
 * Loads only the document next to the page. It ignores addresses in the page's query and uses no validator
 * service.
 */
const START = `SwaggerUIBundle({
  url: new URL('openapi.json', document.baseURI).href,
  dom_id: '#swagger-ui',
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
  tryItOutEnabled: true,
  deepLinking: true,
  displayRequestDuration: true,
})
`

/**
 * Returns the handler of the page and its files.
 * @param servers - additional addresses to which the page may send requests.
 */
export const docsPage = (ui: SwaggerUi, servers: readonly { readonly url: string }[]): FetchHandler => {
  const policy = policyFor(servers)
  const respond = (contentType: string, body: BodyInit): Response =>
    new Response(body, {
      headers: {
        'content-type': contentType,
        'content-security-policy': policy,
        'cache-control': 'no-cache',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      },
    })
  return async ({ url, method }) => {
    checkIsRead(method)
    const { pathname } = new URL(url)
    if (pathname === DOCS_PATH) return respond('text/html; charset=utf-8', HTML)
    if (pathname === `${DOCS_PATH}/`)
      return new Response(null, { status: 308, headers: { location: '../docs' } })
    const name = pathname.slice(DOCS_PATH.length + 1)
    if (name === 'start.js') return respond('text/javascript; charset=utf-8', START)
    const file = await ui(name)
    if (file === undefined) throw new OwnStatusError(404, 'NOT_FOUND', 'no such path')
    return respond(file.contentType, file.bytes)
  }
}

/** @throws OwnStatusError 405 unless the method is GET or HEAD. */
export const checkIsRead = (method: string): void => {
  if (method !== 'GET' && method !== 'HEAD')
    throw new OwnStatusError(405, 'UNIMPLEMENTED', 'the path supports GET and HEAD only', {
      allow: 'GET, HEAD',
    })
}

/**
 * Returns the page's content security policy. It permits the page's own origin and the document's servers.
 */
const policyFor = (servers: readonly { readonly url: string }[]): string => {
  const origins = servers.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).origin] : []))
  return [
    "default-src 'none'",
    "script-src 'self'",
    // Elements of the page have inline styles.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src ${[...new Set(["'self'", ...origins])].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
