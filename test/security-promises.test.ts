import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './support/root.js'

/** Rows of the tables that end in a test: its path, and a part of its title. */
const promised = readFileSync(join(root, 'SECURITY.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| .* \| `test\//.test(line.replaceAll(/ +\|/g, ' |')))

describe('SECURITY.md', () => {
  it('has a test for each of its promises', () => {
    expect(promised.length).to.be.at.least(18)
  })

  for (const line of promised) {
    const [, what = '', file = '', title = ''] =
      /^\| (.*?) +\| (?:.*\| )?`(test\/[^`]+)`(?:: (.*?))? *\|$/.exec(line) ?? []
    it(`${what}: is held by a test that is there`, () => {
      expect(existsSync(join(root, file)), file).to.equal(true)
      const titles = readFileSync(join(root, file), 'utf8').replaceAll("\\'", "'")
      expect(titles).to.include(title)
      expect(titles).to.match(/\bit\(/)
    })
  }
})
