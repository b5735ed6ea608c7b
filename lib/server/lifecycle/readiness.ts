import { Unavailable } from '../../errors.js'

/** Checks a dependency of the service. */
export interface ReadinessCheck {
  readonly name: string
  /** Resolves if the service is ready; any error means that it is not. After 2 seconds the signal aborts. */
  check(signal: AbortSignal): Promise<void> | void
}

const CHECK_TIMEOUT_MS = 2_000

/** @inline */
export interface CheckResult {
  readonly name: string
  readonly ok: boolean
  /** The error that the check threw, for the log only. */
  readonly error?: unknown
  /**
   * The Citus workers, as `host:port`, that do not answer the coordinator. They do not make the check fail.
   */
  readonly unreachableWorkers?: readonly string[]
}

/** A check that also reports unreachable Citus workers. */
interface StoredCheck extends ReadinessCheck {
  unreachableWorkers?(): readonly string[]
}

/** A repository or store that may use a database. See `Repository.checkWrites`. */
interface Stored {
  checkWrites?(): Promise<void>
  unreachableWorkers?(): readonly string[]
}

/**
 * Returns a check that fails while a database rejects writes or cannot be reached; none if no store uses a
 * database.
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
