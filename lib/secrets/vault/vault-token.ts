import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { TransitError } from '../../errors.js'
import type { RequestEnd } from './request-end.js'
import { HEADER_VALUE, type ResolvedTransit } from './transit-options.js'
import { jsonIn } from './json-object.js'
import type { VaultResponse } from './vault-request.js'
import { MAX_TIMER_MS } from '../../bounds/timer-limit.js'

/** Sends a request about a token to the server, with that token. */
type Ask = (method: 'GET' | 'POST', path: string, token: string) => Promise<VaultResponse>

/** The number of previous tokens that errors must not contain, either. */
const MAX_SEEN = 16
/**
 * The time in milliseconds between two reads of a token file. Reading it repeatedly also detects a folder
 * that is created or replaced later.
 */
const LOOK_MS = 500
/**
 * The fraction of a login's time limit after which further calls start a new login instead of waiting for it.
 */
const HALF_OVER = 0.5
/** The time in milliseconds between a failed renewal and the next attempt. */
const AGAIN_MS = 10_000
/**
 * The time in milliseconds for which the check of a rejected token is cached. It is also the minimum time
 * between two logins for rejected tokens.
 */
const REJECTED_MS = 10_000

/**
 * A client's token: a string, a function's result, or the content of a file. A renewable token is renewed at
 * two thirds of its lifetime. If a function's token is not renewable, a new one is requested at that time.
 */
export class VaultToken {
  /** The tokens so far, newest first. */
  readonly #seen: string[] = []
  #held: string | undefined
  #getting:
    { readonly token: Promise<string>; readonly controller: AbortController; readonly at: number } | undefined
  #followed: string | undefined
  #renewal: NodeJS.Timeout | undefined
  #isClosed = false
  /** The last check of a token after a rejected call. */
  #check: { readonly at: number; readonly isRejected: Promise<boolean> } | undefined
  /** The time at which a rejected token was last replaced. */
  #replacedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly source: Pick<ResolvedTransit, 'token' | 'tokenFile' | 'timeoutMs' | 'warn'>,
    private readonly ask: Ask,
    private readonly now = () => performance.now(),
  ) {}

  get seen(): readonly string[] {
    return this.#seen
  }

  /**
   * Returns the current token, which the first call requests.
   *
   * @throws TransitError if there is no token.
   */
  held(end: RequestEnd): Promise<string> | string {
    if (this.#held !== undefined) return this.#held
    return within(this.#get(), end)
  }

  /**
   * Returns another token to use instead of a rejected call's token, or undefined if there is none. The call
   * may have been rejected because of a policy, so a function is called only if the server rejects the token
   * itself.
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

  /** Returns true if the server rejects the token itself, not only the operation of a call. */
  #isRejected(token: string): Promise<boolean> {
    if (this.#check === undefined || this.now() - this.#check.at >= REJECTED_MS) {
      const isRejected = this.ask('GET', 'auth/token/lookup-self', token).then(
        ({ statusCode }) => statusCode === 403,
        () => {
          // The result is unknown, so the next call checks again.
          this.#check = undefined
          return false
        },
      )
      this.#check = { at: this.now(), isRejected }
    }
    return this.#check.isRejected
  }

  /**
   * Returns the token of a login that concurrent callers share. After half of its time limit, it is abandoned
   * and a new login begins.
   */
  #get(): Promise<string> {
    const known = this.#getting
    if (known !== undefined && this.now() - known.at < this.source.timeoutMs * HALF_OVER) return known.token
    known?.controller.abort()
    const controller = new AbortController()
    const token = this.#inTime(controller).then(
      (got) => {
        // The result of an abandoned login is discarded.
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

  /** Abandons a login that has not settled in time. */
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
        // The function's error message may contain its login's secrets.
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

  /** Reads a changed file. If it temporarily cannot be read, the token stays unchanged. */
  readonly #onChange = (): void => {
    textOf(this.source.tokenFile ?? '').then(
      (token) => this.#take(token),
      () => undefined,
    )
  }

  /**
   * Plans the renewal of the first token. A policy may forbid looking up its lifetime, in which case it is
   * not renewed.
   */
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

  /**
   * Renews the token, or replaces it if it cannot be renewed.
   *
   * @param leftMs - the time in milliseconds until the token expires.
   */
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
    // A token that the server has rejected cannot be renewed.
    const isOver = status === 403 && typeof this.source.token !== 'function'
    const next = isOver ? 'it is no longer renewed' : `the next attempt is in ${AGAIN_MS / 1000} s`
    this.source.warn(`newVaultTransit: the token could not be renewed (${why}); ${endsIn(leftMs)}; ${next}`)
    if (isOver) return
    this.#renewal = setTimeout(
      () => void this.#renew(token, isRenewable, Math.max(0, leftMs - AGAIN_MS)),
      AGAIN_MS,
    )
    this.#renewal.unref()
  }

  #warnOfEnd(leftMs: number): void {
    this.source.warn(
      `newVaultTransit: ${endsIn(leftMs)} and cannot be renewed: provide another token before that`,
    )
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
  /** The status. Undefined without a response. */
  readonly statusCode: number | undefined
  readonly life: Life | undefined
}

const endsIn = (ms: number): string => `the token expires in ${Math.round(ms / 1000)} s`

async function textOf(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new TransitError(`the token file cannot be read${code}`)
  })
  return checked(text.trim(), 'the token file contains')
}

function checked(token: unknown, what: string): string {
  if (typeof token === 'string' && HEADER_VALUE.test(token)) return token
  throw new TransitError(`${what} nothing, or characters that a header cannot carry`)
}

/** Waits for the result until this call ends. Other callers may continue to wait for the result. */
function within<T>(result: Promise<T>, end: RequestEnd): Promise<T> {
  return new Promise((resolve, reject) => {
    end.onEnd(() => reject(new Error('the call has ended')))
    result.then(resolve, reject)
  })
}
