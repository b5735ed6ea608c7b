import { ErrPreconditionFailed, InvalidArgument } from '../../errors.js'
import type { OperationOptions } from '../contract/repository.js'
import type { FamilyWriter } from '../deletion/rules/family-writer.js'
import type { StoredRow } from '../deletion/rules/stored-rows.js'
import type { RowCall } from '../rows/row-call.js'
import type { RowsBackend } from './rows-backend.js'

/** Removes a chunk of a resource's expired rows, without related rows. Returns the number of removed rows. */
export type PurgeChunk<C> = (
  call: C,
  before: Date,
  tenant: string | undefined,
  chunk: number,
) => Promise<number>

/** The number of rows that one step removes, so that locks are held only briefly. */
const CHUNK = 1000

/** The rows to purge. */
type Purged<C extends RowCall> = Pick<
  RowsBackend<object, C, never>,
  'operations' | 'purge' | 'expiredTenants'
>

/** Removes rows of a resource together with related rows. */
interface Families<E extends object, C extends RowCall> {
  /** Undefined if there are neither related rows nor events for removed rows. */
  readonly purges: FamilyWriter<E, C> | undefined
  /** A writer that always handles each removed row. */
  readonly purgesEach: FamilyWriter<E, C>
}

/**
 * Removes expired rows in chunks. Returns the number of removed rows. If only the database knows a reference
 * to a row, because the referring table has no resource or no tenant, the row is kept. To isolate it, the
 * chunk is halved until it contains only this row.
 *
 * @throws ErrPreconditionFailed at the end, if a hook may have created the reference.
 */
export async function purgeExpired<E extends object, C extends RowCall>(
  purged: Purged<C>,
  families: Families<E, C>,
  before: Date,
  options: OperationOptions | undefined,
): Promise<number> {
  const threshold = thresholdOf(before)
  const { expiredTenants } = purged
  const tenants =
    expiredTenants &&
    (await purged.operations.read('purgeExpired', options, async ({ call, scope }) =>
      scope.tenant === undefined ? expiredTenants(call, threshold) : undefined,
    ))
  if (tenants === undefined) return purgeWithin(purged, families, threshold, options, undefined)
  let removed = 0
  let refused: ErrPreconditionFailed | undefined
  for (const tenant of tenants)
    removed += await purgeWithin(purged, families, threshold, options, tenant).catch((error: unknown) => {
      if (!(error instanceof ErrPreconditionFailed)) throw error
      refused ??= error
      return 0
    })
  if (refused !== undefined) throw refused
  return removed
}

/**
 * Removes the expired rows of one tenant or of all.
 *
 * @param whose - the tenant whose rows are purged, in a call that reaches all tenants.
 */
async function purgeWithin<E extends object, C extends RowCall>(
  { operations, purge }: Purged<C>,
  families: Families<E, C>,
  threshold: Date,
  options: OperationOptions | undefined,
  whose: string | undefined,
): Promise<number> {
  let family = families.purges
  let refused: ErrPreconditionFailed | undefined
  for (let removed = 0, chunk = CHUNK, after: StoredRow | undefined, isAtEnd = false; ;) {
    let lookedAt: StoredRow | undefined
    const remove = async (call: C, tenant: string | undefined) => {
      if (family === undefined)
        return { removed: await purge(call, threshold, tenant, chunk), last: undefined }
      return family.purge(call, threshold, { tenant, after, chunk, onFound: (row) => (lookedAt = row) })
    }
    try {
      const step = await operations.write('purgeExpired', options, (operation) =>
        operation.send((call) => remove(call, whose ?? operation.scope.tenant), {
          together: family?.purging,
        }),
      )
      removed += step.removed
      after = step.last
      isAtEnd = after === undefined && (family !== undefined || step.removed < chunk)
      chunk = Math.min(CHUNK, chunk * 2)
    } catch (error) {
      // An error without a cause was thrown by a hook, not caused by a foreign key.
      if (!(error instanceof ErrPreconditionFailed) || error.cause === undefined) throw error
      if (family === undefined) family = families.purgesEach
      else if (chunk > 1) chunk = Math.ceil(chunk / 2)
      else if (lookedAt === undefined) throw error
      else {
        after = lookedAt
        refused ??= error
      }
    }
    if (!isAtEnd) continue
    if (refused !== undefined && family?.callsHooks === true) throw refused
    return removed
  }
}

/** The last time that every column can hold. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const EARLIEST_MS = Date.UTC(1000, 0, 1)

/**
 * Returns the time before which rows are purged, limited to times that every column can hold.
 *
 * @throws InvalidArgument if the Date is invalid.
 */
function thresholdOf(before: Date): Date {
  const ms = before.getTime()
  if (Number.isNaN(ms)) throw new InvalidArgument('before', 'is not a valid time')
  return new Date(Math.min(LATEST_MS, Math.max(EARLIEST_MS - 1, ms)))
}
