import { ErrNotFound, ErrPreconditionFailed } from '../../errors.js'
import type { Field } from '../../resource/fields/field.js'
import type { Range } from '../../resource/kinds/kind.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { FieldIncrement } from '../../resource/values/increment.js'
import type { Values } from '../contract/new-entity.js'
import type { Dialect } from '../dialects/dialect.js'
import { and, compare, type FilterNode, isNull, or } from '../query/query-plan.js'
import type { RowCall } from './row-call.js'
import type { Target } from './row-target.js'
import { FOR_WRITE, type Rows } from './rows.js'

type Reading<C extends RowCall> = Pick<Rows<object, C>, 'get'>

/** Throws the reason why a write matched no live row: the row does not exist, or its etag differs. */
export async function explainMiss<C extends RowCall>(
  rows: Reading<C>,
  call: C,
  { precondition, ...row }: Target,
): Promise<never> {
  if (precondition !== undefined && (await rows.get(call, row)) !== undefined)
    throw ErrPreconditionFailed.etag()
  throw new ErrNotFound()
}

/** Returns the row with the condition that its increments stay in range. */
export function inRange(target: Target, increments: readonly FieldIncrement[], dialect: Dialect): Target {
  const fit = increments.map((each) => staysInRange(each, dialect.values.kinds[each.field.kind].range))
  return { ...target, where: and(target.where, ...fit) }
}

/**
 * Returns the condition for rows whose incremented value stays in range.
 *
 * @param range - the range of the database's column, if it is smaller than the field's.
 */
function staysInRange(increment: FieldIncrement, range: Range | undefined): FilterNode {
  const { field } = increment
  const { op, value, takesUnset } = increment.bound(range)
  const inRange = compare(field, op, value)
  return field.nullable && takesUnset ? or(isNull(field), inRange) : inRange
}

/**
 * Throws the reason why a write with increments matched no live row, which may also be that a sum is out of
 * range. The row is locked, so that its value is the value that the write found, regardless of the
 * transaction's snapshot. Resolves if the increments would fit by now.
 */
export async function explainIncrementMiss<C extends RowCall>(
  rows: Reading<C>,
  { rangeOf }: { readonly rangeOf: (field: Field) => Range | undefined },
  call: C,
  { precondition, ...row }: Target,
  increments: readonly FieldIncrement[],
): Promise<void> {
  const stored = (await rows.get(call, row, { lock: FOR_WRITE })) as Readonly<Values> | undefined
  if (stored === undefined) throw new ErrNotFound()
  precondition?.check(stored)
  for (const each of increments) each.addedTo(stored[each.field.property], rangeOf(each.field))
}

/** Throws the reason why an undelete matched no deleted row. */
export async function explainDeletedMiss<C extends RowCall>(
  rows: Reading<C>,
  { deleteTime }: ResourceModel,
  call: C,
  { precondition, ...row }: Target,
): Promise<never> {
  const stored = precondition === undefined ? undefined : await rows.get(call, row, { showDeleted: true })
  const isDeleted =
    stored !== undefined && deleteTime !== undefined && (stored as Values)[deleteTime.property] !== undefined
  throw isDeleted ? ErrPreconditionFailed.etag() : new ErrNotFound()
}

/** Throws the error for a key without a live row of the tenant. */
export const notFound = (): never => {
  throw new ErrNotFound()
}
