import type { Migrator, Progress } from '../../lib/migrations/index.js'
import type { Exit } from '../errors/exit-codes.js'
import { Failure } from '../errors/failure.js'
import { paintFor } from '../output/paint.js'
import { DatabaseVerb } from './database-verb.js'
import type { DatabaseFlags } from './migrator-of.js'

const SIGNALS = { SIGINT: 'interrupted', SIGTERM: 'terminated' } as const satisfies Readonly<
  Partial<Record<NodeJS.Signals, Exit>>
>
const BEGINNINGS = new Set<Progress['kind']>(['adopted', 'recovering', 'file'])
/** Also where there was no connection. */
const SAYS_SO = /nothing (is changed|was changed|has taken effect)|no connection/i
type EndingSignal = keyof typeof SIGNALS

/**
 * A command that changes a database, reports progress on stderr, and cancels its statement on the server when it is
 * told to end.
 */
export abstract class MigratingVerb extends DatabaseVerb {
  /** Whether a failure says that nothing is changed, where no version was begun. */
  protected readonly mayChange: boolean = false

  /** @throws {Failure} */
  protected async migrating<T>(flags: DatabaseFlags, work: (migrator: Migrator) => Promise<T>): Promise<T> {
    const { attempt } = await import('./attempt.js')
    const ending = new AbortController()
    let heard: EndingSignal | undefined
    const run = { hasBegun: false }
    const hear = (signal: EndingSignal) => {
      // From now on either signal ends the process at once.
      stopListening()
      heard = signal
      // The terminal has written ^C.
      const newLine = signal === 'SIGINT' && process.stderr.isTTY ? '\n' : ''
      process.stderr.write(
        `${newLine}${signal}: cancelling what runs in the database, and waiting for its response; once more ends at once\n`,
      )
      ending.abort()
    }
    const stopListening = () => {
      for (const signal of Object.keys(SIGNALS)) process.removeListener(signal, hear)
    }
    for (const signal of Object.keys(SIGNALS)) process.on(signal, hear)
    try {
      const report = await this.progress()
      const migrator = await this.connected(flags, {
        onProgress: (event) => {
          run.hasBegun ||= BEGINNINGS.has(event.kind)
          report(event)
        },
        signal: ending.signal,
      })
      return await attempt(() => work(migrator))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const isUnsaid = this.mayChange && !run.hasBegun && !SAYS_SO.test(error.message)
      throw new Failure(
        heard === undefined ? error.exit : SIGNALS[heard],
        isUnsaid ? `${error.message}. Nothing is changed` : error.message,
        { cause: heard === undefined ? error.cause : error },
      )
    } finally {
      stopListening()
    }
  }

  /** Says which versions `migrate up` applies next. */
  protected async nextUp(flags: DatabaseFlags): Promise<void> {
    const { nextLine } = await import('./lines/next-line.js')
    const next = await this.appliedNext(flags)
    if (next !== '') this.say([nextLine(['up'], `which applies ${next}`)])
  }

  /**
   * The versions that `migrate up` applies next; empty for none, and where it would refuse. That is only help: nothing fails where
   * it cannot be known.
   */
  protected async appliedNext(flags: DatabaseFlags): Promise<string> {
    const { namesText } = await import('./lines/names-text.js')
    return namesText(await this.planned(flags))
  }

  /** Those versions, one by one. */
  protected async planned(flags: DatabaseFlags): Promise<readonly string[]> {
    const migrator = await this.connected(flags)
    return (await migrator.plan().catch(() => [])).map(({ name }) => name)
  }

  protected async progress(): Promise<(event: Progress) => void> {
    const { progressLines } = await import('./lines/progress-lines.js')
    const lines = progressLines(paintFor(process.stderr))
    return (event) => {
      for (const line of lines(event)) process.stderr.write(`${line}\n`)
    }
  }
}
