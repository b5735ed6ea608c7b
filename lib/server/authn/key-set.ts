import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { Unavailable } from '../../errors.js'
import type { KeyFetchLog } from './key-fetch-log.js'

/** Fetches the keys that can verify a signature. Rejects if the response contains none. */
export type KeySource = (signal: AbortSignal) => Promise<JSONWebKeySet>

/** Keys older than this are fetched again in the background. */
const FRESH_MS = 10 * 60_000
/**
 * The minimum time between two fetches, so that tokens with unknown keys cannot cause a fetch each. The first
 * keys use the shorter time.
 */
const COOL_DOWN_MS = 30_000
const FIRST_COOL_DOWN_MS = 1_000
const FETCH_TIMEOUT_MS = 5_000

type LocalKeys = ReturnType<typeof createLocalJWKSet>

/**
 * Caches an issuer's keys. They are fetched again when a token names an unknown key, and stay in use while
 * their source is unavailable.
 */
export class KeySet {
  readonly #source: KeySource
  readonly #now: () => number
  readonly #log: KeyFetchLog
  #keys: LocalKeys | undefined
  #fetchedAt = Number.NEGATIVE_INFINITY
  #triedAt = Number.NEGATIVE_INFINITY
  #pending: Promise<void> | undefined

  /** @param now - milliseconds since the epoch. */
  constructor(source: KeySource, now: () => number, log: KeyFetchLog) {
    this.#source = source
    this.#now = now
    this.#log = log
  }

  /** @throws Unavailable if no keys have been fetched yet. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (this.#keys === undefined) await this.#load()
    // Old keys stay in use during the fetch, so no call waits for it.
    else if (this.#now() - this.#fetchedAt > FRESH_MS) void this.#reload()
    try {
      return await this.#among(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#reload())) throw error
      return this.#among(header, token)
    }
  }

  #among: JWTVerifyGetKey = (header, token) => (this.#keys as LocalKeys)(header, token)

  async #load(): Promise<void> {
    if (!(await this.#reload()) && this.#keys === undefined) {
      throw new Unavailable('tokens cannot be verified now: retry later')
    }
  }

  /** Fetches the keys. Returns true if that succeeded. */
  async #reload(): Promise<boolean> {
    if (this.#pending === undefined) {
      const coolDown = this.#keys === undefined ? FIRST_COOL_DOWN_MS : COOL_DOWN_MS
      if (this.#now() - this.#triedAt < coolDown) return false
      this.#triedAt = this.#now()
      this.#pending = this.#fetch().finally(() => (this.#pending = undefined))
    }
    const before = this.#fetchedAt
    await this.#pending
    return this.#fetchedAt > before
  }

  async #fetch(): Promise<void> {
    try {
      this.#keys = createLocalJWKSet(await this.#source(AbortSignal.timeout(FETCH_TIMEOUT_MS)))
      this.#fetchedAt = this.#now()
      this.#log.fetched()
    } catch (error) {
      // The existing keys stay in use. If there are none, find() throws.
      this.#log.failed(error, this.#keys !== undefined)
    }
  }
}
