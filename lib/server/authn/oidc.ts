import type { JSONWebKeySet, JWTVerifyOptions } from 'jose'
import type { Principal } from '../../context.js'
import { Unauthenticated } from '../../errors.js'
import { type AccessTokenMark, requireAccessToken } from './access-token.js'
import type { Authenticator } from './authenticator.js'
import { jsonLogger, type Logger } from '../observability/logger.js'
import { type ClaimMapping, toPrincipal } from './claims.js'
import { KeyFetchLog } from './key-fetch-log.js'
import type { KeySource } from './key-set.js'
import { assertSafe, keysAt, keysOfIssuer } from './key-source.js'
import { usableKeys } from './usable-key.js'

/**
 * Algorithms whose signatures only the issuer can create. Shared secrets and `none` are excluded deliberately
 * and cannot be enabled.
 */
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

const ACCESS_TOKENS = ['', 'JWT', 'at+jwt']

const LEEWAY_SECONDS = 30

/** Options of `oidc`. */
export interface OidcOptions {
  /** Must equal the token's `iss`. An https address, or http on the local host. */
  readonly issuer: string
  /** The token's `aud` must contain at least one of these values. */
  readonly audience: string | readonly string[]
  /** Default: the address in the issuer's OpenID configuration. */
  readonly jwksUri?: string
  /** Fixed keys, used instead of an address. */
  readonly jwks?: JSONWebKeySet
  /** Default: all supported asymmetric algorithms. */
  readonly algorithms?: readonly string[]
  /**
   * Accepted `typ` values, compared without case; `''` accepts tokens without `typ`. Default: `''`, `JWT` and
   * `at+jwt` (RFC 9068). Tokens of another type (`logout+jwt`, `secevent+jwt`, `dpop+jwt`) are rejected.
   */
  readonly types?: readonly string[]
  /**
   * Recognizes your own issuer's access tokens by their claims. It is called for a token that has no mark of
   * an ID token and none of these marks of an access token: `typ: at+jwt` in the header, a `scope` or `scp`
   * claim, or the claims that Entra, Cognito, Okta, Keycloak or Auth0 write into access tokens.
   */
  readonly accessTokenMark?: AccessTokenMark
  /**
   * If true, the authenticator also accepts ID tokens, which state who signed in rather than what a caller
   * may do, and tokens without a mark. Default false: a token must have a mark of an access token and none of
   * an ID token (`at_hash`, `c_hash`, `s_hash`, `urn:openid:params:jwt:claim:rt_hash`, `nonce`, `typ: ID` in
   * Keycloak, `token_use: id` in Cognito).
   */
  readonly idTokens?: boolean
  readonly claims?: ClaimMapping
  /**
   * Receives key fetch failures and the first rejected token without a mark. Default: the server's logger.
   */
  readonly logger?: Logger
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch
  /** Default: the system clock. */
  readonly now?: () => Date
}

/**
 * Returns an authenticator for JSON Web Tokens of an OpenID provider (RFC 7519, RFC 8725). It verifies
 * issuer, audience and expiry, with 30 seconds of leeway. Keys are cached and follow the provider's rotation.
 * @throws TypeError if an option is unsafe.
 * @example
 * ```ts
 * import { oidc } from 'ashlar'
 *
 * const authenticator = oidc({
 *   issuer: 'https://login.example.com',
 *   audience: 'widgets',
 *   claims: { tenant: 'org_id' },
 * })
 * ```
 */
export const oidc = (options: OidcOptions): Authenticator => {
  const {
    issuer,
    audience,
    types = ACCESS_TOKENS,
    claims = {},
    idTokens = false,
    accessTokenMark,
    now = () => new Date(),
  } = options
  if (types.length === 0) throw new TypeError('oidc: types is empty, so no token would be accepted')
  if (idTokens && accessTokenMark !== undefined)
    throw new TypeError('oidc: idTokens ignores accessTokenMark: remove one of them')
  const algorithms = algorithmsOf(options)
  const source = sourceOf(options, algorithms)
  const verification: JWTVerifyOptions = {
    issuer,
    audience: audiencesOf(audience),
    algorithms,
    clockTolerance: LEEWAY_SECONDS,
    requiredClaims: ['exp', 'iss', 'aud'],
  }
  // Imported on demand, so that servers without OIDC start faster.
  const clock = () => now().getTime()
  let logger = options.logger
  const log = new KeyFetchLog(issuer, () => (logger ??= jsonLogger()), clock)
  const verifier = import('./token-verifier.js').then(
    ({ TokenVerifier }) => new TokenVerifier(source, clock, verification, types, log),
  )
  verifier.catch(() => {}) // `authenticate` reports the failure to its caller
  let isLogged = false
  const logUnmarked = (): void => {
    if (isLogged) return
    isLogged = true
    ;(logger ??= jsonLogger()).warn({ issuer }, UNMARKED)
  }
  return {
    bearerFormat: 'JWT',
    async authenticate(token, credentials): Promise<Principal> {
      logger ??= credentials.logger
      // Lenient base64 decoders accept several forms of one token. This accepts only one.
      if (!COMPACT_JWS.test(token)) throw new Unauthenticated()
      return (await verifier).verify(token, now(), (payload, header) => {
        if (!idTokens) requireAccessToken(payload, header, accessTokenMark, logUnmarked)
        return toPrincipal(payload, claims)
      })
    },
  }
}

const UNMARKED =
  'oidc: a token was rejected because nothing shows that it is an access token: if the issuer marks its access tokens with its own claim, set the option accessTokenMark'

const COMPACT_JWS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

const sourceOf = (
  { issuer, jwks, jwksUri, ...options }: OidcOptions,
  algorithms: readonly string[],
): KeySource => {
  assertSafe('issuer', issuer)
  const fetchIt = options.fetch ?? fetch
  if (jwks !== undefined) return async () => ({ keys: usableKeys(jwks, algorithms) })
  if (jwksUri === undefined) return keysOfIssuer(issuer, algorithms, fetchIt)
  assertSafe('jwksUri', jwksUri)
  return keysAt(jwksUri, algorithms, fetchIt)
}

const audiencesOf = (audience: string | readonly string[]): string[] => {
  const audiences = [audience].flat().filter((one) => one !== '')
  if (audiences.length === 0)
    throw new TypeError('oidc: audience is empty, so any token of the issuer would be accepted')
  return audiences
}

const algorithmsOf = ({ algorithms = ASYMMETRIC }: OidcOptions): string[] => {
  const wrong = algorithms.filter((algorithm) => !ASYMMETRIC.includes(algorithm))
  if (wrong.length > 0 || algorithms.length === 0) {
    throw new TypeError(`oidc: algorithms [${algorithms.join(', ')}]: use some of ${ASYMMETRIC.join(', ')}`)
  }
  return [...algorithms]
}
