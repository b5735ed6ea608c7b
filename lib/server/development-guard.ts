import { DeclarationError, problem } from '../errors.js'
import { DevAuthorizer } from './authz/dev-authorizer.js'
import { devPrincipal } from './authn/dev-principal.js'
import type { ResolvedConfig } from './config/config.js'
import { isDevelopment } from './config/development.js'
import type { Registry } from './methods/registry.js'

/**
 * Refuses to serve with development parts, unless NODE_ENV is `development` or `test` or the configuration
 * allows it.
 */
export const developmentGuard = (
  config: ResolvedConfig,
  registry: Registry,
  environment: string | undefined,
): void => {
  if (config.allowDevelopment || isDevelopment(environment)) return
  const { authorizer } = config
  const problems = [
    ...(config.principalFunc === devPrincipal
      ? [problem('development', 'devPrincipal believes headers that any client can send')]
      : []),
    ...(authorizer instanceof DevAuthorizer && authorizer.grants.length > 0
      ? [
          problem(
            'development',
            'devAuthorizer has grants',
            'use roleAuthorizer, or an Authorizer of your own',
          ),
        ]
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
          'set reflection if it shall',
        ),
      ),
    ...registry
      .repositories()
      .filter(({ isForDevelopment }) => isForDevelopment === true)
      .map(({ model }) =>
        problem(
          'development',
          `the repository of ${model.type} keeps its secrets with newDev`,
          'use newVaultTransit',
        ),
      ),
  ]
  if (problems.length === 0) return
  throw new DeclarationError('for development only (set allowDevelopment, or NODE_ENV=development)', problems)
}
