import { existsSync, readFileSync, statSync } from 'node:fs'

const LARGEST_BYTES = 1 << 20

/** The current value of a file, and its problems. */
export interface Reading<T> {
  /** Of the last text that could be read. */
  readonly value: T
  /** Why the present text is not in effect, or what of it is left out. */
  readonly problems: readonly string[]
  /** True if there was a good text at any time. */
  readonly isKnown: boolean
}

/** The result of parsing a whole text. */
export interface Parsed<T> {
  readonly value: T
  readonly problems: readonly string[]
}

/**
 * A file that is read again whenever its value is requested. It compares texts, not times: an edit that keeps
 * the file's time counts, and so does a file that appears later. If a text is invalid, the last valid value
 * stays.
 */
export class LiveFile<T> {
  #text: string | undefined
  #isRead = false
  #reading: Reading<T>

  /**
   * @param shown - the name in messages.
   * @param initial - the value before there is any good text.
   * @param parse - gets undefined without a file, and throws where the last good value is to stay.
   * @param report - gets each new problem of a text, once.
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

  /** The present value. The same text gives the same object. */
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
