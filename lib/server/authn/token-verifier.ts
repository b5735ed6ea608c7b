import { errors, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose'
import { AshlarError, Unauthenticated } from '../../errors.js'
import { KeySet, type KeySource } from './key-set.js'

/** Verifies JSON Web Tokens with the keys of one source. */
export class TokenVerifier {
  readonly #keys: KeySet
  readonly #verification: JWTVerifyOptions

  /** @param now - milliseconds since the epoch. */
  constructor(source: KeySource, now: () => number, verification: JWTVerifyOptions) {
    this.#keys = new KeySet(source, now)
    this.#verification = verification
  }

  /**
   * What `read` makes of the claims.
   * @throws Unauthenticated for a token that is not good, Unavailable while no key was ever to be had.
   */
  async verify<T>(token: string, currentDate: Date, read: (payload: JWTPayload) => T): Promise<T> {
    try {
      return read(await verified(token, this.#keys, { ...this.#verification, currentDate }))
    } catch (error) {
      if (error instanceof AshlarError) throw error
      throw new Unauthenticated(messageOf(error), error)
    }
  }
}

const verified = async (token: string, keys: KeySet, options: JWTVerifyOptions): Promise<JWTPayload> => {
  try {
    return (await jwtVerify(token, keys.find, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    return verifyWithAny(token, error, options)
  }
}

/** A token without `kid` may be signed by any of the keys that fit. */
const verifyWithAny = async (
  token: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JWTPayload> => {
  for await (const key of candidates) {
    try {
      return (await jwtVerify(token, key, options)).payload
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}

const messageOf = (error: unknown): string =>
  error instanceof errors.JWTExpired ? 'the bearer token has expired' : 'invalid bearer token'
