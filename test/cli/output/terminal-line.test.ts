import { expect } from 'chai'
import { terminalLine } from '../../../cli/output/terminal-line.js'

const CASES: readonly (readonly [string, string, string])[] = [
  ['plain words', 'an app', 'an app'],
  ['a colour', '\u001b[31mred\u001b[0m', '\uFFFD[31mred\uFFFD[0m'],
  ['a title that a terminal would set', '\u001b]0;x\u0007', '\uFFFD]0;x\uFFFD'],
  ['several lines', 'first\r\nsecond\n\n', 'first second'],
  ['text that runs backwards', 'a\u202Eb', 'a\uFFFDb'],
  ['a broken pair', 'a\uD800b', 'a\uFFFDb'],
  ['other scripts', 'Über 語', 'Über 語'],
]

describe('terminalLine', () => {
  for (const [name, text, line] of CASES)
    it(`prints ${name} on one harmless line`, () => {
      expect(terminalLine(text)).to.equal(line)
    })

  it('cuts what is longer than a line may be', () => {
    expect(terminalLine('x'.repeat(1_000), 10)).to.equal(`${'x'.repeat(9)}…`)
  })
})
