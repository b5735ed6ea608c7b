import { AshlarError, type Code, TransitError } from '../errors.js'
import type { Encryptor, EncryptorOptions } from './encryptor.js'
import { abortError } from '../bounds/abort-error.js'

/** The caller that requests a secret. A call's context is one. */
export interface SecretCaller {
  readonly signal?: AbortSignal | undefined
  /** The tenant whose rows it reaches; undefined for all. */
  readonly tenant?: string | undefined
  /** The transactions that it is inside of. */
  readonly transaction?: object | undefined
}

/** The most texts of one request. */
const MAX_TEXTS = 200
/** While so many are in flight, further calls wait for each other. */
const MAX_REQUESTS = 4
/** A request that takes longer keeps no call waiting. */
const SLOW_MS = 20

const known = new WeakMap<Encryptor, CoalescedRequests>()

/** The requests of all repositories that have the encryptor. */
export function coalescedRequests(encryptor: Encryptor): CoalescedRequests {
  let requests = known.get(encryptor)
  if (requests === undefined) known.set(encryptor, (requests = new CoalescedRequests(encryptor)))
  return requests
}

/**
 * Calls of one turn of the event loop share a request, where the encryptor takes several texts in one, and so
 * do those that come while some are in flight. Those of different tenants never do, because an encryptor may
 * have a key for each; nor does a call inside of a transaction. An item that fails fails its own call alone.
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
  /** By tenant: what has not been sent. */
  readonly #groups = new Map<string | undefined, Waiting[]>()
  /** Requests in flight that are not slow. */
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

  /** After everything that this turn brings. */
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
        if (result === undefined) reject(new TypeError('an encryptor returned fewer texts than it was given'))
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

/** An encryptor of an application need not say which item it was. */
export function mayBeOneItem(error: unknown): boolean {
  if (error instanceof TransitError) return error.item !== undefined && !OF_ALL.has(error.code)
  return !(error instanceof AshlarError && OF_ALL.has(error.code))
}
