import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './support/root.js'

const HEADINGS = ['### Added', '### Changed', '### Fixed', '### Breaking']

describe('the changes that are not released', () => {
  const [, unreleased = ''] = /\n## Unreleased\n([^]*?)\n## /.exec(textOf('CHANGELOG.md')) ?? []
  const [before = '', ...sections] = unreleased.split(/(?=^### )/m)

  it('stand under Added, Changed, Fixed and Breaking, in this order', () => {
    const headings = sections.map((section) => section.split('\n')[0] ?? '')
    expect(headings).to.deep.equal(HEADINGS.filter((heading) => headings.includes(heading)))
    expect(before.trim()).to.equal('')
  })

  it('say what to do wherever something breaks', () => {
    const breaking = sections.find((section) => section.startsWith('### Breaking')) ?? ''
    const entries = breaking.split(/^(?=- )/m).slice(1)
    expect(entries.filter((entry) => !/What\s+to\s+do:/.test(entry))).to.deep.equal([])
  })
})

function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
