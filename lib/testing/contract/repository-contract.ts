import { BATCHES } from './batches.js'
import { LISTS } from './lists.js'
import { Contract, type ContractFactory, type ContractSubject } from './subject.js'
import { TENANCY } from './tenancy.js'
import { TRANSACTIONS } from './transactions.js'
import { WRITES } from './writes.js'
import { globalFramework, type TestFramework } from '../harness/test-framework.js'

/**
 * Defines tests of the behavior that every repository must have, for a custom repository. Each case gets a
 * new, empty subject from the factory. The resource determines the requirements: without `@ETag()`, the
 * repository must reject every precondition; without `@SoftDeletable()`, it must delete permanently.
 * @param framework - replaces the global functions of mocha, Jest or Vitest.
 */
export function repositoryContract<E extends object>(
  factory: ContractFactory<E>,
  framework: TestFramework = globalFramework(),
): void {
  const { describe, it, beforeEach, afterEach } = framework
  const parts = {
    writes: WRITES,
    lists: LISTS,
    batches: BATCHES,
    transactions: TRANSACTIONS,
    tenancy: TENANCY,
  }
  describe('the repository contract', () => {
    let subject: ContractSubject<E> | undefined
    beforeEach(async () => {
      subject = await factory()
    })
    afterEach(async () => {
      await subject?.close?.()
      subject = undefined
    })
    for (const [part, cases] of Object.entries(parts))
      describe(part, () => {
        for (const [name, check] of cases)
          it(name, () => {
            const on = new Contract(subject as ContractSubject<E>)
            return on.as('tenant', () => check(on))
          })
      })
  })
}
