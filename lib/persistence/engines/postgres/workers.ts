import { CHECKS_WORKER, LIMITS_CHECK, LISTS_WORKERS } from '../../dialects/citus/citus.js'
import { DriverFault } from '../../../faults/driver-fault.js'
import type { Lease, RunOptions } from '../executor/executor.js'
import { named } from '../executor/named.js'

/** The interval in milliseconds between two checks of the workers. */
const EVERY_MS = 4_000
/** The coordinator's time limit in milliseconds. It gives up on a worker sooner. */
const ASKING_MS = 10_000
const CANCELED = '57014'

/** Checks the workers of a Citus coordinator in the background, so that no caller waits for the check. */
export class Workers {
  #unreachable: readonly string[] = []
  #checkedAt = -EVERY_MS
  #isChecking = false

  constructor(private readonly lease: (options: RunOptions) => Promise<Lease>) {}

  /** Returns `host:port` of each worker that did not answer the last check, and starts the next one. */
  unreachable(): readonly string[] {
    if (!this.#isChecking && performance.now() - this.#checkedAt >= EVERY_MS) void this.#check()
    return this.#unreachable
  }

  async #check(): Promise<void> {
    this.#isChecking = true
    try {
      const options = { signal: AbortSignal.timeout(ASKING_MS) }
      const lease = await this.lease(options)
      try {
        this.#unreachable = await unreachableFrom(lease, options)
      } finally {
        lease.release()
      }
    } catch {
      // Either the coordinator does not answer, which `checkWrites` reports, or its role may not run the
      // check.
    } finally {
      this.#checkedAt = performance.now()
      this.#isChecking = false
    }
  }
}

async function unreachableFrom(coordinator: Lease, options: RunOptions): Promise<readonly string[]> {
  const { rows } = await coordinator.run(named(LISTS_WORKERS), [], options)
  const names: string[] = []
  for (const [host, port] of rows)
    if (!(await answers(coordinator, [host, port], options))) names.push(`${String(host)}:${String(port)}`)
  return names.sort()
}

async function answers(
  coordinator: Lease,
  worker: readonly unknown[],
  options: RunOptions,
): Promise<boolean> {
  await coordinator.control('BEGIN READ ONLY')
  try {
    await coordinator.run(named(LIMITS_CHECK), [], options)
    const { rows } = await coordinator.run(named(CHECKS_WORKER), worker, options)
    return rows[0]?.[0] === 't'
  } catch (error) {
    if (error instanceof DriverFault && error.code === CANCELED) return false
    throw error
  } finally {
    await coordinator.control('ROLLBACK')
  }
}
