/** Says whether something the service needs is there. */
export interface ReadinessCheck {
  readonly name: string
  /** Resolves when it is; anything else counts as not ready. Has 2 s, after which the signal aborts. */
  check(signal: AbortSignal): Promise<void> | void
}

const CHECK_TIMEOUT_MS = 2_000

export interface CheckResult {
  readonly name: string
  readonly ok: boolean
}

/** Runs all checks at the same time. What they throw stays inside. */
export const runChecks = (checks: readonly ReadinessCheck[]): Promise<CheckResult[]> =>
  Promise.all(checks.map(async (check) => ({ name: check.name, ok: await passes(check) })))

const passes = async (check: ReadinessCheck): Promise<boolean> => {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS)
  })
  try {
    return await Promise.race([Promise.resolve(check.check(controller.signal)).then(() => true), late])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
    controller.abort()
  }
}
