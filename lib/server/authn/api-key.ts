import { ANONYMOUS, type Principal } from '../../context.js'
import { Unauthenticated } from '../../errors.js'
import type { Authenticator, Credentials } from './authenticator.js'

/** The result of a repository's `verify<Field>`. */
export type ApiKeyVerification<R> =
  { readonly ok: true; readonly record: R } | { readonly ok: false; readonly record: undefined }

/** Options for `apiKey`. */
export interface ApiKeyOptions<R> {
  /** Looks up a key among all tenants, for example `(token) => keys.verifyApiKey(token)`. */
  readonly verify: (token: string, credentials: Credentials) => Promise<ApiKeyVerification<R>>
  /** Builds the principal from the verified record. The principal's tenant becomes the tenant of the call. */
  readonly principal: (record: R) => Pick<Principal, 'subject' | 'tenant'> & Partial<Principal>
}

/**
 * Returns an authenticator for API keys that are stored as credential fields of a resource.
 * @throws Unauthenticated if the key is unknown, wrong or expired, or if its record is deleted. The error
 *   does not reveal which.
 * @example
 * ```ts
 * import { apiKey } from 'ashlar'
 * import type { ApiKeyVerification } from 'ashlar/server'
 *
 * interface Robots {
 *   verifyApiKey(token: string): Promise<ApiKeyVerification<{ id: string; accountId: string }>>
 * }
 *
 * export const robotKeys = (robots: Robots) =>
 *   apiKey({
 *     verify: (token) => robots.verifyApiKey(token),
 *     principal: ({ id, accountId }) => ({ subject: `robot:${id}`, tenant: accountId }),
 *   })
 * ```
 */
export const apiKey = <R>({ verify, principal }: ApiKeyOptions<R>): Authenticator => ({
  bearerFormat: 'API key',
  async authenticate(token, credentials) {
    const { ok, record } = await verify(token, credentials)
    if (!ok) throw new Unauthenticated('invalid API key')
    return { ...ANONYMOUS, ...principal(record) }
  },
})
