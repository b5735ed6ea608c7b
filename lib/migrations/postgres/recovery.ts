import { type NonTransactional, nonTransactionalOf } from './sql/non-transactional.js'
import { postgresSyntax } from './sql/syntax.js'
import { cleanUp, dropLeftOver, dropReindexed, indexState } from './index-state.js'
import type { Recovery } from '../messages/recoveries.js'
import { splitStatements } from '../sql/split-statements.js'
import type { Step } from '../session/step.js'
import { type AppliedVersion, isGoingDown } from '../session/version-table.js'

/**
 * Removes the remains of a non-transactional statement that failed, or whose run ended without a report.
 * Returns true if its effect exists, so that it does not run again. Files that ran in a transaction leave no
 * remains.
 *
 * @param isSame - true if the file has not changed since then. Otherwise an existing effect is undone, too.
 */
export async function recoverNonTransactional(
  step: Step,
  previous: AppliedVersion,
  isSame: boolean,
): Promise<boolean> {
  const { session, options } = step
  const sql = isGoingDown(previous) ? previous.downSql : previous.upSql
  const [only] = splitStatements(sql ?? '', postgresSyntax).statements
  const nonTransactional = only && nonTransactionalOf(only)
  if (nonTransactional === undefined) return false
  await session.settle(0, options.concurrentTimeoutMs)
  // With an error, the statement did not finish. Without an error, this is unknown.
  const mayHaveEnded = previous.error === undefined
  switch (nonTransactional.kind) {
    case 'createIndex':
      return recoverCreate(step, nonTransactional, mayHaveEnded, isSame)
    case 'dropIndex':
      return recoverDrop(step, nonTransactional, mayHaveEnded, isSame)
    case 'detachPartition':
      return recoverDetach(step, nonTransactional, mayHaveEnded, isSame)
    case 'reindex':
      await dropReindexed(step)
      return false
    case 'vacuum':
      return false
  }
}

type Kind<K extends NonTransactional['kind']> = Extract<NonTransactional, { readonly kind: K }>

async function recoverCreate(
  step: Step,
  nonTransactional: Kind<'createIndex'>,
  mayHaveEnded: boolean,
  isSame: boolean,
): Promise<boolean> {
  const state = await indexState(step.session, nonTransactional)
  if (state === 'valid' && mayHaveEnded && isSame) return true
  if (state === 'invalid' || (state === 'valid' && mayHaveEnded)) {
    tell(step, { kind: 'dropsIndex', index: nonTransactional.index, leftBy: 'build' })
    await dropLeftOver(step, nonTransactional)
  }
  return false
}

async function recoverDrop(
  step: Step,
  nonTransactional: Kind<'dropIndex'>,
  mayHaveEnded: boolean,
  isSame: boolean,
): Promise<boolean> {
  const state = await indexState(step.session, nonTransactional)
  if (state === 'invalid') {
    tell(step, { kind: 'dropsIndex', index: nonTransactional.index, leftBy: 'drop' })
    await dropLeftOver(step, nonTransactional)
    return isSame
  }
  return state === 'absent' && mayHaveEnded && isSame
}

async function recoverDetach(
  step: Step,
  { table, partition }: Kind<'detachPartition'>,
  mayHaveEnded: boolean,
  isSame: boolean,
): Promise<boolean> {
  const names = [table, partition].map(quoted)
  const [row] = await step.session.rows(
    `SELECT to_regclass(?) IS NOT NULL AS exists,
       (SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass(?) AND inhparent = to_regclass(?)) AS pending`,
    [names[1], names[1], names[0]],
  )
  if (row?.pending === true) {
    tell(step, { kind: 'detaches', partition })
    await cleanUp(step, `ALTER TABLE ${names.join(' DETACH PARTITION ')} FINALIZE`)
    return isSame
  }
  return row?.exists === true && row.pending === null && mayHaveEnded && isSame
}

const quoted = (name: string): string =>
  name
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.')

const tell = ({ options, name: version }: Step, how: Recovery): void =>
  options.report({ kind: 'recovering', version, how })
