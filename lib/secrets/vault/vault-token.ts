import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { TransitError } from '../../errors.js'
import type { RequestEnd } from './request-end.js'
import { HEADER_VALUE, type ResolvedTransit } from './transit-options.js'
import { jsonIn } from './json-object.js'
import type { VaultResponse } from './vault-request.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

/** Asks the server about a token, with that token. */
type Ask = (method: 'GET' | 'POST', path: string, token: string) => Promise<VaultResponse>

/** Tokens that were held before, which errors must not repeat either. */
const MAX_SEEN = 16
/** The interval at which a token file is read. A folder that is created or replaced later is found, too. */
const LOOK_MS = 500
/** Of the time of a login, from when on no other call waits for it. */
const HALF_OVER = 0.5
/** Until the next attempt to renew, after one that failed. */
const AGAIN_MS = 10_000
/**
 * The time for which the check of a rejected token is cached, and the shortest time between two logins for
 * rejected tokens.
 */
const REJECTED_MS = 10_000

/**
 * The token of a client: a string, what a function returns, or what a file contains now. A renewable token is
 * renewed at two thirds of its life; for another token of a function, a new one is requested then.
 */
export class VaultToken {
  /** The newest first. */
  readonly #seen: string[] = []
  #held: string | undefined
  #getting:
    { readonly token: Promise<string>; readonly controller: AbortController; readonly at: number } | undefined
  #followed: string | undefined
  #renewal: NodeJS.Timeout | undefined
  #isClosed = false
  /** The last check of a token that a call was rejected with. */
  #check: { readonly at: number; readonly isRejected: Promise<boolean> } | undefined
  /** When a rejected token was last replaced. */
  #replacedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly source: Pick<ResolvedTransit, 'token' | 'tokenFile' | 'timeoutMs' | 'warn'>,
    private readonly ask: Ask,
    private readonly now = () => performance.now(),
  ) {}

  get seen(): readonly string[] {
    return this.#seen
  }

  /** The token that is held; the first call gets it. @throws TransitError if it cannot be had. */
  held(end: RequestEnd): Promise<string> | string {
    if (this.#held !== undefined) return this.#held
    return within(this.#get(), end)
  }

  /**
   * Another token to use instead of the one with which a call was rejected; undefined if there is none. A
   * policy may have rejected the call and not the token: a function is called only if the server rejects the
   * token itself.
   */
  async replaced(rejected: string, end: RequestEnd): Promise<string | undefined> {
    if (this.#held !== rejected) return this.#held
    const { token, tokenFile } = this.source
    if (tokenFile === undefined) {
      if (typeof token === 'string' || !(await within(this.#isRejected(rejected), end))) return undefined
      if (this.#held !== rejected) return this.#held
      if (this.now() - this.#replacedAt < REJECTED_MS) return undefined
    }
    const fresh = await within(this.#get(), end)
    if (fresh === rejected) return undefined
    this.#replacedAt = this.now()
    return fresh
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#renewal)
    if (this.#followed !== undefined) unwatchFile(this.#followed, this.#onChange)
  }

  /** True if the server rejects the token, and not only what a call wanted with it. */
  #isRejected(token: string): Promise<boolean> {
    if (this.#check === undefined || this.now() - this.#check.at >= REJECTED_MS) {
      const isRejected = this.ask('GET', 'auth/token/lookup-self', token).then(
        ({ statusCode }) => statusCode === 403,
        () => {
          // Nothing is known: the next call asks again.
          this.#check = undefined
          return false
        },
      )
      this.#check = { at: this.now(), isRejected }
    }
    return this.#check.isRejected
  }

  /** Callers at the same time share one, but not one whose time is half over: that one is abandoned. */
  #get(): Promise<string> {
    const known = this.#getting
    if (known !== undefined && this.now() - known.at < this.source.timeoutMs * HALF_OVER) return known.token
    known?.controller.abort()
    const controller = new AbortController()
    const token = this.#inTime(controller).then(
      (got) => {
        // The result of one that was abandoned is dropped.
        if (this.#getting === getting) this.#take(got)
        if (this.#getting === getting) this.#getting = undefined
        return got
      },
      (error: unknown) => {
        if (this.#getting === getting) this.#getting = undefined
        throw error
      },
    )
    token.catch(() => {})
    const getting = { token, controller, at: this.now() }
    this.#getting = getting
    return token
  }

  /** Abandons what has not settled in time. */
  async #inTime(controller: AbortController): Promise<string> {
    const { timeoutMs, tokenFile } = this.source
    const what = tokenFile === undefined ? 'the token function' : 'the token file'
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new TransitError(`${what} returned nothing within ${timeoutMs} ms`, { reason: 'timeout' }))
        controller.abort()
      }, timeoutMs)
    })
    const fresh = this.#fresh(controller.signal)
    fresh.catch(() => {})
    return Promise.race([fresh, late]).finally(() => clearTimeout(timer))
  }

  async #fresh(signal: AbortSignal): Promise<string> {
    const { token, tokenFile } = this.source
    if (tokenFile !== undefined) {
      this.#follow(tokenFile)
      return textOf(tokenFile)
    }
    if (typeof token === 'string') return token
    const given = await Promise.resolve()
      .then(() => token({ signal }))
      .catch((error: unknown) => {
        // Its text may have what it logs in with.
        const name = error instanceof Error ? ` (${error.name})` : ''
        throw new TransitError(`the token function failed${name}`)
      })
    return checked(given, 'the token function returns')
  }

  #take(token: string): void {
    if (token === this.#held || this.#isClosed) return
    this.#held = token
    if (token === '') return
    this.#seen.unshift(token)
    this.#seen.splice(MAX_SEEN)
    void this.#planFirst(token)
  }

  #follow(path: string): void {
    if (this.#followed !== undefined || this.#isClosed) return
    this.#followed = path
    watchFile(path, { interval: LOOK_MS, persistent: false }, this.#onChange)
  }

  /** A file that cannot be read for the moment leaves the token as it is. */
  readonly #onChange = (): void => {
    textOf(this.source.tokenFile ?? '').then(
      (token) => this.#take(token),
      () => undefined,
    )
  }

  /** A policy may deny the question how long the token lives: then nothing renews it. */
  async #planFirst(token: string): Promise<void> {
    const { life } = await this.#lifeOf('GET', 'auth/token/lookup-self', token)
    if (life !== undefined) this.#plan(token, life)
  }

  #plan(token: string, { ttlMs, isRenewable }: Life): void {
    clearTimeout(this.#renewal)
    if (this.#isClosed || token !== this.#held || ttlMs <= 0) return
    const isReplaced = isRenewable || typeof this.source.token === 'function'
    const act = () =>
      isReplaced ? void this.#renew(token, isRenewable, ttlMs / 3) : this.#warnOfEnd(ttlMs / 10)
    const waitMs = isReplaced ? (ttlMs * 2) / 3 : (ttlMs * 9) / 10
    this.#renewal = setTimeout(act, Math.min(waitMs, MAX_TIMER_MS))
    this.#renewal.unref()
  }

  /** @param leftMs - until the token ends. */
  async #renew(token: string, isRenewable: boolean, leftMs: number): Promise<void> {
    if (this.#isClosed || token !== this.#held) return
    const renewed = isRenewable ? await this.#lifeOf('POST', 'auth/token/renew-self', token) : undefined
    if (renewed?.life !== undefined && renewed.life.ttlMs > 0) return this.#plan(token, renewed.life)
    const login =
      typeof this.source.token === 'function'
        ? await this.#get().then(
            () => undefined,
            (error: unknown) => (error instanceof Error ? error.message : 'the token function failed'),
          )
        : undefined
    if (token !== this.#held) return
    const status = renewed?.statusCode
    const why =
      login ?? (status === undefined ? 'the server did not respond' : `the server returned ${status}`)
    // A token that the server has rejected cannot be renewed any more.
    const isOver = status === 403 && typeof this.source.token !== 'function'
    const next = isOver ? 'it is not renewed any more' : `the next attempt is in ${AGAIN_MS / 1000} s`
    this.source.warn(`newVaultTransit: the token could not be renewed (${why}); ${endsIn(leftMs)}; ${next}`)
    if (isOver) return
    this.#renewal = setTimeout(
      () => void this.#renew(token, isRenewable, Math.max(0, leftMs - AGAIN_MS)),
      AGAIN_MS,
    )
    this.#renewal.unref()
  }

  #warnOfEnd(leftMs: number): void {
    this.source.warn(`newVaultTransit: ${endsIn(leftMs)} and cannot be renewed: give another one before`)
  }

  async #lifeOf(method: 'GET' | 'POST', path: string, token: string): Promise<Answer> {
    const response = await this.ask(method, path, token).catch(() => undefined)
    if (response?.statusCode !== 200 || response.text === undefined)
      return { statusCode: response?.statusCode, life: undefined }
    const body = jsonIn(response.text)
    const facts = (method === 'GET' ? body?.data : body?.auth) as Record<string, unknown> | null | undefined
    const ttl = facts?.[method === 'GET' ? 'ttl' : 'lease_duration']
    const isRenewable = facts?.renewable === true
    return { statusCode: 200, life: typeof ttl === 'number' ? { ttlMs: ttl * 1000, isRenewable } : undefined }
  }
}

interface Life {
  readonly ttlMs: number
  readonly isRenewable: boolean
}

interface Answer {
  /** Undefined without a response. */
  readonly statusCode: number | undefined
  readonly life: Life | undefined
}

const endsIn = (ms: number): string => `the token ends in ${Math.round(ms / 1000)} s`

async function textOf(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new TransitError(`the token file cannot be read${code}`)
  })
  return checked(text.trim(), 'the token file contains')
}

function checked(token: unknown, what: string): string {
  if (typeof token === 'string' && HEADER_VALUE.test(token)) return token
  throw new TransitError(`${what} nothing, or characters that no header can carry`)
}

/** The result, or the end of the call: other callers may go on waiting for it. */
function within<T>(result: Promise<T>, end: RequestEnd): Promise<T> {
  return new Promise((resolve, reject) => {
    end.onEnd(() => reject(new Error('the call has ended')))
    result.then(resolve, reject)
  })
}
