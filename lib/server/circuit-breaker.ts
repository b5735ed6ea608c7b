/** Stops calling what keeps failing. A cockatiel policy is one. */
export interface CircuitBreaker {
  /** Runs `fn`, or rejects without running it while the circuit is open. */
  execute<T>(fn: () => Promise<T>): Promise<T>
}
