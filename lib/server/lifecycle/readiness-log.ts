import { AshlarError } from '../../errors.js'
import { withoutValues } from '../../faults/driver-fault.js'
import type { Logger } from '../observability/logger.js'
import type { CheckResult } from './readiness.js'

/**
 * Tells why a server is not ready: once when a check begins to fail, again when its reason is another one, and when it passes
 * again. Probes come every few seconds and answer no reasons themselves.
 */
export class ReadinessLog {
  readonly #failing = new Map<string, string>()

  constructor(private readonly logger: Logger) {}

  tell({ name, ok, error }: CheckResult): void {
    if (ok) {
      if (this.#failing.delete(name)) this.logger.info({ check: name }, 'readiness check passes again')
      return
    }
    const { name: kind, message } = asError(error)
    if (this.#failing.get(name) === message) return
    this.#failing.set(name, message)
    this.logger.warn({ check: name, err: { name: kind, message } }, 'not ready')
  }
}

/** A check may throw anything. The framework's own errors are fit to be read, a driver's may repeat a row. */
function asError(thrown: unknown): { readonly name: string; readonly message: string } {
  const safe = thrown instanceof AshlarError ? thrown : withoutValues(thrown)
  return safe instanceof Error ? safe : { name: typeof thrown, message: 'it threw what is no error' }
}
