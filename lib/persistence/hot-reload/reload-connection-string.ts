import { Unavailable } from '../../errors.js'
import { DriverFault } from '../../faults/driver-fault.js'
import { WatchedFile } from '../../files/watched-file.js'
import { hidePasswords } from '../../text/hide-passwords.js'
import { checkDsn, type DsnFile, readDsnFile, redactDsn } from './dsn.js'

export interface HotReloadOptions {
  /** The time the file must be unchanged before it is read. */
  readonly debounceMs: number
  /** The interval at which it is read without a reported change. */
  readonly recheckMs: number
  /** Moves to another DSN once it has responded. */
  readonly replace: (dsn: string, signal: AbortSignal) => Promise<void>
  readonly onReload: (change: Reload) => void
  readonly onRejected: (rejection: Rejection) => void
  /** The file again holds the current DSN. */
  readonly onRestored: (dsn: string) => void
}

/** New sessions use another DSN from now on. */
export interface Reload {
  /** User, host and database; no password. */
  readonly dsn: string
  readonly previous: string
}

/** The file's content cannot be used; the current DSN stays. */
export interface Rejection {
  /** Without any password. */
  readonly reason: string
}

/** The first pause before a rejected DSN is tried again; it doubles with each failure. */
const FIRST_RETRY_MS = 1000

/** Keeps a pool on the DSN in a file. */
export class HotReload {
  #watched: WatchedFile | undefined
  #attempt: { readonly dsn: string; readonly controller: AbortController } | undefined
  #problem: string | undefined
  /** The last content of the file that was rejected. */
  #rejected: string | undefined
  #retryMs = FIRST_RETRY_MS
  #isClosed = false

  private constructor(
    private readonly file: DsnFile,
    private current: string,
    private readonly options: HotReloadOptions,
  ) {}

  /** @param current - the content of the file when the pool was opened. */
  static async start(file: DsnFile, current: string, options: HotReloadOptions): Promise<HotReload> {
    const reload = new HotReload(file, current, options)
    const { debounceMs, recheckMs, onRejected } = options
    reload.#watched = await WatchedFile.open(file.path, {
      debounceMs,
      recheckMs,
      read: () => reload.#readOnce(),
      unwatched: (code) =>
        onRejected({
          reason: `the system does not watch ${file.path} (${code}): the file is read every ${recheckMs} ms`,
        }),
    })
    await reload.read()
    return reload
  }

  /** Reads the file, and starts the move to its content. A read that is in progress is repeated. */
  read(): Promise<void> {
    return this.#watched?.read() ?? Promise.resolve()
  }

  /** @throws Unavailable when the file cannot be read, or its content was rejected. */
  async check(): Promise<void> {
    await readDsnFile(this.file.path)
    if (this.#problem !== undefined) throw new Unavailable(this.#problem)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#attempt?.controller.abort()
    await this.#watched?.close()
  }

  async #readOnce(): Promise<void> {
    let content: string | undefined
    let dsn: string
    try {
      await this.#watched?.follow()
      content = await readDsnFile(this.file.path)
      dsn = checkDsn(content, this.file.driver).dsn
    } catch (error) {
      this.#attempt?.controller.abort()
      this.#attempt = undefined
      return this.#reject((error as Error).message, content ?? '')
    }
    if (this.#hasEnded() || dsn === this.#attempt?.dsn) return
    this.#attempt?.controller.abort()
    this.#attempt = undefined
    if (dsn === this.current) this.#accept()
    else void this.#try(dsn)
  }

  /** A method, because the compiler assumes that the value cannot change across an await. */
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
      return this.#reject(`${redactDsn(dsn)} is not used: ${hidePasswords(said(error), dsn)}`, dsn)
    }
    const previous = redactDsn(this.current)
    this.current = dsn
    this.#forget()
    // The content that was read meanwhile was compared with the previous one.
    if (this.#attempt === attempt) this.#attempt = undefined
    else void this.read()
    this.options.onReload({ dsn: redactDsn(dsn), previous })
  }

  #accept(): void {
    if (this.#problem === undefined) return
    this.#forget()
    this.options.onRestored(redactDsn(this.current))
  }

  #forget(): void {
    this.#problem = undefined
    this.#rejected = undefined
    this.#retryMs = FIRST_RETRY_MS
  }

  #reject(reason: string, content: string): void {
    if (this.#isClosed) return
    const isNews = reason !== this.#problem || content !== this.#rejected
    if (content !== this.#rejected) this.#retryMs = FIRST_RETRY_MS
    this.#watched?.readIn(Math.min(this.#retryMs, this.options.recheckMs))
    this.#retryMs *= 2
    this.#problem = reason
    this.#rejected = content
    if (isNews) this.options.onRejected({ reason })
  }
}

/** Driver errors repeat a lot; their texts about connections are safe. */
const said = (error: unknown): string =>
  error instanceof Unavailable ? error.message : new DriverFault(error).message
