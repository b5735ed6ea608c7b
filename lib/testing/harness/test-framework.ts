/**
 * The functions of a test framework that the contract uses. The names are those of mocha, Jest, Vitest and
 * `node:test`.
 */
export interface TestFramework {
  /** Defines a group of tests. */
  readonly describe: (name: string, body: () => void) => unknown
  /** Defines a test. */
  readonly it: (name: string, body: () => void | Promise<void>) => unknown
  /** Runs before each test of the group. */
  readonly beforeEach: (body: () => Promise<void>) => unknown
  /** Runs after each test of the group. */
  readonly afterEach: (body: () => Promise<void>) => unknown
}

/**
 * Returns the framework with global functions.
 * @throws TypeError if there is none.
 */
export function globalFramework(): TestFramework {
  const { describe, it, beforeEach, afterEach } = globalThis as Partial<TestFramework>
  if (describe !== undefined && it !== undefined && beforeEach !== undefined && afterEach !== undefined)
    return { describe, it, beforeEach, afterEach }
  throw new TypeError(
    'there is no global test framework: pass { describe, it, beforeEach, afterEach } to repositoryContract',
  )
}
