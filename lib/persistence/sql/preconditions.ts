import { ErrNotFound, ErrPreconditionFailed } from '../../errors.js'
import type { Executor, RunOptions } from '../engines/executor/executor.js'
import type { Values } from '../contract/new-entity.js'
import type { RowStore, Target } from './row-store.js'

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
