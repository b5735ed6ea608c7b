import { writeSync } from 'node:fs'
import { migrate, type MigrateOptions, type Progress } from '../../../lib/migrations/index.js'

/**
 * A migrating host of its own. Its argument is a `HostOrders` in JSON; it prints one line of JSON with the
 * result or the failure, and kills itself as hard as can be where the orders say so.
 */
export interface HostOrders {
  readonly options: Omit<MigrateOptions, 'signal' | 'onProgress'>
  /** Roll back to this version instead of going up. */
  readonly downTo?: number
  /**
   * Die at the `at`-th statement: `before` it is sent, `during` it (sent, and no answer read), or `after` the
   * server did it and before that is recorded. Or with the `at`-th `chunk` of a backfill.
   */
  readonly die?: { readonly at: number; readonly when: 'before' | 'during' | 'after' | 'chunk' }
  readonly dieAfterMs?: number
}

export interface HostReport {
  readonly result?: unknown
  readonly failure?: string
  readonly waited: number
}

const { options, downTo, die, dieAfterMs } = JSON.parse(process.argv[2] ?? '{}') as HostOrders
let statements = 0
let chunks = 0
let waited = 0

const migrator = migrate({
  ...options,
  onProgress: (event: Progress) => {
    if (event.kind === 'waiting') waited++
    if (event.kind === 'filled' && die?.when === 'chunk' && ++chunks === die.at) kill()
    if (event.kind !== 'statement' || die === undefined) return
    if (event.step === 'started' && ++statements === die.at) {
      if (die.when === 'before') kill()
      // The statement is written to the socket in this turn of the event loop.
      if (die.when === 'during') setImmediate(kill)
    }
    if (event.step === 'ended' && statements === die.at && die.when === 'after') kill()
  },
})

if (dieAfterMs !== undefined) setTimeout(kill, dieAfterMs).unref()

const report = (line: HostReport) => writeSync(1, `${JSON.stringify(line)}\n`)
try {
  report({ result: downTo === undefined ? await migrator.up() : await migrator.down(downTo), waited })
} catch (error) {
  report({ failure: error instanceof Error ? error.message : String(error), waited })
}

function kill(): void {
  process.kill(process.pid, 'SIGKILL')
}
