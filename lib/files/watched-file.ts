import { type FileWatch, watchFile } from './file-watch.js'

export interface WatchedFileOptions {
  /** The time the file must be unchanged before it is read. */
  readonly debounceMs: number
  /** The interval at which it is read without a reported change. */
  readonly recheckMs: number
  /** Reads the file; never called twice at a time. */
  readonly read: () => Promise<void>
  /** The system refuses to watch the file, which is read every `recheckMs` all the same. */
  readonly unwatched: (code: string) => void
}

/** In a folder that changes all the time, the file is read after so many times the debounce time. */
const MAX_WAITS = 10

/** Has a file read whenever it may have changed. */
export class WatchedFile {
  #watch: FileWatch | undefined
  /** When the file is read next without a reported change. */
  #next: NodeJS.Timeout | undefined
  #soon: NodeJS.Timeout | undefined
  #heardAt: number | undefined
  #reading: Promise<void> | undefined
  #isStale = false
  #isClosed = false

  private constructor(private readonly options: WatchedFileOptions) {}

  /** Watches from now on. Call `read` for the first reading. */
  static async open(path: string, options: WatchedFileOptions): Promise<WatchedFile> {
    const file = new WatchedFile(options)
    file.#watch = await watchFile(path, () => file.#heard(), options.unwatched)
    return file
  }

  /** Watches the file's current location; see {@link FileWatch}. */
  async follow(): Promise<void> {
    await this.#watch?.follow()
  }

  /** Has the file read. A read that is in progress is repeated. */
  read(): Promise<void> {
    this.#isStale = true
    this.#reading ??= this.#readOn().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  /** The next reading without a reported change, in place of the one after `recheckMs`. */
  readIn(ms: number): void {
    clearTimeout(this.#next)
    if (this.#isClosed) return
    this.#next = setTimeout(() => void this.read(), ms)
    this.#next.unref()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#next)
    clearTimeout(this.#soon)
    await this.#watch?.close()
  }

  #heard(): void {
    const { debounceMs } = this.options
    if (this.#isClosed) return
    this.#heardAt ??= performance.now()
    const left = this.#heardAt + MAX_WAITS * debounceMs - performance.now()
    clearTimeout(this.#soon)
    this.#soon = setTimeout(() => void this.read(), Math.max(0, Math.min(debounceMs, left)))
    this.#soon.unref()
  }

  async #readOn(): Promise<void> {
    while (this.#isStale && !this.#hasEnded()) {
      this.#isStale = false
      this.#heardAt = undefined
      this.readIn(this.options.recheckMs)
      await this.options.read()
    }
  }

  /** A method, because the compiler assumes that the value cannot change across an await. */
  #hasEnded(): boolean {
    return this.#isClosed
  }
}
