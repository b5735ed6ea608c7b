import { expect } from 'chai'
import { paintFor } from '../../../cli/output/paint.js'

const TERMINAL = { isTTY: true }

describe('paintFor', () => {
  it('colours on a terminal', () => {
    expect(paintFor(TERMINAL, { TERM: 'xterm' }).good('new')).to.equal('\u001b[32mnew\u001b[39m')
  })

  const PLAIN: readonly (readonly [string, { isTTY?: boolean }, NodeJS.ProcessEnv])[] = [
    ['a pipe', {}, { TERM: 'xterm' }],
    ['NO_COLOR', TERMINAL, { TERM: 'xterm', NO_COLOR: '1' }],
    ['a dumb terminal', TERMINAL, { TERM: 'dumb' }],
  ]
  for (const [name, stream, env] of PLAIN)
    it(`leaves the text alone with ${name}`, () => {
      expect(paintFor(stream, env).bad('gone')).to.equal('gone')
    })
})
