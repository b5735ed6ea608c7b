import { expect } from 'chai'
import { nearest } from '../../../cli/help/nearest.js'
import { TILE_KEYS } from '../../../cli/idp/routes/route.js'

const CASES: readonly (readonly [string, readonly string[], string | undefined])[] = [
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

describe('nearest', () => {
  for (const [word, candidates, meant] of CASES)
    it(`takes "${word.slice(0, 20)}" for ${meant?.slice(0, 20) ?? 'nothing known'}`, () => {
      expect(nearest(word, candidates)).to.equal(meant)
    })
})
