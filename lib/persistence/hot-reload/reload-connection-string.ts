import { Unavailable } from '../../errors.js'
import { DriverFault } from '../../faults/driver-fault.js'
import { WatchedFile } from '../../files/watched-file.js'
import { hidePasswords } from '../../text/hide-passwords.js'
import { checkDsn, type DsnFile, readDsnFile, redactDsn } from './dsn.js'

export interface HotReloadOptions {
  /** The time in milliseconds that the file must be unchanged before it is read. */
  readonly debounceMs: number
  /** The interval in milliseconds at which the file is read even without a reported change. */
  readonly recheckMs: number
  /** Moves to another DSN once its database responds. */
  readonly replace: (dsn: string, signal: AbortSignal) => Promise<void>
  readonly onReload: (change: Reload) => void
  readonly onRejected: (rejection: Rejection) => void
  /** Called when the file contains the current DSN again. */
  readonly onRestored: (dsn: string) => void
}

/** A change of the DSN for new sessions. @inline */
export interface Reload {
  /** The user, host and database, without the password. */
  readonly dsn: string
  readonly previous: string
}

/** The file's content cannot be used. The current DSN stays in use. @inline */
export interface Rejection {
  /** The reason, which contains no password. */
  readonly reason: string
}

/** The first pause in milliseconds before a rejected DSN is tried again. It doubles with each failure. */
const FIRST_RETRY_MS = 1000

/** Moves a pool to the DSN in a file whenever the file changes. */
export class HotReload {
  #watched: WatchedFile | undefined
  #attempt: { readonly dsn: string; readonly controller: AbortController } | undefined
  #problem: string | undefined
  /** The rejected content of the file. */
  #rejected: string | undefined
  #retryMs = FIRST_RETRY_MS
  #isClosed = false

  private constructor(
    private readonly file: DsnFile,
    private current: string,
    private readonly options: HotReloadOptions,
  ) {}

  /**
   * Starts to watch the file.
   *
   * @param current - the content of the file when the pool was created.
   */
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

  /** Reads the file and starts the move to its content. A read in progress is repeated. */
  read(): Promise<void> {
    return this.#watched?.read() ?? Promise.resolve()
  }

  /**
   * Checks that the file can be read and its content is used.
   *
   * @throws Unavailable if the file cannot be read or its content was rejected.
   */
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

  /**
   * Returns true after `close`. This is a method because the compiler assumes that a property does not change
   * across an await.
   */
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
    // Content that was read meanwhile was compared with the previous DSN.
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

/** Returns a safe error message. The messages of driver errors about connections may repeat values. */
const said = (error: unknown): string =>
  error instanceof Unavailable ? error.message : new DriverFault(error).message
