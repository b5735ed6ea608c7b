import { AshlarError, type Code, TransitError } from '../errors.js'
import type { Encryptor, EncryptorOptions } from './encryptor.js'
import { abortError } from '../bounds/abort-error.js'

/** The caller that requests a secret, such as a call's context. */
export interface SecretCaller {
  readonly signal?: AbortSignal | undefined
  /** The caller's tenant. Undefined for all tenants. */
  readonly tenant?: string | undefined
  /** The transaction in which the caller runs. Undefined outside a transaction. */
  readonly transaction?: object | undefined
}

/** The maximum number of strings in one request. */
const MAX_TEXTS = 200
/** The number of requests in flight above which further calls wait to be coalesced. */
const MAX_REQUESTS = 4
/** The time in milliseconds after which a request no longer makes other calls wait. */
const SLOW_MS = 20

const known = new WeakMap<Encryptor, CoalescedRequests>()

/** Returns the coalesced requests of all repositories that use the encryptor. */
export function coalescedRequests(encryptor: Encryptor): CoalescedRequests {
  let requests = known.get(encryptor)
  if (requests === undefined) known.set(encryptor, (requests = new CoalescedRequests(encryptor)))
  return requests
}

/**
 * Coalesces calls if the encryptor accepts several strings in one request: calls in the same turn of the
 * event loop, and calls that arrive while requests are in flight. Calls of different tenants are never
 * coalesced, because an encryptor may have a key for each tenant; nor are calls inside a transaction. An item
 * that fails only fails its own call.
 */
export class CoalescedRequests {
  readonly #encrypt: Coalescing
  readonly #decrypt: Coalescing

  constructor(encryptor: Encryptor, slowMs = SLOW_MS) {
    this.#encrypt = new Coalescing(
      (text, options) => encryptor.encrypt(text, options),
      encryptor.encryptBatch?.bind(encryptor),
      slowMs,
    )
    this.#decrypt = new Coalescing(
      (text, options) => encryptor.decrypt(text, options),
      encryptor.decryptBatch?.bind(encryptor),
      slowMs,
    )
  }

  encrypt(plaintext: string, caller: SecretCaller): Promise<string> {
    return this.#encrypt.ask(plaintext, caller)
  }

  decrypt(ciphertext: string, caller: SecretCaller): Promise<string> {
    return this.#decrypt.ask(ciphertext, caller)
  }
}

interface Waiting {
  readonly text: string
  readonly signal: AbortSignal | undefined
  readonly resolve: (result: string) => void
  readonly reject: (error: unknown) => void
}

class Coalescing {
  /** The calls that have not been sent, by tenant. */
  readonly #groups = new Map<string | undefined, Waiting[]>()
  /** The number of requests in flight that are not slow. */
  #inFlight = 0
  #isDue = false

  constructor(
    private readonly one: (text: string, options: EncryptorOptions) => Promise<string>,
    private readonly many: ((texts: string[], options: EncryptorOptions) => Promise<string[]>) | undefined,
    private readonly slowMs: number,
  ) {}

  ask(text: string, { signal, tenant, transaction }: SecretCaller): Promise<string> {
    if (this.many === undefined || transaction !== undefined) return this.one(text, { signal })
    return new Promise((resolve, reject) => {
      const group = this.#groups.get(tenant) ?? []
      this.#groups.set(tenant, group)
      group.push({ text, signal, resolve, reject })
      this.#sendSoon()
    })
  }

  /** Sends after all calls of this turn have arrived. */
  #sendSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      this.#sendWaiting()
    })
  }

  #sendWaiting(): void {
    for (const [tenant, group] of this.#groups)
      while (group.length > 0) {
        if (this.#inFlight >= MAX_REQUESTS) return
        this.#send(group.splice(0, MAX_TEXTS))
        if (group.length === 0) this.#groups.delete(tenant)
      }
  }

  #send(items: readonly Waiting[]): void {
    this.#inFlight++
    let isOut = false
    const land = () => {
      if (isOut) return
      isOut = true
      clearTimeout(timer)
      this.#inFlight--
      if (this.#groups.size > 0) this.#sendSoon()
    }
    const timer = setTimeout(land, this.slowMs)
    void (items.length === 1 ? this.#alone(items) : this.#together(items)).finally(land)
  }

  async #alone(items: readonly Waiting[]): Promise<void> {
    const settle = async ({ text, signal, resolve, reject }: Waiting) => {
      try {
        resolve(await this.one(text, { signal }))
      } catch (error) {
        reject(error)
      }
    }
    await Promise.all(items.map(settle))
  }

  async #together(items: readonly Waiting[]): Promise<void> {
    const stay = new Set(items)
    const everybodyLeft = new AbortController()
    const leavings = items.map((item) => {
      const leave = () => {
        item.reject(abortError(item.signal))
        stay.delete(item)
        if (stay.size === 0) everybodyLeft.abort()
      }
      if (item.signal?.aborted === true) leave()
      else item.signal?.addEventListener('abort', leave, { once: true })
      return leave
    })
    const end = () =>
      items.forEach(({ signal }, index) =>
        signal?.removeEventListener('abort', leavings[index] as () => void),
      )
    const asked = [...stay]
    if (asked.length === 0) return end()
    try {
      const texts = asked.map(({ text }) => text)
      const results = (await this.many?.(texts, { signal: everybodyLeft.signal })) ?? []
      asked.forEach(({ resolve, reject }, index) => {
        const result = results[index]
        if (result === undefined)
          reject(new TypeError('the encryptor returned fewer results than it received strings'))
        else resolve(result)
      })
      end()
    } catch (error) {
      end()
      if (mayBeOneItem(error)) await this.#alone([...stay])
      else for (const { reject } of stay) reject(error)
    }
  }
}

const OF_ALL: ReadonlySet<Code> = new Set(['UNAVAILABLE', 'CANCELLED', 'DEADLINE_EXCEEDED'])

/**
 * Returns true if the error may concern a single item. An application's own encryptor need not report which
 * item failed.
 */
export function mayBeOneItem(error: unknown): boolean {
  if (error instanceof TransitError) return error.item !== undefined && !OF_ALL.has(error.code)
  return !(error instanceof AshlarError && OF_ALL.has(error.code))
}
