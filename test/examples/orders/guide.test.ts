import { expect } from 'chai'
import { blocksOf, textOf } from '../../support/sources/documents.js'

const PAGES = ['docs/guides/business-rules.md', 'docs/guides/operation-rules.md']
/** Stands for lines that the page leaves out. */
const CUT = '\n…\n'

describe('the guides to business rules', () => {
  const excerpts = PAGES.flatMap(blocksOf).filter(({ language }) => language === 'typescript')

  it('shows the rules of the example', () => {
    expect(new Set(excerpts.map(({ file }) => file)).size).to.be.at.least(6)
  })

  for (const { page, file, line, text } of excerpts)
    it(`has what ${file ?? 'no file'} has, in line ${line} of ${page}`, () => {
      const source = textOf(file ?? '')
      const parts = text.slice(text.indexOf('\n') + 1).split(CUT)
      expect(parts.filter((part) => !source.includes(`${part}\n`))).to.deep.equal([])
    })

  it('has the rules of the .proto', () => {
    const proto = textOf('examples/orders/orders.proto')
    const blocks = PAGES.flatMap(blocksOf).filter(({ language }) => language === 'proto')
    expect(blocks).to.have.length.above(0)
    expect(blocks.filter(({ text }) => !proto.includes(text))).to.deep.equal([])
  })
})
