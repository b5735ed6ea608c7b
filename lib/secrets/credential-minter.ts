import { randomBytes, timingSafeEqual } from 'node:crypto'
import { InvalidArgument, SecretUnreadable } from '../errors.js'
import { base62Length, randomBase62 } from './encoding/base62.js'
import { decodeBase64 } from './encoding/base64.js'
import {
  AlgoSHA512_256,
  type Algorithm,
  derived,
  fastHash,
  type HashSpec,
  hashWith,
  parseHashSpec,
  unsupported,
  workOf,
} from './hash-spec.js'
import { slowChecks } from './slow-checks.js'
import type { StoredCredential } from './stored-credential.js'

/** The default prefix of tokens. */
export const DefaultPrefix = 'ib'
/** The default number of random bits in a token. */
export const DefaultSecretBits = 256

const PUBLIC_ID_BITS = 128
const SALT_BYTES = 16
const MIN_SECRET_BITS = 128
const MAX_SECRET_BITS = 2048
/**
 * The maximum length of a token, far more than any has. Longer strings are rejected before they are searched
 * for separators.
 */
const MAX_TOKEN_LENGTH = 1024
const PREFIX = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$/
const ID_AND_SECRET = /^[A-Za-z0-9]+_[A-Za-z0-9]+$/

/** Options of a `CredentialMinter`. */
export interface MinterOptions {
  /** The prefix of tokens, such as the product's name. Default: {@link DefaultPrefix}, also if empty. */
  readonly prefix?: string
  /**
   * The hash parameters of new credentials; existing ones keep their own. Default: {@link AlgoSHA512_256}.
   */
  readonly spec?: HashSpec
  /**
   * The number of random bits, from 128 to 2048. Default: {@link DefaultSecretBits}, also if not positive.
   */
  readonly secretBits?: number
  /** The source of randomness. Default: Node's `crypto.randomBytes`. Tests can pass known bytes. */
  readonly randomBytes?: (size: number) => Uint8Array
}

/** A new credential: the token is shown once, and the rest is stored. */
export interface MintedCredential {
  /** The token, which is given to the client once and cannot be recovered. */
  readonly token: string
  readonly stored: StoredCredential
}

/** The parts of a token. */
export interface ParsedToken {
  readonly prefix: string
  readonly publicId: string
  readonly secret: string
}

/** Options of a new credential. */
export interface CredentialOptions {
  /** Cancels the wait for a PBKDF2 derivation. */
  readonly signal?: AbortSignal | undefined
}

/** Options of a check. @inline */
export interface CheckOptions extends CredentialOptions {
  /**
   * Returns the hash parameters of stored credentials, some of which may be new to the minter. Called after a
   * failed check. The minter knows its own parameters and those of the credentials that it has checked.
   */
  readonly specs?: () => Promise<readonly HashSpec[]> | undefined
  /**
   * The token's public id. Only a few checks of one public id may wait, whether the id exists or not.
   * Default: the stored credential's public id, or the secret if the id is unknown.
   */
  readonly publicId?: string
}

/**
 * Mints and verifies tokens `<prefix>_<public id>_<secret>`. Only a salted hash is stored. All arguments are
 * optional.
 *
 * @throws RangeError if the prefix, the hash parameters or the number of bits are invalid.
 * @example
 * ```ts
 * import { CredentialMinter } from 'ashlar'
 *
 * const minter = new CredentialMinter({ prefix: 'acme' })
 * const { token, stored } = await minter.mint()
 * const { publicId, secret } = minter.parse(token)
 * console.log(publicId === stored.publicId, await minter.verify(secret, stored))
 * ```
 */
export class CredentialMinter {
  readonly prefix: string
  readonly spec: HashSpec
  readonly secretBits: number
  readonly #randomBytes: (size: number) => Uint8Array
  /**
   * A stored credential that no secret matches and whose verification takes as long as a real one's.
   * Undefined if hashes are slow.
   */
  readonly #decoy: StoredCredential | undefined
  /** The work of the most expensive known hash parameters. It never decreases. */
  #mostExpensive: number

  constructor(options: MinterOptions = {}) {
    this.prefix = options.prefix || DefaultPrefix
    this.spec = Object.freeze({ algo: options.spec?.algo || AlgoSHA512_256 })
    this.secretBits = secretBitsOf(options.secretBits ?? 0)
    this.#randomBytes = options.randomBytes ?? randomBytes
    if (!PREFIX.test(this.prefix)) {
      throw new RangeError(
        'prefix: 1 to 32 characters of A-Z a-z 0-9 _ -, with a letter or digit at both ends',
      )
    }
    const algorithm = parseHashSpec(this.spec)
    if (algorithm === undefined) throw new RangeError(`spec.algo: ${unsupported(this.spec).message}`)
    this.#mostExpensive = workOf(algorithm)
    this.#decoy =
      this.#mostExpensive > 0 ? undefined : { publicId: '', ...randomHash(algorithm), spec: this.spec }
  }

  /** Mints a token, and returns it with the values to store. */
  async mint(options: CredentialOptions = {}): Promise<MintedCredential> {
    const publicId = randomBase62(base62Length(PUBLIC_ID_BITS), this.#randomBytes)
    const secret = randomBase62(base62Length(this.secretBits), this.#randomBytes)
    const salt = Buffer.from(this.#randomBytes(SALT_BYTES))
    const hash = await hashWith(this.spec, salt, secret, options.signal)
    return {
      token: `${this.prefix}_${publicId}_${secret}`,
      stored: { publicId, salt: salt.toString('base64'), hash: hash.toString('base64'), spec: this.spec },
    }
  }

  /**
   * Returns the parts of a token with any prefix. The caller must compare the prefix with `minter.prefix`.
   *
   * @throws InvalidArgument if the token is malformed. The error does not contain it.
   */
  parse(token: string): ParsedToken {
    if (typeof token !== 'string' || token.length > MAX_TOKEN_LENGTH) throw malformed()
    // Search from the right, because a prefix may contain the separator but the other two parts cannot.
    const secretAt = token.lastIndexOf('_')
    const publicIdAt = token.lastIndexOf('_', secretAt - 1)
    const prefix = token.slice(0, Math.max(publicIdAt, 0))
    if (prefix !== this.prefix && !PREFIX.test(prefix)) throw malformed()
    if (!ID_AND_SECRET.test(token.slice(publicIdAt + 1))) throw malformed()
    const publicId = token.slice(publicIdAt + 1, secretAt)
    const secret = token.slice(secretAt + 1)
    return { prefix, publicId, secret }
  }

  /**
   * Returns true if `secret` belongs to `stored`. Compares in constant time. Verifying a wrong secret takes
   * as long as the most expensive hash parameters in use, regardless of its own.
   *
   * @throws SecretUnreadable if a stored field is malformed or the algorithm is unsupported, never for a
   *   mere mismatch.
   * @throws Unavailable if too many checks wait for slow hashes: 100, or 4 of one public id.
   */
  async verify(secret: string, stored: StoredCredential, options: CheckOptions = {}): Promise<boolean> {
    return this.#verify(options.publicId ?? stored.publicId, secret, stored, options)
  }

  /**
   * Verifies a secret with an unknown public id. Returns false after the time that a wrong secret takes, so
   * that timing does not reveal which ids exist.
   *
   * @throws Unavailable like `verify`.
   */
  async verifyUnknown(secret: string, options: CheckOptions = {}): Promise<boolean> {
    const publicId = options.publicId ?? secret
    return this.#decoy === undefined
      ? this.#fail(publicId, secret, 0, options)
      : this.#verify(publicId, secret, this.#decoy, options)
  }

  async #verify(
    publicId: string,
    secret: string,
    stored: StoredCredential,
    options: CheckOptions,
  ): Promise<boolean> {
    const algorithm = parseHashSpec(stored.spec)
    if (algorithm === undefined) throw unsupported(stored.spec)
    const salt = bytesOf(stored.salt, 'salt')
    const expected = bytesOf(stored.hash, 'hash')
    if (expected.length !== algorithm.length)
      throw new SecretUnreadable('the stored hash has the wrong length')
    const work = workOf(algorithm)
    this.#learn(work)
    if (algorithm.digest !== 'pbkdf2')
      return (
        timingSafeEqual(fastHash(algorithm.digest, salt, secret), expected) ||
        this.#fail(publicId, secret, work, options)
      )
    // Read the value once, so that all callers that share this check use the same one.
    const mostExpensive = this.#mostExpensive
    const check = async (): Promise<boolean> => {
      if (timingSafeEqual(await derived(algorithm, salt, secret), expected)) return true
      // Runs in the same turn, so that it waits no longer than a check of an unknown public id.
      await takeWork(secret, mostExpensive - work)
      return false
    }
    const hash = `${stored.spec.algo} ${stored.salt} ${stored.hash}`
    return (
      (await slowChecks.run({ publicId, secret, hash }, check, options.signal)) ||
      this.#fail(publicId, secret, mostExpensive, options)
    )
  }

  #learn(work: number): void {
    if (work > this.#mostExpensive) this.#mostExpensive = work
  }

  /**
   * Performs the rest of a failed check's work.
   * @param done - the work already performed.
   */
  async #fail(publicId: string, secret: string, done: number, options: CheckOptions): Promise<false> {
    for (const spec of (await options.specs?.()) ?? []) {
      const algorithm = parseHashSpec(spec)
      if (algorithm !== undefined) this.#learn(workOf(algorithm))
    }
    const left = this.#mostExpensive - done
    const work = async (): Promise<false> => {
      await takeWork(secret, left)
      return false
    }
    if (left > 0) await slowChecks.run({ publicId, secret, hash: '' }, work, options.signal)
    return false
  }
}

const NO_SALT = new Uint8Array(SALT_BYTES)

const takeWork = async (secret: string, iterations: number): Promise<void> => {
  if (iterations > 0) await derived({ digest: 'pbkdf2', iterations, length: 32 }, NO_SALT, secret)
}

function secretBitsOf(bits: number): number {
  if (bits <= 0) return DefaultSecretBits
  if (Number.isInteger(bits) && bits >= MIN_SECRET_BITS && bits <= MAX_SECRET_BITS) return bits
  throw new RangeError(
    `secretBits: an integer from ${MIN_SECRET_BITS} to ${MAX_SECRET_BITS}, or 0 for the default`,
  )
}

const randomHash = (algorithm: Algorithm) => ({
  salt: randomBytes(SALT_BYTES).toString('base64'),
  hash: randomBytes(algorithm.length).toString('base64'),
})

const malformed = (): InvalidArgument =>
  new InvalidArgument('', 'the token is malformed: expected <prefix>_<public id>_<secret>')

function bytesOf(text: unknown, field: string): Buffer {
  const bytes = typeof text === 'string' && text !== '' ? decodeBase64(text) : undefined
  if (bytes === undefined) throw new SecretUnreadable(`the stored ${field} is not base64`)
  return bytes
}
