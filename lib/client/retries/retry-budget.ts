/** Tokens of a transport: a failure costs one, a success gives back a tenth. */
const MAX = 10
const REFUND = 0.1

/**
 * Bounds the retries of all clients of a transport: while more than about a tenth of the attempts fail, there
 * are none. A server that is overloaded then gets at most a tenth more attempts, and not a multiple.
 */
export class RetryBudget {
  #tokens = MAX

  succeeded(): void {
    this.#tokens = Math.min(MAX, this.#tokens + REFUND)
  }

  /** Counts a failure. Returns whether the call may be repeated. */
  failed(): boolean {
    this.#tokens = Math.max(0, this.#tokens - 1)
    return this.#tokens > MAX / 2
  }
}

const budgets = new WeakMap<object, RetryBudget>()

/** Returns the retry budget that all clients of a transport share. */
export const budgetOf = (transport: object): RetryBudget => {
  const budget = budgets.get(transport) ?? new RetryBudget()
  budgets.set(transport, budget)
  return budget
}
