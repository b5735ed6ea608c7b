import { ErrNotFound, ErrPreconditionFailed } from '../../errors.js'
import type { Executor, RunOptions } from '../engines/executor/executor.js'
import type { Range } from '../../resource/kinds/kind.js'
import type { FieldIncrement } from '../../resource/values/increment.js'
import { and, compare, type FilterNode, isNull, or } from '../query/plan.js'
import type { Values } from '../contract/new-entity.js'
import type { Dialect } from '../dialects/dialect.js'
import type { Target } from '../references/row-target.js'
import type { RowStore } from './row-store.js'
import { FOR_WRITE } from './statements.js'

/** Why a write reached no live row: its etag is another, or the row is not there. */
export async function explainMiss<E extends object>(
  rows: RowStore<E>,
  on: Executor,
  { ifMatch, ...target }: Target,
  run: RunOptions,
): Promise<never> {
  if (ifMatch !== undefined && (await rows.get(on, target, run)) !== undefined)
    throw ErrPreconditionFailed.etag()
  throw new ErrNotFound()
}

/** The row, while its increments stay in range. */
export function inRange(target: Target, increments: readonly FieldIncrement[], dialect: Dialect): Target {
  const fit = increments.map((each) => staysInRange(each, dialect.kinds[each.field.kind].range))
  return { ...target, where: and(target.where, ...fit) }
}

/** True for rows whose value stays in range. @param range - that the database keeps, where that is less than the field's. */
function staysInRange(increment: FieldIncrement, range: Range | undefined): FilterNode {
  const { field } = increment
  const { op, value, takesUnset } = increment.bound(range)
  const inRange = compare(field, op, value)
  return field.nullable && takesUnset ? or(isNull(field), inRange) : inRange
}

/**
 * Why a write with increments reached no live row: also, because a sum is out of range. The row is locked, so that the value is
 * the one that the write met, whatever the transaction sees of others. Resolves when it would fit by now.
 */
export async function explainIncrementMiss<E extends object>(
  rows: RowStore<E>,
  on: Executor,
  { ifMatch, ...target }: Target,
  increments: readonly FieldIncrement[],
  run: RunOptions,
): Promise<void> {
  const row = (await rows.get(on, target, run, { lock: FOR_WRITE })) as Readonly<Values> | undefined
  if (row === undefined) throw new ErrNotFound()
  const { etag } = rows.model
  if (ifMatch !== undefined && (etag === undefined || row[etag.property] !== ifMatch))
    throw ErrPreconditionFailed.etag()
  for (const each of increments)
    each.addedTo(row[each.field.property], rows.dialect.kinds[each.field.kind].range)
}

/** Why an undelete reached no deleted row. */
export async function explainDeletedMiss<E extends object>(
  rows: RowStore<E>,
  on: Executor,
  { ifMatch, ...target }: Target,
  run: RunOptions,
): Promise<never> {
  const row = ifMatch === undefined ? undefined : await rows.get(on, target, run, { showDeleted: true })
  const { deleteTime } = rows.model
  const isDeleted =
    row !== undefined && deleteTime !== undefined && (row as Values)[deleteTime.property] !== undefined
  throw isDeleted ? ErrPreconditionFailed.etag() : new ErrNotFound()
}

/** No live row of this tenant has the key. */
export const notFound = (): never => {
  throw new ErrNotFound()
}
