import { expect } from 'chai'
import { transaction } from '../../../lib/persistence/sql/transaction.js'
import { openSubject, type OpenSubject } from '../../conformance/repository/open-subject.js'
import { clock, draft, inAcme } from '../../conformance/repository/subject.js'
import { backends, describeOn } from '../../support/databases/backends.js'

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
