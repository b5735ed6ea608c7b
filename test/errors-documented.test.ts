import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CODES } from '../lib/errors.js'
import { root } from './support/root.js'
import { sourceFiles } from './support/sources/source-files.js'

const page = readFileSync(join(root, 'docs', 'reference', 'errors.md'), 'utf8')
const sources = sourceFiles('lib').filter(({ path }) => !path.startsWith('lib/gen/'))
const found = (pattern: RegExp, where = ''): readonly string[] => {
  const texts = sources.filter(({ path }) => path.includes(where)).map(({ text }) => text)
  return [
    ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))),
  ].sort()
}

describe('docs/reference/errors.md', () => {
  it('has a heading for each reason of an ErrorInfo', () => {
    const reasons = [
      ...found(/kind: 'errorInfo',? reason: '([A-Z_]+)'/g),
      ...found(/sentinel\('[^']*', '([A-Z_]+)'/g),
      ...found(/^ {2}\w+: \['([A-Z_]+)', /gm, 'stored-reply'),
    ]
    const headings = [...page.matchAll(/^### ([A-Z_]+)$/gm)].map(([, name]) => name)
    expect(reasons).to.include.members(['NOT_FOUND', 'RESPONSE_LOST', 'RESPONSE_NOT_REPEATED'])
    expect(headings).to.have.members(reasons)
  })

  it('has a line for each code that a caller may get', () => {
    const rows = [...page.matchAll(/\| ([A-Z_]+) +\| \d{3} /g)].map(([, name]) => name)
    const notSent = ['OK', 'UNKNOWN', 'OUT_OF_RANGE', 'DATA_LOSS']
    expect([...new Set(rows)]).to.have.members(Object.keys(CODES).filter((code) => !notSent.includes(code)))
  })

  it('has a line for each type of a PreconditionFailure', () => {
    const types = new Set([
      ...found(/violation\(\s*'([A-Z_]+)'/g),
      ...found(/kind: 'preconditionFailure',\s*type: '([A-Z_]+)'/g),
    ])
    const rows = [...page.matchAll(/^\| `([A-Z_]+)` +\|/gm)].map(([, name]) => name)
    expect([...types]).to.include.members(['HAS_CHILDREN', 'ISOLATION'])
    expect(rows).to.have.members([...types])
  })
})
