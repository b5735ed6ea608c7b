import { existsSync, readFileSync, statSync } from 'node:fs'

const LARGEST_BYTES = 1 << 20

/** The current value of a file, and its problems. */
export interface Reading<T> {
  /** The value of the last readable file. */
  readonly value: T
  /** The reasons why the current file is not used, or which parts of it are skipped. */
  readonly problems: readonly string[]
  /** True if a valid file was ever read. */
  readonly isKnown: boolean
}

/** The result of parsing a file. */
export interface Parsed<T> {
  readonly value: T
  readonly problems: readonly string[]
}

/**
 * A file that is read again whenever its value is requested. Contents are compared, not times, so that edits
 * that preserve the file's time and files that appear later are noticed. If the file is invalid, the last
 * valid value is used.
 */
export class LiveFile<T> {
  #text: string | undefined
  #isRead = false
  #reading: Reading<T>

  /**
   * @param shown - the name in messages.
   * @param initial - the value before a valid file was read.
   * @param parse - receives undefined without a file, and throws if the last valid value is to be used.
   * @param report - receives each new problem once.
   */
  constructor(
    private readonly path: string,
    private readonly shown: string,
    initial: T,
    private readonly parse: (text: string | undefined) => Parsed<T>,
    private readonly report: (problem: string) => void = () => {},
  ) {
    this.#reading = { value: initial, problems: [], isKnown: false }
  }

  /** Returns the current value. An unchanged file returns the same object. */
  read(): Reading<T> {
    const { problems: before } = this.#reading
    let text: string | undefined
    try {
      text = textOf(this.path)
      if (this.#isRead && text === this.#text) return this.#reading
      this.#reading = this.#named(this.parse(text))
    } catch (error) {
      const problem = `${this.shown}: ${(error as Error).message}. The last good version stays in effect.`
      this.#reading = { ...this.#reading, problems: [problem] }
    }
    this.#text = text
    this.#isRead = text !== undefined || !existsSync(this.path)
    for (const problem of this.#reading.problems) if (!before.includes(problem)) this.report(problem)
    return this.#reading
  }

  #named({ value, problems }: Parsed<T>): Reading<T> {
    return { isKnown: true, value, problems: problems.map((problem) => `${this.shown}: ${problem}`) }
  }
}

function textOf(path: string): string | undefined {
  try {
    const stat = statSync(path)
    if (!stat.isFile()) throw new TypeError('it is not a file')
    if (stat.size > LARGEST_BYTES) throw new TypeError('it is larger than 1 MiB')
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
