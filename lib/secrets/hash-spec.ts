import { hash, pbkdf2 } from 'node:crypto'
import { SecretUnreadable } from '../errors.js'
import { atMost } from '../bounds/at-most.js'

/**
 * The hash parameters of a credential's secret. They are stored with every credential, so that a new default
 * does not invalidate existing ones.
 */
export interface HashSpec {
  /**
   * The algorithm: {@link AlgoSHA512_256} (also if empty), {@link AlgoSHA384} or
   * `pbkdf2-sha256:<iters>:<keylen>`.
   */
  readonly algo: string
}

/** SHA-512/256. A fast hash is sufficient for a secret of 256 random bits. */
export const AlgoSHA512_256 = 'sha512-256'
/** SHA-384, another fast algorithm. */
export const AlgoSHA384 = 'sha384'

const MAX_ITERATIONS = 1_000_000
const MIN_KEY_LENGTH = 16
const MAX_KEY_LENGTH = 128
const PBKDF2 = /^pbkdf2-sha256:([1-9]\d{0,6}):([1-9]\d{0,2})$/

/** A parsed algorithm; `length` is the hash's length in bytes. */
export type Algorithm =
  | { readonly digest: 'sha512-256' | 'sha384'; readonly length: number }
  | { readonly digest: 'pbkdf2'; readonly iterations: number; readonly length: number }

const SHA512_256: Algorithm = { digest: 'sha512-256', length: 32 }
const SHA384: Algorithm = { digest: 'sha384', length: 48 }

/**
 * Parses hash parameters. Returns undefined if the algorithm is unknown or out of bounds (1 to 1,000,000
 * iterations, 16 to 128 bytes).
 */
export function parseHashSpec(spec: HashSpec): Algorithm | undefined {
  if (spec.algo === AlgoSHA512_256 || spec.algo === '') return SHA512_256
  if (spec.algo === AlgoSHA384) return SHA384
  const match = PBKDF2.exec(spec.algo)
  const iterations = Number(match?.[1])
  const length = Number(match?.[2])
  const isBounded = iterations <= MAX_ITERATIONS && length >= MIN_KEY_LENGTH && length <= MAX_KEY_LENGTH
  return isBounded ? { digest: 'pbkdf2', iterations, length } : undefined
}

/** The bytes in one block of a derivation. A longer key takes all iterations once per block. */
const BLOCK = 32

/**
 * Returns the work of a hash: PBKDF2 iterations, summed over blocks, at most 4,000,000. Returns 0 for a fast
 * hash.
 */
export const workOf = (algorithm: Algorithm): number =>
  algorithm.digest === 'pbkdf2' ? algorithm.iterations * Math.ceil(algorithm.length / BLOCK) : 0

/**
 * Returns the hash of the salt followed by the secret. Fast algorithms return it directly. PBKDF2, whose
 * password is the secret, returns a promise from the thread pool; at most two derivations run at a time in
 * the process.
 *
 * @throws SecretUnreadable if the algorithm is unsupported.
 */
export function hashWith(
  spec: HashSpec,
  salt: Uint8Array,
  secret: string,
  signal?: AbortSignal,
): Buffer | Promise<Buffer> {
  const algorithm = parseHashSpec(spec)
  if (algorithm === undefined) throw unsupported(spec)
  if (algorithm.digest !== 'pbkdf2') return fastHash(algorithm.digest, salt, secret)
  return derivations(() => derived(algorithm, salt, secret), signal)
}

/** Returns a fast hash synchronously. */
export function fastHash(digest: 'sha512-256' | 'sha384', salt: Uint8Array, secret: string): Buffer {
  // Convert the hash through a string, because creating a buffer in native code takes as long as the hash.
  return Buffer.from(hash(digest, concat(salt, secret), 'binary'), 'latin1')
}

/** Derives a PBKDF2 key in the thread pool. Call it in a turn of `derivations`. */
export const derived = (
  { iterations, length }: Extract<Algorithm, { readonly digest: 'pbkdf2' }>,
  salt: Uint8Array,
  secret: string,
): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    pbkdf2(secret, salt, iterations, length, 'sha256', (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )

/** The error message if too many checks are waiting. */
export const TOO_MANY_CHECKS = 'too many secrets are being checked: retry later'

/**
 * The turns of derivations. There is one queue per process, like the thread pool, because eight concurrent
 * derivations would block its file and DNS operations for a second.
 */
export const derivations = atMost(2, TOO_MANY_CHECKS)

/**
 * Returns the error of an unsupported algorithm. It contains the algorithm, which is not secret, so that an
 * operator can find the row.
 */
export const unsupported = (spec: HashSpec): SecretUnreadable =>
  new SecretUnreadable(`unsupported hash algorithm ${JSON.stringify(String(spec.algo).slice(0, 64))}`)

function concat(salt: Uint8Array, secret: string): Buffer {
  const length = Buffer.byteLength(secret)
  const bytes = Buffer.allocUnsafe(salt.length + length)
  bytes.set(salt)
  // For ASCII, Latin-1 equals UTF-8 and is written faster.
  bytes.write(secret, salt.length, length === secret.length ? 'latin1' : 'utf8')
  return bytes
}
