import { expect } from 'chai'
import type { DataSource } from 'typeorm'
import { postgres } from '../../../lib/persistence/dialects/postgres.js'
import { Statements } from '../../../lib/persistence/sql/statements/statements.js'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { clock, draft, inAcme } from '../../conformance/repository/subject.js'
import { backends, databases, describeOn } from '../../support/databases/backends.js'
import { Specimen } from '../../support/entities/specimen.js'

/** More than one chunk of 1,000 rows. */
const EXPIRED = 1_001

describeOn(
  'a purge of more rows than one chunk holds',
  backends.filter(({ name }) => name === 'memory' || name === 'sqlite'),
  (backend) => {
    let subject: OpenSubject
    before(async () => {
      subject = await openSubject(backend)
    })
    after(() => subject.close())

    it('removes all of them, counts them, and leaves the others', () =>
      inAcme(async () => {
        const { specimens, dataSource } = subject
        const expireTime = new Date(clock.now)
        const fill = async () => {
          for (let n = 0; n < EXPIRED; n++) await specimens.create(draft({ expireTime }))
          await specimens.create(draft({ expireTime: new Date(clock.now.getTime() + 1) }))
        }
        await (dataSource === undefined ? fill() : transaction(dataSource, fill))
        expect(await specimens.purgeExpired(expireTime)).to.equal(EXPIRED)
        expect((await specimens.list({ showDeleted: true })).items).to.have.length(1)
        expect(await specimens.purgeExpired(expireTime)).to.equal(0)
      }))
  },
)

/** Plan nodes other than a nested loop, which may run a subquery once per row of the outer table. */
const OTHER_JOINS = [
  'hashjoin',
  'mergejoin',
  'hashagg',
  'sort',
  'indexscan',
  'bitmapscan',
  'material',
  'memoize',
]

describeOn(
  'a purge of one chunk',
  databases.filter(({ name }) => name === 'postgres'),
  (backend) => {
    let subject: OpenSubject
    before(async () => {
      subject = await openSubject(backend)
    })
    after(() => subject?.close())

    for (const isRouted of [true, false])
      it(`removes no more rows if the plan is a nested loop${isRouted ? '' : ', with the tenant in the key'}`, () =>
        inAcme(async () => {
          const expireTime = new Date(clock.now)
          for (let n = 0; n < 5; n++) await subject.specimens.create(draft({ expireTime }))
          const { text } = new Statements(resourceModel(Specimen), postgres).purge({ tenant: true, isRouted })
          const removed = await (subject.dataSource as DataSource).transaction(async (manager) => {
            for (const other of OTHER_JOINS) await manager.query(`SET LOCAL enable_${other} = off`)
            const [, count] = (await manager.query(text, [expireTime, 'acme', 2])) as [unknown, number]
            return count
          })
          expect(removed).to.equal(2)
        }))
  },
)
