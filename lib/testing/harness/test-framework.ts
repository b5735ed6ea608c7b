type Register = (name: string, body: () => void | Promise<void>) => unknown

/**
 * The functions of a test framework that the contract needs: named as in mocha, Jest and Vitest, and in
 * `node:test`.
 */
export interface TestFramework {
  /** A group of tests. */
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: Register
  /** Runs before each test of the group. */
  readonly beforeEach: (body: () => Promise<void>) => unknown
  /** Runs behind each test of the group. */
  readonly afterEach: (body: () => Promise<void>) => unknown
}

/**
 * The framework with global functions.
 * @throws TypeError when there is none.
 */
export function globalFramework(): TestFramework {
  const { describe, it, beforeEach, afterEach } = globalThis as Partial<TestFramework>
  if (describe !== undefined && it !== undefined && beforeEach !== undefined && afterEach !== undefined)
    return { describe, it, beforeEach, afterEach }
  throw new TypeError(
    'there is no global test framework: pass { describe, it, beforeEach, afterEach } to repositoryContract',
  )
}
