import { DeclarationError, problem, type Problem } from '../../errors.js'
import type { GatewayMux } from '../../gateway/routing/mux.js'
import { literalPaths } from '../../openapi/literal-paths.js'
import type { ResolvedConfig } from '../config/config.js'
import { isDevelopment } from '../config/development.js'
import { checkIsRead, DOCS_PATH, docsPage } from './docs-page.js'
import { documentOf, type Registered } from './open-api.js'
import { swaggerUi } from './swagger-ui.js'

const OPENAPI_PATH = '/openapi.json'

/**
 * Mounts `/openapi.json` and `/docs` on the gateway if they are enabled.
 * @throws DeclarationError if they are enabled but cannot be served.
 */
export const describeApi = async (
  mux: GatewayMux,
  registered: Registered,
  config: ResolvedConfig,
): Promise<void> => {
  const { openapi, docs } = config.gateway
  // An app that contains the gateway may use these paths itself.
  const byDefault = isDevelopment() && config.httpAddr !== ''
  const taken = takenIn(mux, registered)
  const problems: Problem[] = []
  const wants = (asked: boolean, option: string, path: string): boolean => {
    if (!asked) return byDefault && !taken(path)
    if (taken(path))
      problems.push(
        problem(
          'gateway',
          `gateway: ${option} needs ${path}, which a handler or a rule already uses`,
          'remove one of them',
        ),
      )
    return true
  }
  const isAsked = (openapi !== undefined && openapi !== false) || docs === true
  if (openapi === false || !wants(isAsked, 'openapi', OPENAPI_PATH)) return
  const ui = docs === false || !wants(docs === true, 'docs', DOCS_PATH) ? undefined : swaggerUi()
  if (docs === true && ui === undefined)
    problems.push(
      problem('gateway', 'gateway: docs needs the package swagger-ui-dist', 'npm install swagger-ui-dist'),
    )
  if (problems.length > 0) throw new DeclarationError('server', problems)
  // Services do not change while the server runs. Explicitly enabled documents are built at startup, which
  // fails if they cannot be built.
  let made = isAsked ? await documentOf(config, registered) : undefined
  mux.handle(OPENAPI_PATH, async ({ method }) => {
    checkIsRead(method)
    made ??= await documentOf(config, registered)
    return new Response(made, { headers: HEADERS })
  })
  if (ui === undefined) return
  const page = docsPage(ui, typeof openapi === 'object' ? (openapi.servers ?? []) : [])
  mux.handle(DOCS_PATH, page).handle(`${DOCS_PATH}/`, page)
}

const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
}

const takenIn =
  (mux: GatewayMux, { registry }: Registered): ((path: string) => boolean) =>
  (path) =>
    mux.has(path) || mux.has(`${path}/`) || literalPaths(registry.services()).has(path)
