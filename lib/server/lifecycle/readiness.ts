import { Unavailable } from '../../errors.js'

/** Checks something that the service needs. */
export interface ReadinessCheck {
  readonly name: string
  /**
   * Resolves when the service is ready; any error means not ready. Has 2 s, after which the signal aborts.
   */
  check(signal: AbortSignal): Promise<void> | void
}

const CHECK_TIMEOUT_MS = 2_000

export interface CheckResult {
  readonly name: string
  readonly ok: boolean
  /** The error that it threw, only for the log. */
  readonly error?: unknown
  /** The Citus workers, as `host:port`, that do not answer the coordinator. The check passes without them. */
  readonly unreachableWorkers?: readonly string[]
}

/** A check that also knows the Citus workers. */
interface StoredCheck extends ReadinessCheck {
  unreachableWorkers?(): readonly string[]
}

/** A repository or a store, as far as it has a database: see `Repository.checkWrites`. */
interface Stored {
  checkWrites?(): Promise<void>
  unreachableWorkers?(): readonly string[]
}

/**
 * Fails while a database refuses writes, or cannot be reached. No check when nothing is stored in a database.
 */
export const writesCheck = (stores: readonly Stored[]): readonly StoredCheck[] => {
  const checked = stores.filter((store) => typeof store.checkWrites === 'function')
  if (checked.length === 0) return []
  const check = async () => {
    await Promise.all(checked.map(async (store) => store.checkWrites?.()))
  }
  const unreachableWorkers = () => [
    ...new Set(checked.flatMap((store) => store.unreachableWorkers?.() ?? [])),
  ]
  return [{ name: 'database-writes', check, unreachableWorkers }]
}

/** Runs all checks at the same time. */
export const runChecks = (checks: readonly StoredCheck[]): Promise<CheckResult[]> =>
  Promise.all(checks.map(runCheck))

const runCheck = async (check: StoredCheck): Promise<CheckResult> => {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const tooLate = () => reject(new Unavailable(`no response within ${CHECK_TIMEOUT_MS} ms`))
    timer = setTimeout(tooLate, CHECK_TIMEOUT_MS)
  })
  try {
    await Promise.race([check.check(controller.signal), late])
    const unreachableWorkers = check.unreachableWorkers?.() ?? []
    return { name: check.name, ok: true, ...(unreachableWorkers.length > 0 && { unreachableWorkers }) }
  } catch (error) {
    return { name: check.name, ok: false, error }
  } finally {
    clearTimeout(timer)
    controller.abort()
  }
}
