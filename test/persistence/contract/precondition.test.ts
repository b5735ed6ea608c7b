import { expect } from 'chai'
import { ErrPreconditionFailed } from '../../../lib/errors.js'
import { Precondition } from '../../../lib/persistence/contract/precondition.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { sourceFiles } from '../../support/sources/source-files.js'
import { Note, Specimen } from '../../support/entities/specimen.js'

const specimens = resourceModel(Specimen)
const entity = { etag: 'a' }

describe('a precondition', () => {
  for (const [ifMatch, canHold, matched] of [
    ['a', true, 'a'],
    ['b', true, undefined],
    ['', false, undefined],
    ['a\0', false, undefined],
    ['\ud800', false, undefined],
    [{ any: false, etags: [] }, false, undefined],
    [{ any: false, etags: ['b', 'a'] }, true, 'a'],
    [{ any: false, etags: ['', 'b'] }, true, undefined],
  ] as const)
    it(`of ${JSON.stringify(ifMatch)} ${canHold ? 'can' : 'cannot'} hold, and ${matched === undefined ? 'refuses' : 'takes'} an entity with the etag a`, () => {
      const precondition = Precondition.of(specimens, ifMatch)
      expect(precondition?.canHold).to.equal(canHold)
      expect(precondition?.matched(entity)).to.equal(matched)
      expect(precondition?.matches(entity)).to.equal(matched !== undefined)
      if (matched === undefined) expect(() => precondition?.check(entity)).to.throw(ErrPreconditionFailed)
      else precondition?.check(entity)
    })

  it('is none where any entity will do', () => {
    expect(Precondition.of(specimens, undefined)).to.equal(undefined)
    expect(Precondition.of(specimens, { any: true, etags: [] })).to.equal(undefined)
  })

  it('never holds for an entity without an etag, or on a resource without etags', () => {
    expect(Precondition.of(specimens, '')?.matches({ etag: '' })).to.equal(false)
    expect(Precondition.of(specimens, 'undefined')?.matches({})).to.equal(false)
    const none = Precondition.of(resourceModel(Note), 'a')
    expect([none?.canHold, none?.matches(entity)]).to.deep.equal([false, false])
  })

  it('is where an etag of an entity is compared, and nowhere else', () => {
    const comparing =
      /\[etag\??\.property[^\]]*\]\s*[!=]==|\.etags\.includes\(current|\.etag\s*[!=]==\s*ifMatch/
    const others = sourceFiles('lib').filter(({ text }) => comparing.test(text))
    expect(others.map(({ path }) => path)).to.deep.equal([])
  })
})
