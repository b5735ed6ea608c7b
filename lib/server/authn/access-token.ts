import type { JWTHeaderParameters, JWTPayload } from 'jose'
import { Unauthenticated } from '../../errors.js'

/** Recognizes the access tokens of one issuer by their verified claims. @inline */
export type AccessTokenMark = (claims: JWTPayload) => boolean

/**
 * Claims that bind an ID token to the request it responds to (OpenID Connect Core, 2 and 3.3.2.11; FAPI 1.0,
 * part 2, 5.1.1; CIBA, 10.3.1). Access tokens do not have them, except `nonce` in Keycloak before 25.
 */
const OF_ID_TOKENS = ['at_hash', 'c_hash', 's_hash', 'urn:openid:params:jwt:claim:rt_hash', 'nonce']

/** Checks that mark a token as an access token. Each follows a standard or one provider's profile. */
const MARKS: readonly AccessTokenMark[] = [
  // RFC 9068 (2.2.3) and RFC 8693 (4.2), and the lists of Entra and Okta
  ({ scope, scp }) => hasText(scope) || hasText(scp),
  // Entra: an application without a user has roles instead of scopes
  ({ roles, appid, azp }) => hasText(roles) && (hasText(appid) || hasText(azp)),
  // Cognito
  ({ token_use }) => token_use === 'access',
  // Okta
  ({ cid }) => hasText(cid),
  // Keycloak
  ({ typ }) => typ === 'Bearer',
  // Auth0
  ({ gty }) => hasText(gty),
  // Auth0 with RBAC and without scopes. Auth0 also writes `permissions` if the caller has none.
  ({ iss, permissions }) => isOf(iss, AUTH0) && Array.isArray(permissions),
  // Entra: an application without roles
  ({ iss, idtyp }) => isOf(iss, ENTRA) && idtyp === 'app',
]

/**
 * Issuer hosts or host suffixes. The marks apply only to these hosts because another provider may write the
 * same claims into ID tokens.
 */
const AUTH0 = ['.auth0.com']
const ENTRA = [
  ...['login.microsoftonline.com', 'login.microsoftonline.us', 'login.partner.microsoftonline.cn'],
  ...['sts.windows.net', 'sts.chinacloudapi.cn', '.ciamlogin.com'],
]

const isOf = (issuer: string | undefined, hosts: readonly string[]): boolean => {
  if (issuer === undefined || !URL.canParse(issuer)) return false
  const { hostname } = new URL(issuer)
  return hosts.some((host) => (host.startsWith('.') ? hostname.endsWith(host) : hostname === host))
}

/**
 * Rejects ID tokens, refresh tokens, and tokens that do not identify themselves as access tokens, because an
 * ID token need not carry a mark of its own. `ofIssuer` recognizes claims that only this issuer writes.
 * `onUnmarked` is called before a token without a mark is rejected.
 * @throws Unauthenticated with a message that says which token to send.
 */
export const requireAccessToken = (
  claims: JWTPayload,
  { typ }: JWTHeaderParameters,
  ofIssuer: AccessTokenMark | undefined,
  onUnmarked: () => void,
): void => {
  if (isIdToken(claims))
    throw new Unauthenticated('the bearer token is an ID token: send the access token that came with it')
  if (saysOneOf(claims['typ'], REFRESH))
    throw new Unauthenticated('the bearer token is a refresh token: send the access token that came with it')
  if (isAccessType(typ) || MARKS.some((mark) => mark(claims))) return
  // Requires exactly `true`: a promise is truthy.
  if (ofIssuer?.(claims) === true) return
  onUnmarked()
  throw new Unauthenticated('the bearer token does not show that it is an access token: send an access token')
}

const isIdToken = (claims: JWTPayload): boolean =>
  saysOneOf(claims['typ'], ID) ||
  saysOneOf(claims['token_use'], ID) ||
  OF_ID_TOKENS.some(
    (claim) => Object.hasOwn(claims, claim) && !(claim === 'nonce' && claims['typ'] === 'Bearer'),
  )

const ID = ['id']
/** Keycloak's `typ` values for refresh tokens, which also carry a scope. */
const REFRESH = ['refresh', 'offline']

const saysOneOf = (value: unknown, types: readonly string[]): boolean =>
  typeof value === 'string' && types.includes(value.toLowerCase())

/** Returns true if `typ` is an access token type of RFC 9068 (2.1). */
const isAccessType = (typ: unknown): boolean =>
  typeof typ === 'string' && /^(application\/)?at\+jwt$/i.test(typ)

/** Returns true for a string or a list that contains visible characters. An empty claim proves nothing. */
const hasText = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((one) => typeof one === 'string' && hasText(one))
    : typeof value === 'string' && value.trim() !== ''
