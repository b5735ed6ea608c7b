import { expect } from 'chai'
import { PAGES_WITH_FIGURES, pageWithFigures, withoutFigures } from '../bench/figures.js'
import { pages, textOf } from './support/sources/documents.js'

/** A ratio, a time of a call, memory, or lines that were counted. Bounds and options are whole numbers. */
const MEASURED = new RegExp(
  [
    /\b\d+\.\d+ (?:times|of (?:the|its) (?:CPU|processor))/,
    /\d µs|\b\d+(?:\.\d+)? MB (?:when )?idle|\d\.\d+ \[\d/,
    /\b(?:half|third|\d+ %|\d+) (?:of )?the (?:lines|code|processor time)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)
/** Notes of experiments, which say so. */
const NOTES = /^docs\/(?:decisions\/|internals\/measurements\.md)/

describe('figures of README.md and docs', () => {
  for (const page of PAGES_WITH_FIGURES)
    it(`of ${page} are those of the recorded runs: npm run figures writes them`, async () => {
      expect(textOf(page)).to.equal(await pageWithFigures(page))
    })

  it('are in blocks that are written from records', () => {
    const others = pages()
      .filter((page) => !NOTES.test(page))
      .flatMap((page) =>
        [...withoutFigures(textOf(page)).matchAll(MEASURED)].map(([figure]) => `${page}: ${figure}`),
      )
    expect(others).to.deep.equal([])
  })

  it('are seen where they stand outside of a block', () => {
    const text =
      'It needs 0.30 times, half the lines, 12 µs and 93 MB idle, 1.2 [1.0–1.3]; a batch has 30 items.'
    expect([...text.matchAll(MEASURED)]).to.have.length(5)
  })

  it('are in blocks only on pages that are compared', () => {
    const marked = pages().filter((page) => withoutFigures(textOf(page)) !== textOf(page))
    expect(PAGES_WITH_FIGURES).to.include.members([...marked])
  })
})
