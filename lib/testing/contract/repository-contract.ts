import { BATCHES } from './batches.js'
import { LISTS } from './lists.js'
import { Contract, type ContractFactory, type ContractSubject } from './subject.js'
import { TENANCY } from './tenancy.js'
import { TRANSACTIONS } from './transactions.js'
import { WRITES } from './writes.js'
import { globalFramework, type TestFramework } from '../harness/test-framework.js'

/**
 * Describes what every repository must do, for a repository of your own. Each case gets a fresh, empty
 * subject from the factory. The resource decides what is required: without `@ETag()` it must refuse every
 * precondition, without `@SoftDeletable()` it must delete permanently.
 * @param framework - when the global functions of mocha, Jest or Vitest should not be used.
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
