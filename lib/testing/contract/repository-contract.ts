import { BATCHES } from './batches.js'
import { LISTS } from './lists.js'
import { Contract, type ContractFactory, type ContractSubject } from './subject.js'
import { TENANCY } from './tenancy.js'
import { TRANSACTIONS } from './transactions.js'
import { WRITES } from './writes.js'
import { globalFramework, type TestFramework } from '../harness/test-framework.js'
import { withTenant } from '../harness/with-tenant.js'

/**
 * Describes what every repository has to do, for one of your own: each case gets a fresh subject of the factory, which
 * has to be empty. What a resource is decides what is asked of it: one without `@ETag()` has to refuse every
 * precondition, one without `@SoftDeletable()` to delete for good.
 * @param framework - where the global functions of mocha, Jest or Vitest are not to be used.
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
  describe('the contract of a repository', () => {
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
          it(name, () => withTenant('tenant', () => check(new Contract(subject as ContractSubject<E>))))
      })
  })
}
