import { type AdapterFactory, type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider'
import type { Keys } from '../state/keys.js'
import { accessClaims, identityClaims } from './token-claims.js'
import type { ProviderContext } from './provider-context.js'
import { textOf } from './parameter-text.js'
import { policyOfPrompts } from './interaction-policy.js'
import { grantedScopes, OPENID_SCOPES, resourceOf } from './scopes.js'
import { sourcesOfPages } from './library-pages.js'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
export const SESSION_SECONDS = 14 * DAY
/**
 * The lifetime of access tokens. It is short, because a service that verifies tokens itself accepts a revoked
 * one until it expires.
 */
export const ACCESS_TOKEN_SECONDS = 5 * MINUTE

/** Returns the configuration of oidc-provider. */
export function configurationOf(
  context: ProviderContext,
  keys: Keys,
  adapter: AdapterFactory,
): Configuration {
  const pages = sourcesOfPages(context)
  return {
    adapter,
    jwks: keys.jwks as NonNullable<Configuration['jwks']>,
    cookies: {
      keys: keys.cookieKeys,
      names: cookieNames(context.issuer),
      long: { httpOnly: true, sameSite: 'lax', path: '/' },
      short: { httpOnly: true, sameSite: 'lax' },
    },
    scopes: [...OPENID_SCOPES],
    claims: {
      openid: ['sub', 'apps', 'amr', 'auth_time'],
      profile: ['name'],
      email: ['email'],
    },
    conformIdTokenClaims: false,
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    pkce: { required: () => true },
    // A redirect address in the authorization request is then required in the token request, too.
    allowOmittingSingleRegisteredRedirectUri: false,
    clientBasedCORS: () => false,
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async (_ctx, source) => !source.scopes.has('offline_access'),
    interactions: { policy: policyOfPrompts(), url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: MINUTE,
      DeviceCode: 10 * MINUTE,
      Grant: SESSION_SECONDS,
      IdToken: HOUR,
      Interaction: HOUR,
      RefreshToken: SESSION_SECONDS,
      Session: SESSION_SECONDS,
    },
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true, ...pages.deviceFlow },
      introspection: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => client.clientId === token.clientId,
      },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => client.clientId === token.clientId,
      },
      rpInitiatedLogout: { enabled: true, ...pages.logout },
      userinfo: { enabled: true },
      claimsParameter: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_ctx, client) => resourceOf(client.clientId),
        useGrantedResource: async () => true,
        getResourceServerInfo: async (ctx, resource, client) => {
          if (resource !== resourceOf(client.clientId))
            throw new errors.InvalidTarget(
              'the audience is always the client ID: omit the parameter resource',
            )
          return {
            audience: client.clientId,
            scope: possibleScopes(ctx, context).join(' '),
            accessTokenFormat: 'jwt',
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
            jwt: { sign: { alg: 'RS256' } },
          }
        },
      },
    },
    findAccount: async (_ctx, sub) => {
      const user = context.user(sub)
      if (user === undefined) return undefined
      return { accountId: sub, claims: async () => identityClaims(context, user) }
    },
    loadExistingGrant: (ctx) => grantOf(ctx, context),
    extraTokenClaims: async (ctx, token) => {
      const user = 'accountId' in token ? context.user(String(token.accountId)) : undefined
      return user && accessClaims(user, authTimeOf(ctx) ?? context.now())
    },
    formats: {
      customizers: {
        // The library does not store signed tokens. Introspection, revocation and userinfo find this entry
        // instead.
        jwt: async (_ctx, token, { payload }) => {
          const { accountId, clientId, grantId, sessionUid, expiresWithSession, sid, gty, scope, extra } =
            token as unknown as Record<string, unknown>
          const entry = {
            accountId,
            clientId,
            grantId,
            sessionUid,
            expiresWithSession,
            sid,
            gty,
            scope,
            extra,
          }
          const { jti, iat, exp, aud } = payload
          context.state.store.set(
            'AccessToken',
            String(jti),
            { ...entry, kind: 'AccessToken', jti, iat, exp, aud },
            Number(exp),
          )
          await context.state.written()
        },
      },
    },
    renderError: pages.renderError,
  }
}

/**
 * Returns the names of cookies. Browsers share cookies between ports, and two providers may run on one
 * machine. With https, the prefix prevents another host of the domain from setting the cookie of a session
 * that it knows.
 */
function cookieNames(issuer: string) {
  const { port, protocol } = new URL(issuer)
  const name = `ashlar_idp_${port || 'default'}`
  const [ofHost, ofPath] = protocol === 'https:' ? ['__Host-', '__Secure-'] : ['', '']
  return {
    session: `${ofHost}${name}_session`,
    interaction: `${ofPath}${name}_interaction`,
    resume: `${ofPath}${name}_resume`,
  }
}

/**
 * Returns the possible scopes of a token: when it is issued, the granted scopes that the user may have;
 * before that, the requested scopes.
 */
function possibleScopes(ctx: KoaContextWithOIDC | undefined, context: ProviderContext): readonly string[] {
  const { Account, Grant } = ctx?.oidc.entities ?? {}
  const user = Account && context.user(Account.accountId)
  const asked = `${textOf(ctx?.oidc.params, 'scope')} ${Object.values(Grant?.resources ?? {}).join(' ')}`
  const wanted = [...OPENID_SCOPES, ...asked.split(' ').filter((scope) => scope !== '')]
  return user === undefined ? [...new Set(wanted)] : grantedScopes(user, wanted)
}

/**
 * Returns the session's grant for the client. It contains everything the user may have, without asking, and
 * rejects the rest.
 */
async function grantOf(ctx: KoaContextWithOIDC, context: ProviderContext) {
  const { client, session, provider } = ctx.oidc
  const user = session?.accountId === undefined ? undefined : context.user(session.accountId)
  if (client === undefined || session === undefined || user === undefined) return undefined
  const known = session.grantIdFor(client.clientId)
  const found = known === undefined ? undefined : await provider.Grant.find(known)
  const isUsable = found !== undefined && found.accountId === user.sub && found.clientId === client.clientId
  const grant = isUsable ? found : new provider.Grant({ accountId: user.sub, clientId: client.clientId })
  const wanted = [...ctx.oidc.requestParamScopes]
  const granted = grantedScopes(user, wanted)
  delete grant.rejected
  const resource = resourceOf(client.clientId)
  grant.addOIDCScope(granted.filter((scope) => OPENID_SCOPES.includes(scope)).join(' '))
  grant.addResourceScope(resource, granted.join(' '))
  const refused = wanted.filter((scope) => !granted.includes(scope))
  if (refused.length > 0) grant.rejectResourceScope(resource, refused.join(' '))
  await grant.save()
  return grant
}

/** Returns the time of the sign-in, according to the redeemed code or token. */
function authTimeOf(ctx: KoaContextWithOIDC | undefined): number | undefined {
  const { AuthorizationCode, RotatedRefreshToken, RefreshToken, DeviceCode } = ctx?.oidc.entities ?? {}
  const source = AuthorizationCode ?? RotatedRefreshToken ?? RefreshToken ?? DeviceCode
  return source?.authTime
}
