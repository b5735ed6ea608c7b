import { expect } from 'chai'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './support/root.js'
import { pages } from './support/sources/documents.js'

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
