import type { Scope } from '../../contract/scope.js'
import type { SqlCall } from '../../rows/row-call.js'
import type { StoredRow } from '../rules/stored-rows.js'
import type { Family } from './family.js'

/** Rows removed by one statement of a purge, so that none of them holds its locks for long. */
const PURGE_CHUNK = 1000

/** Removes a chunk of the expired rows of one resource alone. Returns how many. */
interface Purging {
  purge(call: SqlCall, before: Date, tenant: string | undefined, chunk: number): Promise<number>
}

/** What a chunk has removed, and the last row that was looked at. */
interface Step {
  readonly removed: number
  readonly last: StoredRow | undefined
}

type PrepareStep = (scope: Scope) => Promise<(call: SqlCall) => Promise<Step>>

/**
 * Removes what has expired, chunk by chunk. Returns how many rows.
 * @param family - of the resources that go along; undefined where none does.
 * @param write - runs a chunk as an operation.
 */
export async function purgeInChunks<E extends object>(
  rows: Purging,
  family: Family<E>['purges'],
  threshold: Date,
  write: (prepare: PrepareStep) => Promise<Step>,
): Promise<number> {
  for (let removed = 0, after: StoredRow | undefined; ;) {
    const prepare: PrepareStep =
      async ({ tenant }) =>
      async (call) =>
        family === undefined
          ? { removed: await rows.purge(call, threshold, tenant, PURGE_CHUNK), last: undefined }
          : family.purge(call, threshold, { tenant, after, chunk: PURGE_CHUNK })
    const step = await write(prepare)
    removed += step.removed
    after = step.last
    if (after === undefined && (family !== undefined || step.removed < PURGE_CHUNK)) return removed
  }
}
