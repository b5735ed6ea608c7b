import { expect } from 'chai'
import { sourceFiles } from '../sources/source-files.js'
import { type Form, FORMS, isAskedIn } from './forms.js'

describe('the forms of backends', () => {
  const texts = sourceFiles('test').map(({ text }) => text)

  for (const [form, lines] of Object.entries(FORMS))
    it(`that are listed for ${form} name suites that there are`, () => {
      const subjects = Object.keys(lines).map((line) => line.split(': ')[0] ?? '')
      const isThere = (subject: string) =>
        texts.some((text) => /\bdescribeOn\(/.test(text) && text.includes(`'${subject}'`))
      expect(subjects.filter((subject) => !isThere(subject))).to.deep.equal([])
    })

  it('are asked for a subject, or for those of its parts that are listed', () => {
    const form: Form = 'mysql8'
    expect(isAskedIn(form, 'executorOf')).to.equal(true)
    expect(isAskedIn(form, 'repository')).to.equal(true)
    expect(isAskedIn(form, 'repository', 'locks')).to.equal(true)
    if (process.env.ASHLAR_DRILL !== '1') expect(isAskedIn(form, 'repository', 'lists')).to.equal(false)
    expect(isAskedIn(undefined, 'repository', 'lists')).to.equal(true)
  })
})
