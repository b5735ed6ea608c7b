import { expect } from 'chai'
import { sentText } from '../../lib/text/sent-text.js'

describe('what a caller sent, in a message', () => {
  it('is in quotes, with escapes for what cannot be seen', () => {
    expect(
      ['anvil', 'a"b\\c', 'a\nb', 'a\u202eb', 'é 木 \u{1f9f1}', ''].map((text) => sentText(text, 128)),
    ).to.deep.equal(['"anvil"', '"a\\"b\\\\c"', '"a\\nb"', '"a\\u202eb"', '"é 木 \u{1f9f1}"', '""'])
  })

  it('is cut, and never longer than asked for', () => {
    for (const text of [
      'x'.repeat(1000),
      '"'.repeat(1000),
      '\u0000'.repeat(100),
      '\u{1f9f1}'.repeat(100),
      '\ud800'.repeat(99),
    ]) {
      const said = sentText(text, 128)
      expect(said.length).to.be.at.most(128)
      expect(said).to.match(/…"$/)
      expect(said.isWellFormed()).to.equal(true)
    }
    expect(sentText('x'.repeat(126), 128)).to.equal(`"${'x'.repeat(126)}"`)
    expect(sentText('x'.repeat(127), 128)).to.equal(`"${'x'.repeat(125)}…"`)
  })
})
