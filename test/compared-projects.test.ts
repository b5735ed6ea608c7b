import { expect } from 'chai'
import { textOf } from './support/sources/documents.js'

const [matrix = '', sources = ''] = textOf('docs/internals/comparison.md').split('## Sources')
const [head = [], ...rows] = matrix
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| -'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )

describe('docs/internals/comparison.md', () => {
  it('has a source for each cell about another project, or a dash', () => {
    expect([head.length, rows.length]).to.deep.equal([8, 10])
    const listed = [...sources.matchAll(/^(\d+)\. .*<https:\/\/.*>$/gm)].map(([, number]) => Number(number))
    const named = rows.flatMap((row) => row.slice(2).filter((cell) => cell !== '-'))
    const numbers = named.map((cell) => Number(/ \[(\d+)\]$/.exec(cell)?.[1]))
    expect([...new Set(numbers)].sort((a, b) => a - b)).to.deep.equal(listed)
  })
})

describe('README.md', () => {
  it('has at most 150 lines', () => {
    expect(textOf('README.md').trimEnd().split('\n').length).to.be.at.most(150)
  })
})
