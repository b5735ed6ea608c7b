import { Unavailable } from '../errors.js'
import { DriverFault } from '../resource/driver-fault.js'
import { checkDsn, type DsnFile, hidePasswords, readDsnFile, redactDsn } from './dsn.js'
import { type FileWatch, watchFile } from './hot-file.js'

export interface HotReloadOptions {
  /** How long the file must be left alone before it is read. */
  readonly debounceMs: number
  /** How often it is read although nothing was heard of it. */
  readonly recheckMs: number
  /** Moves to another DSN once it has answered. */
  readonly replace: (dsn: string, signal: AbortSignal) => Promise<void>
  readonly onReload: (change: Reload) => void
  readonly onRejected: (rejection: Rejection) => void
  /** The file holds again what is in use. */
  readonly onRestored: (dsn: string) => void
}

/** New sessions go to another DSN from here on. */
export interface Reload {
  /** User, host and database; no password. */
  readonly dsn: string
  readonly previous: string
}

/** What the file holds cannot be used; the DSN in use stays. */
export interface Rejection {
  /** Without any password. */
  readonly reason: string
}

/** What was rejected is tried again after so long, then after twice as long, and so on. */
const FIRST_RETRY_MS = 1000

/** Keeps a pool on the DSN that a file holds. */
export class HotReload {
  #watch: FileWatch | undefined
  #timer: NodeJS.Timeout | undefined
  #attempt: { readonly dsn: string; readonly controller: AbortController } | undefined
  #problem: string | undefined
  #retryMs = FIRST_RETRY_MS
  #isClosed = false

  private constructor(
    private readonly file: DsnFile,
    private current: string,
    private readonly options: HotReloadOptions,
  ) {}

  /** @param current - what the file held when the pool was opened. */
  static async start(file: DsnFile, current: string, options: HotReloadOptions): Promise<HotReload> {
    const reload = new HotReload(file, current, options)
    reload.#watch = await watchFile(
      file.path,
      () => reload.#readIn(options.debounceMs),
      (code) =>
        reload.#reject(
          `the system does not watch ${file.path} (${code}): it is read every ${options.recheckMs} ms`,
        ),
    )
    await reload.read()
    return reload
  }

  /** Reads the file now, and moves to what it holds. */
  async read(): Promise<void> {
    if (this.#isClosed) return
    this.#readIn(this.options.recheckMs)
    let dsn: string
    try {
      await this.#watch?.follow()
      dsn = checkDsn(await readDsnFile(this.file.path), this.file.driver).dsn
    } catch (error) {
      return this.#reject((error as Error).message)
    }
    if (this.#hasEnded() || dsn === this.#attempt?.dsn) return
    this.#attempt?.controller.abort()
    this.#attempt = undefined
    if (dsn === this.current) return this.#accept()
    await this.#try(dsn)
  }

  /** @throws Unavailable when the file cannot be read, or what it holds was rejected. */
  async check(): Promise<void> {
    await readDsnFile(this.file.path)
    if (this.#problem !== undefined) throw new Unavailable(this.#problem)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#attempt?.controller.abort()
    await this.#watch?.close()
  }

  /** Asked anew after each await, which the compiler cannot see. */
  #hasEnded(): boolean {
    return this.#isClosed
  }

  async #try(dsn: string): Promise<void> {
    const attempt = { dsn, controller: new AbortController() }
    this.#attempt = attempt
    try {
      await this.options.replace(dsn, attempt.controller.signal)
    } catch (error) {
      if (attempt.controller.signal.aborted) return
      this.#attempt = undefined
      return this.#reject(`${redactDsn(dsn)} is not used: ${hidePasswords(said(error), dsn)}`)
    }
    const previous = redactDsn(this.current)
    this.#attempt = undefined
    this.current = dsn
    this.#forget()
    this.options.onReload({ dsn: redactDsn(dsn), previous })
  }

  #accept(): void {
    if (this.#problem === undefined) return
    this.#forget()
    this.options.onRestored(redactDsn(this.current))
  }

  #forget(): void {
    this.#problem = undefined
    this.#retryMs = FIRST_RETRY_MS
  }

  #reject(reason: string): void {
    if (this.#isClosed) return
    this.#readIn(Math.min(this.#retryMs, this.options.recheckMs))
    this.#retryMs *= 2
    if (reason === this.#problem) return
    this.#problem = reason
    this.options.onRejected({ reason })
  }

  #readIn(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#isClosed) return
    this.#timer = setTimeout(() => void this.read(), ms)
    this.#timer.unref()
  }
}

/** Drivers repeat much; what they say of a connection is safe. */
const said = (error: unknown): string =>
  error instanceof Unavailable ? error.message : new DriverFault(error).message
