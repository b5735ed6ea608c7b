import { expect } from 'chai'
import { Aborted } from '../../../../lib/errors.js'
import { abortedBy, retryable } from '../../../../lib/persistence/engines/errors/deadlock-retries.js'

const LOCKED = 'another transaction has locked a row: run the whole transaction again'

describe('abortedBy', () => {
  for (const [what, error] of [
    ['a lock timeout of MySQL and MariaDB', { errno: 1205, sqlState: 'HY000' }],
    ['NOWAIT of MySQL', { errno: 3572, sqlState: 'HY000' }],
    ['NOWAIT and lock_timeout of PostgreSQL', { code: '55P03' }],
  ] as const)
    it(`says what to do about ${what}`, () => {
      const thrown = Object.assign(new Error('locked'), error)
      expect(retryable(thrown)).to.equal(true)
      expect(abortedBy(thrown).message).to.equal(LOCKED)
      expect(abortedBy(new Error('wrapped', { cause: thrown })).message).to.equal(LOCKED)
    })

  it('says less about a deadlock, and leaves what is Aborted already', () => {
    expect(abortedBy({ code: '40P01' }).message).to.equal(new Aborted().message)
    const aborted = new Aborted('by somebody')
    expect(abortedBy(aborted)).to.equal(aborted)
  })
})
