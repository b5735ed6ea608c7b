import type { CommandLine, DownResult, RollBack, VersionStatus } from '../../../lib/migrations/index.js'
import { namesText } from '../lines/names-text.js'
import { isThere, lossesText } from '../lines/sizes.js'
import type { Style } from '../lines/line-style.js'

/** The result of `down`. */
export interface RolledBack {
  readonly result: DownResult
  /** The rolled back migrations as they were before. */
  readonly done: readonly RollBack[]
  /** Undefined if only the last migration is rolled back. */
  readonly to: number | undefined
  /** The migrations that the next `up` applies. */
  readonly pending: readonly string[]
  /** The state if nothing was rolled back. */
  readonly states: readonly VersionStatus[]
}

/** Returns the notes printed before a rollback. */
export const downNotes = (rollBacks: readonly RollBack[], to: number | undefined): readonly string[] => [
  ...(to === undefined ? orderLines(rollBacks) : []),
  ...lossNotes(rollBacks),
]

/** Returns notes on objects that stay, lose their values, or are written again. */
export const lossNotes = (rollBacks: readonly RollBack[]): readonly string[] => [
  ...staysLostLines(rollBacks),
  ...refillLines(rollBacks),
  ...staysDoneLines(rollBacks),
]

export function downLines(rolledBack: RolledBack, { paint, command }: Style): readonly string[] {
  const { result, done, to, pending, states } = rolledBack
  return [
    ...result.rolledBack.map((name) => `${paint.good('rolled back')} ${name}`),
    ...staysLostLines(done),
    ...refillLines(done),
    ...(to === undefined ? contractLines(done, command) : []),
    ...(to === 0 ? staysDoneLines(done) : recordAgainLines(done, command)),
    ...(result.rolledBack.length === 0 ? [nothingLine(states, to)] : []),
    ...pendingLines(pending, result, command),
  ]
}

function nothingLine(states: readonly VersionStatus[], to: number | undefined): string {
  if (states.every(({ state }) => state === 'pending')) return 'nothing to do: no migration is applied'
  return to === undefined
    ? 'nothing to do: only the framework’s own migrations are applied; --to 0 rolls them back'
    : `nothing to do: no migration of the module above ${String(to).padStart(4, '0')} is applied`
}

/** Formats the pending migrations. This is not advice, because the next deployment applies them anyway. */
function pendingLines(
  pending: readonly string[],
  { rolledBack }: DownResult,
  command: CommandLine,
): readonly string[] {
  if (pending.length === 0) return []
  const [are, them] = pending.length === 1 ? ['is', 'it'] : ['are', 'them']
  const again = pending.every((name) => rolledBack.includes(name)) ? ' again' : ''
  return [
    `${namesText(pending)} ${are} pending: the next ${command('migrate up')}, including a deployment with these files, applies ${them}${again}`,
  ]
}

/**
 * Returns the confirmation before a rollback whose down migrations lose values; empty if nothing is lost.
 * @param takesFramework - true if the framework's own tables are dropped as well.
 * @param then - the next step, such as `, and applies it again`.
 */
export function lossesQuestion(
  rollBacks: readonly RollBack[],
  { command }: Pick<Style, 'command'>,
  takesFramework: boolean,
  then = '',
): readonly string[] {
  const losses = rollBacks
    .filter(({ isFramework, loses }) => loses.length > 0 && !(takesFramework && isFramework))
    .map(({ name, loses }) => `${name} loses ${lossesText(loses)}`)
  const written = rollBacks.filter(({ staysDone }) => staysDone === 'written').map(({ name }) => name)
  if (rollBacks.length === 0 || (losses.length + written.length === 0 && !takesFramework)) return []
  const tables = rollBacks
    .filter(({ isFramework }) => isFramework)
    .flatMap(({ loses }) => loses.filter((loss) => loss.what === 'table' && isThere(loss)))
    .map(({ name }) => name)
  const framework = ` and drops the framework’s own tables with their contents${tables.length === 0 ? '' : ` (${tables.join(', ')})`}`
  const their = written.length === 1 ? 'its' : 'their'
  return [
    `This rolls back ${namesText(rollBacks.map(({ name }) => name))}${takesFramework ? framework : ''}${then}`,
    ...(losses.length === 0 ? [] : [`Data is deleted permanently: ${losses.join('; ')}`]),
    ...(written.length === 0
      ? []
      : [
          `No statement rolls back ${namesText(written)}: ${their} changes stay, and the next ${command('migrate up')} makes them again`,
        ]),
  ]
}

/** Returns a line for each migration that is recorded as rolled back but whose changes stay. */
const staysDoneLines = (rollBacks: readonly RollBack[]): readonly string[] =>
  rollBacks.filter(({ staysDone }) => staysDone !== undefined).map(({ name }) => `${name} ${STAYS_DONE}`)

/**
 * Returns the same lines after the rollback, with the effect of the next `up` and the command that records
 * each migration again.
 */
const recordAgainLines = (rollBacks: readonly RollBack[], command: CommandLine): readonly string[] =>
  rollBacks
    .filter(({ staysDone }) => staysDone !== undefined)
    .map(({ version, name, staysDone }) => {
      const record = command('migrate resolve', { applied: version })
      const next =
        staysDone === 'written'
          ? `the next ${command('migrate up')} writes it a second time, unless ${record} records it first`
          : `if migrate up fails because of that, ${record} records it again`
      return `${name} ${STAYS_DONE}: ${next}`
    })

const STAYS_DONE = 'has no statement to roll back, so its changes stay'

/** Explains why a migration other than the one with the highest number is rolled back. */
const orderLines = (rollBacks: readonly RollBack[]): readonly string[] =>
  rollBacks
    .filter(({ appliedBefore }) => appliedBefore.length > 0)
    .map(
      ({ name, appliedBefore }) =>
        `${name} was applied last, and is rolled back first: ${namesText(appliedBefore)}, with a higher number, ${appliedBefore.length === 1 ? 'was' : 'were'} applied before it and ${appliedBefore.length === 1 ? 'stays' : 'stay'}`,
    )

/** Returns a line for each backfill whose position is reset. */
const refillLines = (rollBacks: readonly RollBack[]): readonly string[] =>
  rollBacks.flatMap(({ name, refills }) => {
    if (refills === undefined || refills.written === 0) return []
    const rows =
      refills.written === undefined
        ? 'the rows that its WHERE selects then'
        : `those of the ${refills.written} updated rows that its WHERE still selects`
    return [
      `${name}: the position of the backfill is discarded: up starts again at the first row and updates again ${rows}`,
    ]
  })

/** Returns a line for each further requirement of an image from before a contract migration. */
const contractLines = (rollBacks: readonly RollBack[], command: CommandLine): readonly string[] =>
  rollBacks
    .filter(({ mayLeaveContract }) => mayLeaveContract)
    .map(
      ({ name }) =>
        `${name} is part of a contract: an older image needs each of its migrations rolled back, with ${command('migrate down', { to: true })} and the number of the last migration before the first of them`,
    )

/** Returns a line for data that a rollback does not restore. */
const staysLostLines = (rollBacks: readonly RollBack[]): readonly string[] =>
  rollBacks
    .filter(({ staysLost }) => staysLost.length > 0)
    .map(
      ({ name, staysLost }) =>
        `${name} removed ${lossesText(staysLost)}: its down migration does not restore the values`,
    )
