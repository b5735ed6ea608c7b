import {
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose'
import { AshlarError, Unauthenticated } from '../../errors.js'
import type { KeyFetchLog } from './key-fetch-log.js'
import { KeySet, type KeySource } from './key-set.js'

export class TokenVerifier {
  readonly #keys: KeySet
  readonly #verification: JWTVerifyOptions
  readonly #types: ReadonlySet<string | undefined>

  /**
   * @param now - milliseconds since the epoch.
   * @param types - accepted `typ` values; `''` is a token without one.
   */
  constructor(
    source: KeySource,
    now: () => number,
    verification: JWTVerifyOptions,
    types: readonly string[],
    log: KeyFetchLog,
  ) {
    this.#keys = new KeySet(source, now, log)
    this.#verification = verification
    this.#types = new Set(types.map((type) => (type === '' ? undefined : mediaType(type))))
  }

  /**
   * Verifies the token and returns the result of `read` for its claims and header.
   * @throws Unauthenticated if the token is invalid, Unavailable if no keys have been fetched yet.
   */
  async verify<T>(
    token: string,
    currentDate: Date,
    read: (payload: JWTPayload, header: JWTHeaderParameters) => T,
  ): Promise<T> {
    try {
      const { payload, protectedHeader } = await verified(token, this.#keys, {
        ...this.#verification,
        currentDate,
      })
      // The issuer signs other token types, such as logout tokens, with the same keys.
      if (!this.#types.has(typeOf(protectedHeader.typ))) throw new TypeError('the token has another type')
      checkTimes(payload)
      return read(payload, protectedHeader)
    } catch (error) {
      if (error instanceof AshlarError) throw error
      throw new Unauthenticated(messageOf(error), error)
    }
  }
}

const typeOf = (typ: unknown): string | undefined =>
  typ === undefined ? undefined : typeof typ === 'string' ? mediaType(typ) : ''

/** Expands a short media type: `JWT` stands for `application/jwt` (RFC 7515 section 4.1.9). */
const mediaType = (type: string): string => (type.includes('/') ? type : `application/${type}`).toLowerCase()

/**
 * Rejects times that are not safe integers. JSON parses `1e999` as Infinity, which would be a token that
 * never expires.
 */
const checkTimes = ({ exp, nbf, iat }: JWTPayload): void => {
  for (const time of [exp, nbf, iat] as readonly unknown[]) {
    if (time === undefined) continue
    if (typeof time !== 'number' || !(Math.abs(time) <= Number.MAX_SAFE_INTEGER))
      throw new TypeError('a time of the token is not a number of seconds')
  }
}

const verified = async (token: string, keys: KeySet, options: JWTVerifyOptions): Promise<JWTVerifyResult> => {
  try {
    return await jwtVerify(token, keys.find, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    return verifyWithAny(token, error, options)
  }
}

/** Tries every candidate key, because a token without `kid` may be signed by any of them. */
const verifyWithAny = async (
  token: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> => {
  for await (const key of candidates) {
    try {
      return await jwtVerify(token, key, options)
    } catch (error) {
      // An unusable key counts as one that did not sign. A claim error means that the signature was correct.
      if (CLAIM_ERRORS.some((kind) => error instanceof kind)) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}

const CLAIM_ERRORS = [errors.JWTClaimValidationFailed, errors.JWTExpired, errors.JWTInvalid]

const messageOf = (error: unknown): string =>
  error instanceof errors.JWTExpired ? 'the bearer token has expired' : 'invalid bearer token'
