import { expect } from 'chai'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './support/root.js'
import { pages, textOf } from './support/sources/documents.js'

interface SitePages {
  readonly GROUPS: readonly { readonly text: string; readonly pages: readonly string[] }[]
  llmsText(description: string): string
}

const site = (await import(pathToFileURL(join(root, 'docs/.vitepress/pages.js')).href)) as SitePages

describe('the sidebar of the site', () => {
  it('lists every guide, reference page and page about the inside once', () => {
    const written = pages()
      .map((page) => /^docs\/((?:guides|reference|internals)\/[\w-]+)\.md$/.exec(page)?.[1])
      .filter((page) => page !== undefined)
    expect(site.GROUPS.flatMap(({ pages }) => pages).toSorted()).to.deep.equal(written.toSorted())
  })

  it('has five groups', () => {
    expect(site.GROUPS.map(({ text }) => text)).to.deep.equal([
      'Start',
      'Build',
      'Run',
      'Reference',
      'Inside',
    ])
  })
})

describe('llms.txt', () => {
  it('has a line with a sentence for every page', () => {
    const lines = site
      .llmsText('d')
      .split('\n')
      .filter((line) => line.startsWith('- '))
    expect(lines).to.have.length(site.GROUPS.flatMap(({ pages }) => pages).length)
    for (const line of lines) expect(line).to.match(/^- \[[^\]]+\]\(\/[\w/-]+\.html\): \S.{15,}/)
  })
})

/** Words of README, guides and reference together. It only falls. */
const MAX_WORDS = 70_000
/** Words of a guide. */
const MAX_GUIDE_WORDS = 1500
/** Written by programs. */
const GENERATED = ['docs/reference/cli.md', 'docs/reference/typeorm.md']

const wordsIn = (text: string): number => text.split(/\s+/).filter(Boolean).length
const read = pages().filter(
  (page) =>
    /^(?:README\.md$|docs\/(?:guides|reference)\/[\w-]+\.md$)/.test(page) && !GENERATED.includes(page),
)

describe('README, guides and reference', () => {
  it(`have at most ${MAX_WORDS} words together`, () => {
    expect(read.length).to.be.above(40)
    expect(read.reduce((sum, page) => sum + wordsIn(textOf(page)), 0)).to.be.at.most(MAX_WORDS)
  })

  it('have guides that are read in a few minutes', () => {
    const long = read
      .filter((page) => page.startsWith('docs/guides/'))
      .filter((page) => wordsIn(textOf(page)) > MAX_GUIDE_WORDS)
    expect(long).to.deep.equal([])
  })
})
