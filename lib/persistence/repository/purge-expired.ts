import { InvalidArgument } from '../../errors.js'
import type { OperationOptions } from '../contract/repository.js'
import type { FamilyWriter } from '../deletion/rules/family-writer.js'
import type { StoredRow } from '../deletion/rules/stored-rows.js'
import type { RowCall } from '../rows/row-call.js'
import type { Operations } from './operations.js'

/** Removes a chunk of the expired rows of a resource, and nothing that goes with them. Returns how many. */
export type PurgeChunk<C> = (
  call: C,
  before: Date,
  tenant: string | undefined,
  chunk: number,
) => Promise<number>

/** Rows removed by one step, so that none of them holds its locks for long. */
const CHUNK = 1000

/**
 * Removes what has expired, chunk by chunk. Returns how many rows.
 * @param family - of the resources that go along; undefined where none does.
 */
export async function purgeExpired<E extends object, C extends RowCall>(
  operations: Operations<C>,
  purge: PurgeChunk<C>,
  family: FamilyWriter<E, C> | undefined,
  before: Date,
  options: OperationOptions | undefined,
): Promise<number> {
  const threshold = thresholdOf(before)
  for (let removed = 0, after: StoredRow | undefined; ;) {
    const remove = async (call: C, tenant: string | undefined) => {
      if (family !== undefined) return family.purge(call, threshold, { tenant, after, chunk: CHUNK })
      return { removed: await purge(call, threshold, tenant, CHUNK), last: undefined }
    }
    const step = await operations.write('purgeExpired', options, (operation) =>
      operation.send((call) => remove(call, operation.scope.tenant), { together: family?.purging }),
    )
    removed += step.removed
    after = step.last
    if (after === undefined && (family !== undefined || step.removed < CHUNK)) return removed
  }
}

/** The last instant a column holds. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const EARLIEST_MS = Date.UTC(1000, 0, 1)

/**
 * The threshold of a purge, limited to times that a column can store: a later or earlier one becomes the last
 * or first storable time.
 * @throws InvalidArgument for an invalid Date.
 */
function thresholdOf(before: Date): Date {
  const ms = before.getTime()
  if (Number.isNaN(ms)) throw new InvalidArgument('before', 'is no valid time')
  return new Date(Math.min(LATEST_MS, Math.max(EARLIEST_MS - 1, ms)))
}
