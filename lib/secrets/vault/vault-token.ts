import { readFile } from 'node:fs/promises'
import { WatchedFile } from '../../files/watched-file.js'
import { TransitError } from '../../errors.js'
import type { RequestEnd } from './request-end.js'
import { HEADER_VALUE, type ResolvedTransit } from './transit-options.js'
import { jsonIn } from './json-object.js'
import type { VaultResponse } from './vault-request.js'

/** Asks the server about a token, with that token. */
type Ask = (method: 'GET' | 'POST', path: string, token: string) => Promise<VaultResponse>

/** Tokens that were held before, which errors must not repeat either. */
const MOST_SEEN = 16
const DEBOUNCE_MS = 100
const RECHECK_MS = 30_000
/** A timer of Node counts in 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** Until the next try to renew, after one that failed. */
const AGAIN_MS = 10_000

/**
 * The token of a client: a text, what a function returns, or what a file holds now. One that can be renewed
 * is renewed at two thirds of its life; of a function that returned another kind, a new one is asked for
 * then.
 */
export class VaultToken {
  /** The newest first. */
  readonly #seen: string[] = []
  #held: string | undefined
  #getting: Promise<string> | undefined
  #file: Promise<WatchedFile> | undefined
  #renewal: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(
    private readonly source: Pick<ResolvedTransit, 'token' | 'tokenFile'>,
    private readonly ask: Ask,
  ) {}

  get seen(): readonly string[] {
    return this.#seen
  }

  /** The token that is held; the first call gets it. @throws TransitError when it cannot be had. */
  held(end: RequestEnd): Promise<string> | string {
    if (this.#held !== undefined) return this.#held
    return within(this.#get(), end)
  }

  /** Another token in the place of one that the server refuses; undefined where there is none. */
  async replaced(refused: string, end: RequestEnd): Promise<string | undefined> {
    if (this.#held !== refused) return this.#held
    if (typeof this.source.token === 'string' && this.source.tokenFile === undefined) return undefined
    const fresh = await within(this.#get(), end)
    return fresh === refused ? undefined : fresh
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#renewal)
    await (await this.#file)?.close()
  }

  /** Callers at the same time share one. */
  #get(): Promise<string> {
    this.#getting ??= this.#fresh()
      .then((token) => {
        this.#take(token)
        return token
      })
      .finally(() => (this.#getting = undefined))
    return this.#getting
  }

  async #fresh(): Promise<string> {
    const { token, tokenFile } = this.source
    if (tokenFile !== undefined) {
      this.#file ??= this.#watch(tokenFile)
      await this.#file
      return textOf(tokenFile)
    }
    if (typeof token === 'string') return token
    const given = await Promise.resolve()
      .then(token)
      .catch((error: unknown) => {
        // Its text may have what it logs in with.
        const name = error instanceof Error ? ` (${error.name})` : ''
        throw new TransitError(`the function of the token failed${name}`)
      })
    return checked(given, 'the function of the token returns')
  }

  #take(token: string): void {
    if (token === this.#held) return
    this.#held = token
    if (token === '') return
    this.#seen.unshift(token)
    this.#seen.splice(MOST_SEEN)
    void this.#follow(token)
  }

  #watch(path: string): Promise<WatchedFile> {
    return WatchedFile.open(path, {
      debounceMs: DEBOUNCE_MS,
      recheckMs: RECHECK_MS,
      // A file that cannot be read for the moment leaves the token as it is.
      read: () =>
        textOf(path).then(
          (token) => this.#take(token),
          () => undefined,
        ),
      unwatched: () => undefined,
    }).then(async (file) => {
      file.readIn(RECHECK_MS)
      await file.follow()
      return file
    })
  }

  /** A policy may refuse to say how long the token lives: then nothing renews it. */
  async #follow(token: string): Promise<void> {
    const life = await this.#lifeOf('GET', 'auth/token/lookup-self', token)
    if (life !== undefined) this.#plan(token, life)
  }

  #plan(token: string, { ttlMs, isRenewable }: Life): void {
    clearTimeout(this.#renewal)
    const isAsked = typeof this.source.token === 'function'
    if (this.#isClosed || token !== this.#held || ttlMs <= 0 || !(isRenewable || isAsked)) return
    this.#renewal = setTimeout(
      () => void this.#renew(token, isRenewable),
      Math.min((ttlMs * 2) / 3, LONGEST_TIMER_MS),
    )
    this.#renewal.unref()
  }

  async #renew(token: string, isRenewable: boolean): Promise<void> {
    if (this.#isClosed || token !== this.#held) return
    if (isRenewable) {
      const life = await this.#lifeOf('POST', 'auth/token/renew-self', token)
      if (life !== undefined && life.ttlMs > 0) return this.#plan(token, life)
    }
    if (typeof this.source.token === 'function') await this.#get().catch(() => undefined)
    if (token === this.#held) this.#plan(token, { ttlMs: AGAIN_MS, isRenewable })
  }

  async #lifeOf(method: 'GET' | 'POST', path: string, token: string): Promise<Life | undefined> {
    const response = await this.ask(method, path, token).catch(() => undefined)
    if (response?.statusCode !== 200 || response.text === undefined) return undefined
    const body = jsonIn(response.text)
    const facts = (method === 'GET' ? body?.data : body?.auth) as Record<string, unknown> | null | undefined
    const ttl = facts?.[method === 'GET' ? 'ttl' : 'lease_duration']
    return typeof ttl === 'number' ? { ttlMs: ttl * 1000, isRenewable: facts?.renewable === true } : undefined
  }
}

interface Life {
  readonly ttlMs: number
  readonly isRenewable: boolean
}

async function textOf(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new TransitError(`the file of the token cannot be read${code}`)
  })
  return checked(text.trim(), 'the file of the token holds')
}

function checked(token: unknown, what: string): string {
  if (typeof token === 'string' && HEADER_VALUE.test(token)) return token
  throw new TransitError(`${what} nothing, or characters that no header can carry`)
}

/** The token, or the end of the call: other callers may go on waiting for it. */
function within(token: Promise<string>, end: RequestEnd): Promise<string> {
  return new Promise((resolve, reject) => {
    end.onEnd(() => reject(new Error('the call has ended')))
    token.then(resolve, reject)
  })
}
