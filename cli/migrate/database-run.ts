import type {
  CommandLine,
  DatabaseAddress,
  Migrator,
  Progress,
  VersionStatus,
} from '../../lib/migrations/index.js'
import type { Exit } from '../errors/exit-codes.js'
import { Failure } from '../errors/failure.js'
import { confirmed } from '../output/confirmed.js'
import { type Paint, paintFor } from '../output/paint.js'
import { terminalLine } from '../output/terminal-line.js'
import type { Verb } from '../verb/verb.js'
import { attempt, type Reporter } from './attempt.js'
import { databaseText, type Heading } from './headings.js'
import { progressLines } from './lines/progress-lines.js'
import type { Style } from './lines/line-style.js'
import { type DatabaseFlags, migratorOf, optionsOf } from './migrator-of.js'
import { emptyFolder, emptyText } from './next-files.js'
import { runCommandLine } from './run-command-line.js'

/** The database as printed by `--json`; missing if the connection string is not a URL. */
export interface OnDatabase {
  readonly database?: DatabaseAddress
}

interface RunOptions {
  /** The first line on stderr if the command does not work in the given database itself. */
  readonly heading?: Heading
  /** True if a failure should state that nothing was changed, when no migration was started. */
  readonly mayChange?: boolean
}

const SIGNALS = { SIGINT: 'interrupted', SIGTERM: 'terminated' } as const satisfies Readonly<
  Partial<Record<NodeJS.Signals, Exit>>
>
type EndingSignal = keyof typeof SIGNALS

/** The database of a command: the connection, progress, signals and questions. Its name is printed once. */
export class DatabaseRun {
  /** Formats commands with the flags of the current one. */
  readonly command: CommandLine
  #database: DatabaseAddress | undefined

  constructor(
    private readonly verb: Pick<Verb, 'note' | 'beside' | 'paint'>,
    readonly flags: DatabaseFlags,
    private readonly options: RunOptions = {},
  ) {
    this.command = runCommandLine(flags)
  }

  get style(): Style {
    return { paint: this.verb.paint, command: this.command }
  }

  get database(): DatabaseAddress | undefined {
    return this.#database
  }

  /**
   * Connects to the database.
   * @param mayBegin - true if the folder may be missing.
   * @throws {Failure} for invalid flags.
   */
  async connect(
    running: Parameters<typeof migratorOf>[1] = {},
    mayBegin = this.flags.mayBegin,
  ): Promise<Migrator> {
    const reporter = { ...this.reporter, mayChange: false }
    const migrator = await attempt(() => migratorOf({ ...this.flags, mayBegin }, running), reporter)
    const { database } = migrator
    const { heading = databaseText } = this.options
    if (database !== undefined && this.#database === undefined)
      process.stderr.write(`${terminalLine(heading(database))}\n`)
    this.#database = database
    if (database !== undefined) this.verb.beside.database = database
    return migrator
  }

  /**
   * Returns the result of `work`, which only reads. A signal ends the process at once.
   * @throws {Failure}
   */
  async read<T>(work: (migrator: Migrator) => Promise<T>): Promise<T> {
    const migrator = await this.connect()
    return this.#attempt(() => work(migrator))
  }

  /**
   * Returns the result of `work` and prints its progress on stderr. The first signal cancels its statement on
   * the server.
   * @throws {Failure}
   */
  async change<T>(
    work: (migrator: Migrator) => Promise<T>,
    { mayBegin }: { readonly mayBegin?: boolean } = {},
  ): Promise<T> {
    const ending = new AbortController()
    let heard: EndingSignal | undefined
    const hear = (signal: EndingSignal) => {
      // A second signal ends the process at once.
      stopListening()
      heard = signal
      // The terminal has printed ^C.
      const newLine = signal === 'SIGINT' && process.stderr.isTTY ? '\n' : ''
      process.stderr.write(
        `${newLine}${signal}: cancelling the statement that is running in the database; a second signal exits at once\n`,
      )
      ending.abort()
    }
    const stopListening = () => {
      for (const signal of Object.keys(SIGNALS)) process.removeListener(signal, hear)
    }
    for (const signal of Object.keys(SIGNALS)) process.on(signal, hear)
    try {
      const onProgress = reportTo(paintFor(process.stderr))
      const migrator = await this.connect({ onProgress, signal: ending.signal }, mayBegin)
      return await this.#attempt(() => work(migrator))
    } catch (error) {
      if (!(error instanceof Failure) || heard === undefined) throw error
      const { message, facts } = error
      throw new Failure(SIGNALS[heard], message, { cause: error, facts })
    } finally {
      stopListening()
    }
  }

  /**
   * Returns the migrations that `migrate up` applies next; none if it would fail. This is only a hint, so
   * errors are ignored.
   */
  async planned(): Promise<readonly string[]> {
    const migrator = await this.connect()
    return (await migrator.plan().catch(() => [])).map(({ name }) => name)
  }

  /**
   * Requests a confirmation that contains the name of the database.
   * @throws {Failure} with the text of `otherwise` if the user declines, or if there is no terminal.
   */
  async confirm(question: string, otherwise: string): Promise<void> {
    const database = this.#database === undefined ? '' : `${databaseText(this.#database)}: `
    if (!(await confirmed(terminalLine(database + question, LONGEST_QUESTION))))
      throw new Failure('differs', otherwise)
  }

  /**
   * Requests a confirmation before a rollback that loses data.
   * @param isConfirmed - true if the loss is only reported.
   */
  async confirmLoss(sentences: readonly string[], isConfirmed: boolean): Promise<void> {
    if (sentences.length === 0) return
    if (isConfirmed) this.verb.note([sentences.join('. ')])
    else await this.confirm(`${sentences.join('. ')}.`, 'nothing is rolled back')
  }

  /** Adds the database to a result. */
  onDatabase<T extends object>(result: T): T & OnDatabase {
    return { ...result, ...(this.#database !== undefined && { database: this.#database }) }
  }

  /** Prints a note if the folder contains no migration, because it may be the wrong one. */
  async noteEmpty(): Promise<void> {
    const { dialect } = this.#database ?? (await this.connect()).database ?? {}
    const empty = dialect && emptyFolder(this.flags.files, dialect)
    if (empty !== undefined) this.verb.note([emptyText(empty)])
  }

  /** The context in which its errors are reported. */
  get reporter(): Reporter {
    const { mayChange = false } = this.options
    return { command: this.command, mayChange, versions: () => this.#versionsThere() }
  }

  #attempt<T>(work: () => Promise<T>): Promise<T> {
    return attempt(work, this.reporter)
  }

  async #versionsThere(): Promise<readonly VersionStatus[]> {
    const { migrate } = await import('../../lib/migrations/index.js')
    const migrator = migrate({ ...(await optionsOf(this.flags)), files: {} })
    return migrator.status().catch(() => [])
  }
}

const LONGEST_QUESTION = 2_000

function reportTo(paint: Paint): (event: Progress) => void {
  const lines = progressLines(paint)
  return (event) => {
    for (const line of lines(event)) process.stderr.write(`${line}\n`)
  }
}
