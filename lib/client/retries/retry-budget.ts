/** The tokens of a transport. A failure takes one, a success returns a tenth. */
const MAX = 10
const REFUND = 0.1

/**
 * Limits the retries of all clients of a transport. There are none while more than about a tenth of the
 * attempts fail. An overloaded server therefore receives at most a tenth more attempts rather than a
 * multiple.
 */
export class RetryBudget {
  #tokens = MAX

  succeeded(): void {
    this.#tokens = Math.min(MAX, this.#tokens + REFUND)
  }

  /** Counts a failure. Returns true if the call may be repeated. */
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
