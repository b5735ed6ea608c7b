import { expect } from 'chai'
import { didYouMean, nearestNames } from '../../lib/text/nearest-names.js'

const NAMES = ['display_name', 'size', 'state', 'create_time', 'update_time', 'etag']

describe('nearestNames', () => {
  const cases: readonly (readonly [name: string, ...nearest: string[]])[] = [
    ['displayName', 'display_name'],
    ['dispaly_name', 'display_name'],
    ['sise', 'size'],
    ['stze', 'size', 'state'],
    ['STATE', 'state'],
    ['created_time', 'create_time', 'update_time'],
    ['color'],
    ['__proto__'],
    ['x'.repeat(4000)],
  ]
  for (const [name, ...nearest] of cases) {
    it(name.slice(0, 20), () => expect(nearestNames(name, NAMES)).to.deep.equal(nearest))
  }
})

describe('didYouMean', () => {
  it('lists what there is when nothing is near', () => {
    expect(didYouMean('color', NAMES)).to.equal(`; valid: ${NAMES.join(', ')}`)
    expect(didYouMean('color', [])).to.equal('')
    const many = Array.from({ length: 30 }, (_, i) => `field_${i}`)
    expect(didYouMean('color', many)).to.match(/field_19, \.\.\.$/)
  })
})
