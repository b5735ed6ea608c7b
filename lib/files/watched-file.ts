import { type FileWatch, watchFile } from './file-watch.js'

export interface WatchedFileOptions {
  /** Milliseconds for which the file must be unchanged before it is read. */
  readonly debounceMs: number
  /** The interval in milliseconds at which it is read without a reported change. */
  readonly recheckMs: number
  /** Reads the file. Never called concurrently. */
  readonly read: () => Promise<void>
  /** Called if the system cannot watch the file, which is then only read every `recheckMs`. */
  readonly unwatched: (code: string) => void
}

/** If the folder changes constantly, the file is read after this many debounce times. */
const MAX_WAITS = 10

/** Reads a file whenever it may have changed. */
export class WatchedFile {
  #watch: FileWatch | undefined
  /** The timer of the next read without a reported change. */
  #next: NodeJS.Timeout | undefined
  #soon: NodeJS.Timeout | undefined
  #heardAt: number | undefined
  #reading: Promise<void> | undefined
  #isStale = false
  #isClosed = false

  private constructor(private readonly options: WatchedFileOptions) {}

  /** Starts watching. Call `read` for the first read. */
  static async open(path: string, options: WatchedFileOptions): Promise<WatchedFile> {
    const file = new WatchedFile(options)
    file.#watch = await watchFile(path, () => file.#heard(), options.unwatched)
    return file
  }

  /** Watches the file's current location; see {@link FileWatch}. */
  async follow(): Promise<void> {
    await this.#watch?.follow()
  }

  /** Reads the file. A read in progress is repeated afterwards. */
  read(): Promise<void> {
    this.#isStale = true
    this.#reading ??= this.#readOn().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  /** Schedules the next read without a reported change, which replaces the one after `recheckMs`. */
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

  /** A method, because the compiler would assume that the field cannot change during an await. */
  #hasEnded(): boolean {
    return this.#isClosed
  }
}
