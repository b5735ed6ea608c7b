import { AshlarError } from '../../errors.js'
import { withoutValues } from '../../faults/driver-fault.js'
import type { Logger } from '../observability/logger.js'
import type { CheckResult } from './readiness.js'

/**
 * Logs why a server is not ready: when a check starts to fail, when its reason changes, and when it passes
 * again. Probe responses contain no reasons.
 */
export class ReadinessLog {
  readonly #failing = new Map<string, string>()
  #unreachable = ''

  constructor(private readonly logger: Logger) {}

  tell({ name, ok, error, unreachableWorkers }: CheckResult): void {
    if (ok) {
      if (name === 'database-writes') this.#tellWorkers(unreachableWorkers ?? [])
      if (this.#failing.delete(name)) this.logger.info({ check: name }, 'readiness check passes again')
      return
    }
    const { name: kind, message } = asError(error)
    if (this.#failing.get(name) === message) return
    this.#failing.set(name, message)
    this.logger.warn({ check: name, err: { name: kind, message } }, 'not ready')
  }

  #tellWorkers(workers: readonly string[]): void {
    const names = workers.join()
    if (names === this.#unreachable) return
    this.#unreachable = names
    if (workers.length === 0) this.logger.info({}, 'all workers answer the coordinator again')
    else this.logger.warn({ workers }, 'workers do not answer the coordinator')
  }
}

/**
 * Converts any thrown value to a loggable error. The framework's own errors are safe to log; a driver's error
 * may contain row values.
 */
function asError(thrown: unknown): { readonly name: string; readonly message: string } {
  const safe = thrown instanceof AshlarError ? thrown : withoutValues(thrown)
  return safe instanceof Error
    ? safe
    : { name: typeof thrown, message: 'it threw a value that is not an error' }
}
