import type { PlannedVersion, RollBack } from '../../../lib/migrations/index.js'
import { namesText } from './names-text.js'
import { isThere, lossText } from './plan-lines.js'

/**
 * What is asked before versions are rolled back whose way down loses values; undefined where nothing is lost.
 * @param takesFramework - whether the framework's own tables are dropped as well.
 * @param then - what is done after it, such as `, and applies it again`.
 */
export function lossesQuestion(
  rollBacks: readonly RollBack[],
  takesFramework: boolean,
  then = '',
): string | undefined {
  const losses = rollBacks
    .filter(({ isFramework, loses }) => loses.length > 0 && !(takesFramework && isFramework))
    .map(({ name, loses }) => `${name} loses ${loses.map((loss) => lossText(loss)).join(', ')}`)
  const written = rollBacks.filter(({ staysDone }) => staysDone === 'written').map(({ name }) => name)
  if (rollBacks.length === 0 || (losses.length + written.length === 0 && !takesFramework)) return undefined
  const tables = rollBacks
    .filter(({ isFramework }) => isFramework)
    .flatMap(({ loses }) => loses.filter((loss) => loss.what === 'table' && isThere(loss)))
    .map(({ name }) => name)
  const framework = ` and drops the framework’s own tables, with what is in them${tables.length === 0 ? '' : ` (${tables.join(', ')})`}`
  return [
    `This rolls back ${namesText(rollBacks.map(({ name }) => name))}${takesFramework ? framework : ''}${then}.`,
    ...(losses.length === 0
      ? []
      : [
          `What ${rollBacks.length === 1 && !takesFramework ? 'it loses' : 'they lose'} is gone for good: ${losses.join('; ')}.`,
        ]),
    ...(written.length === 0
      ? []
      : [
          `No statement rolls back ${namesText(written)}: what ${written.length === 1 ? 'it' : 'they'} wrote stays, and the next ashlar migrate up writes it a second time.`,
        ]),
  ].join(' ')
}

/** What is asked before `up` finishes rollbacks that stopped; undefined where they lose nothing more. */
export function finishQuestion(versions: readonly PlannedVersion[]): string | undefined {
  const losing = versions.flatMap(({ name, rollBack }) => {
    const losses = (rollBack?.statements ?? []).flatMap(({ loses }) => loses).filter(isThere)
    return losses.length === 0 ? [] : [{ name, text: losses.map((loss) => lossText(loss)).join(', ') }]
  })
  if (losing.length === 0) return undefined
  return `This first finishes the rollback of ${namesText(losing.map(({ name }) => name))}, which stopped. What that loses is gone for good: ${losing.map(({ name, text }) => `${name} loses ${text}`).join('; ')}.`
}

/** Of which versions everything stays although they count as rolled back, one line each. */
export const staysDoneLines = (rollBacks: readonly RollBack[]): readonly string[] =>
  rollBacks.filter(({ staysDone }) => staysDone !== undefined).map(({ name }) => `${name} ${STAYS_DONE}`)

/** The same afterwards, with what the next `up` does, and how each is recorded again in its place. */
export const recordAgainLines = (rollBacks: readonly RollBack[]): readonly string[] =>
  rollBacks
    .filter(({ staysDone }) => staysDone !== undefined)
    .map(({ name, staysDone }) => {
      const record = `ashlar migrate resolve --applied ${Number(name.slice(0, 4))}`
      const next =
        staysDone === 'written'
          ? `the next ashlar migrate up writes it a second time, unless ${record} records it before`
          : `where migrate up fails because of that, ${record} records it again`
      return `${name} ${STAYS_DONE}: ${next}`
    })

const STAYS_DONE = 'has no statement to roll back, and what it did stays'

/** Why the highest number is not the one that is rolled back. */
export const orderLines = (rollBacks: readonly RollBack[]): readonly string[] =>
  rollBacks
    .filter(({ appliedBefore }) => appliedBefore.length > 0)
    .map(
      ({ name, appliedBefore }) =>
        `${name} was applied last, and is rolled back first: ${namesText(appliedBefore)}, with a higher number, ${appliedBefore.length === 1 ? 'was' : 'were'} applied before it and ${appliedBefore.length === 1 ? 'stays' : 'stay'}`,
    )

/** Of which backfills the position is forgotten, one line each. */
export const refillLines = (rollBacks: readonly RollBack[]): readonly string[] =>
  rollBacks.flatMap(({ name, refills }) => {
    if (refills === undefined || refills.written === 0) return []
    const rows =
      refills.written === undefined
        ? 'the rows that its WHERE takes then'
        : `rows of the ${refills.written} that are written, where its WHERE takes them,`
    return [
      `${name}: its position is forgotten: up begins at the first row again, and writes ${rows} a second time`,
    ]
  })

/** What an image from before a contract needs besides, one line each. */
export const contractLines = (rollBacks: readonly RollBack[]): readonly string[] =>
  rollBacks
    .filter(({ mayLeaveContract }) => mayLeaveContract)
    .map(
      ({ name }) =>
        `${name} is of a contract: an image from before that needs each of its versions rolled back, with ashlar migrate down --to and the number of the last version before the first of them`,
    )

/** What does not come back with the versions that are rolled back, one line each. */
export const staysLostLines = (rollBacks: readonly RollBack[]): readonly string[] =>
  rollBacks
    .filter(({ staysLost }) => staysLost.length > 0)
    .map(
      ({ name, staysLost }) =>
        `${name} took away ${staysLost.map((lost) => lossText(lost)).join(', ')}: its way down does not bring the values back`,
    )
