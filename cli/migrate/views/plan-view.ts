import {
  breaksText,
  historyText,
  type LockWait,
  type OtherHistory,
  type PlannedRollBack,
  type PlannedStatement,
  type PlannedVersion,
  type VersionStatus,
} from '../../../lib/migrations/index.js'
import { terminalLine } from '../../output/terminal-line.js'
import type { Paint } from '../../output/paint.js'
import { nothingText } from '../lines/missing-versions.js'
import { isThere, lossText, tableText } from '../lines/sizes.js'
import type { Style } from '../lines/line-style.js'

/** The result of `plan`. */
export interface Planned {
  readonly lockWaits: LockWait
  readonly versions: readonly PlannedVersion[]
  readonly states: readonly VersionStatus[]
  readonly other: OtherHistory | undefined
}

/**
 * Returns the notes on a plan: another tool's history, migrations that did not finish in an earlier run, and
 * migrations that are running now.
 */
export function planNotes({ states, other }: Planned, { command }: Style): readonly string[] {
  const failed = states.filter(
    ({ state, isMissing, unfinished }) => state === 'dirty' && isMissing && unfinished?.direction === 'up',
  )
  return [
    ...(other === undefined ? [] : [historyText(other, command)]),
    ...failed.map(
      ({ name }) => `${name} did not finish in an earlier run: ${command('migrate status')} prints why`,
    ),
    ...runningIn(states).map(
      ({ name, holder }) =>
        `${name} is being migrated now, by ${holder ?? 'another session'}: plan again when it has finished`,
    ),
  ]
}

const runningIn = (states: readonly VersionStatus[]): readonly VersionStatus[] =>
  states.filter(({ state }) => state === 'running')

/**
 * Formats each migration with its statements and their effects on other clients, and finally how statements
 * wait for locks.
 */
export function planLines(
  { lockWaits, versions, states }: Planned,
  { paint, command }: Style,
): readonly string[] {
  const running = runningIn(states).map(({ name }) => name)
  if (versions.length === 0) return [running.length > 0 ? 'nothing else to do' : nothingText(states, command)]
  const lines = versions.flatMap(({ name, chunk, isFramework, done, rollBack, statements }) => [
    `${paint.bold(name)}${isFramework ? ', of the framework' : ''}${chunk === undefined ? '' : `, in chunks of at most ${chunk} rows`}`,
    ...rollBackLines(rollBack, running.includes(name), paint),
    ...(done === 0
      ? []
      : [
          running.includes(name)
            ? `  ${doneText(done)} done by the current run`
            : `  ${doneText(done)} done by an earlier run: up continues after that`,
        ]),
    ...statements.flatMap((statement) => [
      // The framework's files are inside the package, so line numbers do not help.
      `  ${isFramework ? '' : `line ${statement.line}: `}${terminalLine(statement.text)}`,
      ...effectLines(statement, paint, { name }).map((line) => `    ${line}`),
    ]),
  ])
  const areLocked = versions.some(({ rollBack, statements }) =>
    [...(rollBack?.statements ?? []), ...statements].some(({ blocks }) => WAITED_FOR.has(blocks)),
  )
  const notes = [
    ...(lines.some((line) => line.includes(SHORT))
      ? [`${SHORTENED}${versions.some(({ isFramework }) => isFramework) ? FRAMEWORK_FILES : '.'}`]
      : []),
    ...(areLocked ? [`${LOCK_WAITS[lockWaits]}. ${GIVES_UP}`] : []),
  ]
  return notes.length === 0 ? lines : [...lines, '', ...notes]
}

/** Marks shortened statements. It does not occur elsewhere in a plan. */
const SHORT = '…'
const SHORTENED =
  '… stands for a quoted string, or for the rest of a long statement: the file contains all of it'
const FRAMEWORK_FILES = ' (those of the framework are in node_modules/ashlar/migrations).'

/** Formats an interrupted rollback that `up` completes first. */
function rollBackLines(
  rollBack: PlannedRollBack | undefined,
  isRunning: boolean,
  paint: Paint,
): readonly string[] {
  if (rollBack === undefined) return []
  const { staysApplied, isUnknown, done, of, statements } = rollBack
  if (isRunning) return ['  it is being rolled back now']
  if (staysApplied) return ['  its rollback failed and removed nothing; up only clears the mark']
  if (isUnknown)
    return ['  its rollback stopped: up checks whether it is done; if it is not, the migration stays applied']
  const asks = statements.some(({ loses }) => loses.some(isThere))
  const stopped = done === 0 ? 'in statement 1' : `after statement ${done}`
  const numbers = of - done === 1 ? `statement ${of}` : `statements ${done + 1} to ${of}`
  const rest =
    done === of
      ? 'only its row is left'
      : `up first finishes it (${numbers})${asks ? ' and asks before that (--yes)' : ''}`
  return [
    paint.bad(`  its rollback stopped ${stopped} of ${of}: ${rest}, and then applies the file again`),
    ...statements.flatMap((statement, at) => [
      `  rollback, statement ${done + at + 1}: ${terminalLine(statement.text)}`,
      ...effectLines({ ...statement, loses: statement.loses.filter(isThere) }, paint, { missing: GONE }).map(
        (line) => `    ${line}`,
      ),
    ]),
  ]
}

const doneText = (done: number): string => (done === 1 ? 'statement 1 is' : `statements 1 to ${done} are`)

/** Statements that block others while they wait for their lock. */
const WAITED_FOR = new Set<PlannedStatement['blocks']>([
  ...(['writes', 'reads and writes', 'reads and writes for a moment', 'unknown'] as const),
])

/** The way in which statements wait for their locks, and the effect on other clients. */
const LOCK_WAITS: Readonly<Record<LockWait, string>> = {
  atBothEnds:
    'A table change takes the metadata lock briefly when it begins and when it ends. It waits for the lock until every transaction that uses the table has ended, and all later reads and writes wait behind it',
  whileItRuns:
    'A statement that blocks others waits for its lock until every transaction that uses the table has ended, and later statements wait behind it',
}
const GIVES_UP = 'up stops waiting after --lock-timeout (by default 2000 ms), and can then be run again.'

function effectLines(
  statement: PlannedStatement,
  paint: Paint,
  { name, missing = NOT_YET }: { readonly name?: string; readonly missing?: string },
): readonly string[] {
  const { lock, blocks, rows, waitsForOlder, tables, isNew, loses, fails, failsAfter, breaks } = statement
  if (isNew) return ['a new table: no client waits for it']
  const colour = {
    nothing: paint.good,
    'the same rows': paint.dim,
    writes: paint.warn,
    'reads and writes': paint.warn,
    'reads and writes for a moment': paint.dim,
  }
  const blocking =
    blocks === 'unknown'
      ? paint.warn('what it blocks is unknown')
      : colour[blocks](`blocks ${blocks === 'nothing' ? 'no reads or writes' : blocks}`)
  const what = lock === '' ? 'no lock on a table' : `lock ${lock}, ${blocking}`
  return [
    `${what}; ${ROWS[rows]}${rows === 'read' && blocks === 'reads and writes for a moment' ? ', while other clients continue' : ''}`,
    ...(waitsForOlder === true ? [WAITS_FOR_OLDER] : []),
    ...tables.map((table) => tableText(table, IF_EXISTS.test(statement.text) ? NOT_THERE : missing)),
    ...loses.map((loss) =>
      loss.isBroughtBack
        ? paint.warn(
            `drops ${lossText(loss)}: the down migration fills it again, and blocks the table meanwhile`,
          )
        : paint.bad(`loses ${lossText(loss)}: the values are permanently lost`),
    ),
    ...fails.map((query) =>
      paint.warn(`${failsText(failsAfter, name)}: ${terminalLine(query, LONGEST_QUERY)}`),
    ),
    ...(breaks === undefined ? [] : [paint.bad(`breaks: ${breaksText(breaks)}`)]),
  ]
}

const WAITS_FOR_OLDER =
  'waits for the transactions that were open before it; --concurrent-timeout (by default 900000 ms) limits both its wait and its work, and --statement-timeout does not apply'

/** @param after - the migration that adds the objects in the query. */
function failsText(after: string | undefined, name: string | undefined): string {
  if (after === undefined) return 'fails if this finds a row'
  return after === name
    ? 'fails if this finds a row, once this file has added what it reads'
    : `when ${name ?? 'this migration'} begins, this must find no row (it can be run once ${after} is applied)`
}

const ROWS: Readonly<Record<PlannedStatement['rows'], string>> = {
  untouched: 'reads no rows',
  read: 'reads every row',
  written: 'writes rows',
  rewritten: 'rewrites every row',
  'in place': 'may read every row or rebuild the table, while other clients continue',
  unknown: 'its effect on rows is unknown',
}

const LONGEST_QUERY = 1_000
const NOT_YET = 'does not exist yet'
const NOT_THERE = 'not there'
const GONE = 'does not exist: this statement fails'
const IF_EXISTS = /\bIF EXISTS\b/i
