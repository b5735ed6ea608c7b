import { expect } from 'chai'
import { TILE_KEYS } from '../../cli/idp/routes/route.js'
import { didYouMean, nearestNames } from '../../lib/text/nearest-names.js'

const NAMES = ['display_name', 'size', 'state', 'create_time', 'update_time', 'etag']

describe('nearestNames', () => {
  const cases: readonly (readonly [name: string, ...nearest: string[]])[] = [
    ['displayName', 'display_name'],
    ['dispaly_name', 'display_name'],
    ['sise', 'size'],
    ['stze', 'size', 'state'],
    ['STATE', 'state'],
    ['created_time', 'create_time'],
    ['color'],
    ['__proto__'],
    ['x'.repeat(4000)],
  ]
  for (const [name, ...nearest] of cases) {
    it(name.slice(0, 20), () => expect(nearestNames(name, NAMES)).to.deep.equal(nearest))
  }
})

/** What people type on a command line or in a file, and what they mean. */
const TYPED: readonly (readonly [string, readonly string[], string | undefined])[] = [
  ['display_name', TILE_KEYS, 'displayName'],
  ['displayname', TILE_KEYS, 'displayName'],
  ['DISPLAY-NAME', TILE_KEYS, 'displayName'],
  ['iconUrl', TILE_KEYS, 'iconURL'],
  ['launch_url', TILE_KEYS, 'launchURL'],
  ['lanuchURL', TILE_KEYS, 'launchURL'],
  ['descripton', TILE_KEYS, 'description'],
  ['colour', TILE_KEYS, undefined],
  ['', TILE_KEYS, undefined],
  ['hots', ['host', 'path'], 'host'],
  ['shel', ['Config', 'Service', 'Shell'], 'Shell'],
  ['ab', ['ba'], 'ba'],
  ['x', ['y'], 'y'],
  ['x', [], undefined],
  ['host', ['hose', 'host'], 'host'],
  ['a'.repeat(100_000), ['a'.repeat(100_000)], 'a'.repeat(100_000)],
]

describe('the first of nearestNames', () => {
  for (const [word, candidates, meant] of TYPED)
    it(`takes "${word.slice(0, 20)}" for ${meant?.slice(0, 20) ?? 'nothing known'}`, () => {
      expect(nearestNames(word, candidates)[0]).to.equal(meant)
    })
})

describe('didYouMean', () => {
  it('lists what there is when nothing is near', () => {
    expect(didYouMean('color', NAMES)).to.equal(`; valid: ${NAMES.join(', ')}`)
    expect(didYouMean('color', [])).to.equal('')
    const many = Array.from({ length: 30 }, (_, i) => `field_${i}`)
    expect(didYouMean('color', many)).to.match(/field_19, \.\.\.$/)
  })

  it('writes the path before each name, as it has to be typed', () => {
    expect(didYouMean('color', ['title', 'size'], ['item'])).to.equal('; valid: item.title, item.size')
    expect(didYouMean('titel', ['title', 'size'], ['item', 'owner'])).to.equal(
      '; did you mean item.owner.title?',
    )
  })
})
