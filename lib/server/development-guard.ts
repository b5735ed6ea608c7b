import { problem, type Problem } from '../errors.js'
import { DevAuthorizer } from './authz/dev-authorizer.js'
import { devPrincipal } from './authn/dev-principal.js'
import type { ResolvedConfig } from './config/config.js'
import { isDevelopment } from './config/development.js'
import type { Registry } from './methods/registry.js'

export const FOR_DEVELOPMENT = 'for development only (set allowDevelopment, or NODE_ENV=development)'

/**
 * Returns a problem for each part of the server that is for development only. Returns none if NODE_ENV is
 * `development` or `test`, or if the configuration allows such parts.
 */
export const developmentProblems = (
  config: ResolvedConfig,
  registry: Registry,
  environment: string | undefined,
): readonly Problem[] => {
  if (config.allowDevelopment || isDevelopment(environment)) return []
  const { authorizer } = config
  return [
    ...(config.principalFunc === devPrincipal
      ? [problem('development', 'devPrincipal trusts headers that any client can send')]
      : []),
    ...(authorizer instanceof DevAuthorizer && authorizer.grants.length > 0
      ? [problem('development', 'devAuthorizer has grants', 'use roleAuthorizer, or your own Authorizer')]
      : []),
    ...(config.explainDenials
      ? [problem('development', 'explainDenials shows callers why they were denied')]
      : []),
    ...registry
      .services()
      .filter(({ typeName }) => !config.reflection && typeName.startsWith('grpc.reflection.'))
      .map(({ typeName }) =>
        problem(
          'development',
          `${typeName} reveals the served services to everyone`,
          'set reflection if that is intended',
        ),
      ),
    ...registry
      .repositories()
      .filter(({ isForDevelopment }) => isForDevelopment === true)
      .map(({ model }) =>
        problem(
          'development',
          `the repository of ${model.type} encrypts its secrets with newDev`,
          'use newVaultTransit',
        ),
      ),
  ]
}
