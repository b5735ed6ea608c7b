import type { JsonObject } from '../../openapi/source/source.js'
import { identityOf, type ResolvedConfig } from '../config/config.js'

/** OpenAPI security schemes, and the combinations that a call needs. */
export interface Security {
  readonly schemes: Readonly<Record<string, JsonObject>>
  readonly requirements: readonly (readonly string[])[]
}

/**
 * Returns the schemes of a server's authenticator and principal function. An application's own function
 * cannot be described.
 */
export const securityOf = (config: ResolvedConfig): Security => {
  const { openapi } = config.gateway
  const own = typeof openapi === 'object' ? openapi.securitySchemes : undefined
  if (own !== undefined) return { schemes: own, requirements: Object.keys(own).map((name) => [name]) }
  const { authenticator } = config
  if (authenticator !== undefined) {
    const { bearerFormat } = authenticator
    return {
      schemes: {
        bearer: { type: 'http', scheme: 'bearer', ...(bearerFormat !== undefined && { bearerFormat }) },
      },
      requirements: [['bearer']],
    }
  }
  if (identityOf(config) !== 'headers') return { schemes: {}, requirements: [] }
  return { schemes: DEVELOPMENT, requirements: [Object.keys(DEVELOPMENT)] }
}

const inHeader = (name: string, description: string): JsonObject => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
})

/** The headers that `devPrincipal` trusts. */
const DEVELOPMENT = {
  'account-id': inHeader('account-id', 'The tenant. For development: any client can send it.'),
  groups: inHeader('groups', 'The groups of the caller, separated by commas. For development.'),
  subject: inHeader('subject', 'The subject of the caller. For development.'),
}
