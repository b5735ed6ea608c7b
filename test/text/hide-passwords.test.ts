import { expect } from 'chai'
import { hidePasswords } from '../../lib/text/hide-passwords.js'

const SECRETS: readonly (readonly [url: string, text: string, redacted: string])[] = [
  ['postgres://u:hunter22@h/d', 'for hunter22', 'for ***'],
  ['postgres://u:hunt%40er@h/d', 'for hunt@er and hunt%40er', 'for *** and ***'],
  ['postgres://h/d?user=u&password=hunter22', 'for hunter22', 'for ***'],
  ['postgres://u@h/d', 'cannot reach mysql://root:x@other/d', 'cannot reach mysql://root:***@other/d'],
  ['postgres://u:a@h/d', 'a table at postgres://u:a@h/d', 'a table at postgres://u:***@h/d'],
  ['postgres://u:pa@ss:word@h/d', 'no pa@ss:word here', 'no *** here'],
]

describe('hidePasswords', () => {
  for (const [url, text, redacted] of SECRETS)
    it(`${text} → ${redacted}`, () => {
      expect(hidePasswords(text, url)).to.equal(redacted)
    })

  it('blanks out a password as written, as decoded, and one among the parameters', () => {
    const dsn = 'postgres://ada:p%40ss@db/app?password=s%2Fx'
    expect(hidePasswords('p@ss p%40ss s/x s%2Fx ada', dsn)).to.equal('*** *** *** *** ada')
  })

  it('blanks out the whole text of a DSN that cannot be read', () => {
    expect(hidePasswords('no: ada:hunter2@tcp(db)/app', 'ada:hunter2@tcp(db)/app')).to.equal('no: ***')
  })
})
