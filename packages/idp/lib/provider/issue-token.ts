import type { Provider } from 'oidc-provider'
import { Failure } from '../idp-failure.js'
import { ACCESS_TOKEN_SECONDS } from './configuration.js'
import type { ProviderContext } from './provider-context.js'
import { grantedScopes, OPENID_SCOPES, resourceOf } from './scopes.js'

/** An access token that was issued without a sign-in. */
export interface IssuedToken {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly scope: string
}

/**
 * Issues an access token of the user for the client. Without `scope` it has all scopes that the user may
 * have.
 *
 * @throws Failure if the files do not contain the user or client.
 */
export async function issueToken(
  provider: Provider,
  context: ProviderContext,
  request: { readonly user: string; readonly client: string; readonly scope: string | undefined },
): Promise<IssuedToken> {
  const user = context.user(request.user)
  if (user === undefined)
    throw unknown(
      'user',
      request.user,
      'idp-users.yaml',
      context.users().map(({ sub }) => sub),
    )
  const client = context.client(request.client) && (await provider.Client.find(request.client))
  if (client === undefined)
    throw unknown(
      'client',
      request.client,
      'idp-clients.yaml or idp-clients.local.yaml',
      context.clients().map(({ id }) => id),
    )
  const wanted = request.scope?.split(/\s+/).filter((scope) => scope !== '')
  const scopes = grantedScopes(user, wanted ?? ['openid', ...(user.scopes ?? [])])
  const refused = wanted?.filter((scope) => !scopes.includes(scope)) ?? []
  if (refused.length > 0)
    throw new Failure(`${user.sub} may not have the scope ${refused.join(' ')}: add it to the user's scopes`)
  const resource = resourceOf(client.clientId)
  const grant = new provider.Grant({ accountId: user.sub, clientId: client.clientId })
  grant.addOIDCScope(scopes.filter((scope) => OPENID_SCOPES.includes(scope)).join(' '))
  grant.addResourceScope(resource, scopes.join(' '))
  grant.exp = context.now() + ACCESS_TOKEN_SECONDS
  const grantId = await grant.save()
  const token = new provider.AccessToken({
    accountId: user.sub,
    client,
    grantId,
    gty: 'development',
  } as never)
  const ResourceServer = provider.ResourceServer as unknown as new (id: string, info: object) => never
  token.resourceServer = new ResourceServer(resource, {
    audience: client.clientId,
    scope: scopes.join(' '),
    accessTokenFormat: 'jwt',
    accessTokenTTL: ACCESS_TOKEN_SECONDS,
    jwt: { sign: { alg: 'RS256' } },
  })
  const scope = scopes.join(' ')
  token.scope = scope
  return { access_token: await token.save(), token_type: 'Bearer', expires_in: ACCESS_TOKEN_SECONDS, scope }
}

function unknown(what: string, name: string, file: string, known: readonly string[]): Failure {
  const list = known.length === 0 ? 'none exists yet' : `there are ${known.slice(0, 20).join(', ')}`
  return new Failure(`there is no ${what} "${name}": ${list}. Add it to ${file}, or name another`)
}
