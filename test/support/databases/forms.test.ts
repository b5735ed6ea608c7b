import { expect } from 'chai'
import { CoalescedCalls } from '../../../lib/persistence/coalescing/coalesced-calls.js'
import { sourceFiles } from '../sources/source-files.js'
import { CITUS_LIMITS } from './citus/limits.js'
import { type Form, FORMS, isAskedIn, isAskedOn, ON_FEW } from './forms.js'
import { coalesceEach, coalesceInGroups } from './coalesced-calls.js'

describe('the forms of backends', () => {
  const run = { backends: process.env.BACKENDS }
  beforeEach(() => delete process.env.BACKENDS)
  afterEach(() => {
    if (run.backends !== undefined) process.env.BACKENDS = run.backends
  })
  const texts = sourceFiles('test').map(({ text }) => text)

  for (const [form, lines] of Object.entries({ ...FORMS, 'a few backends': ON_FEW }))
    it(`that are listed for ${form} name suites that there are`, () => {
      const subjects = Object.keys(lines).map((line) => line.split(': ')[0] ?? '')
      const isThere = (subject: string) =>
        texts.some((text) => /\b(?:describeOn|onEachEngine)\(/.test(text) && text.includes(`'${subject}'`))
      expect(subjects.filter((subject) => !isThere(subject))).to.deep.equal([])
    })

  it('leave out tests that there are', () => {
    const others = texts.filter((text) => !text.includes('CITUS_LIMITS:'))
    for (const title of Object.keys(CITUS_LIMITS))
      expect(
        others.some((text) => text.includes(`'${title}'`)),
        title,
      ).to.equal(true)
  })

  it('are asked for a subject, or for those of its parts that are listed', () => {
    const form: Form = 'mysql8'
    expect(isAskedIn(form, 'executorOf')).to.equal(true)
    expect(isAskedIn(form, 'repository')).to.equal(true)
    expect(isAskedIn(form, 'repository', 'locks')).to.equal(true)
    if (process.env.ASHLAR_DRILL !== '1') expect(isAskedIn(form, 'repository', 'lists')).to.equal(false)
    expect(isAskedIn(undefined, 'repository', 'lists')).to.equal(true)
  })

  it('are few where a list says so, unless a backend is asked for by name', () => {
    expect(isAskedOn('postgres', 'securityCheck')).to.equal(true)
    expect(isAskedOn('mariadb', 'repository')).to.equal(true)
    if (process.env.ASHLAR_DRILL !== '1') expect(isAskedOn('mariadb', 'securityCheck')).to.equal(false)
    process.env.BACKENDS = 'sqlite,mariadb'
    expect(isAskedOn('mariadb', 'securityCheck')).to.equal(true)
  })

  for (const merge of [coalesceEach, coalesceInGroups])
    it(`change a process once, whichever of several backends is closed first: ${merge === coalesceEach ? 'each' : 'crowds'}`, () => {
      const methods = () => [CoalescedCalls.prototype.run, CoalescedCalls.prototype.isSole]
      const own = methods()
      const [first, second] = [merge(), merge()]
      const changed = methods()
      expect(changed).to.not.deep.equal(own)
      first()
      first()
      expect(methods()).to.deep.equal(changed)
      second()
      expect(methods()).to.deep.equal(own)
    })
})
