import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './support/root.js'

/** A row: what is promised, how much where it is a bound, a test by its path, and a part of its title. */
const ROW = /^\| (.*?) +\| (?:.*\| )?`((?:packages\/idp\/)?test\/[^`]+)`(?:: (.*?))? *\|$/
/** Its rows without a title are cases, which it compares with the table itself. */
const OWN_TABLE = 'test/server/config/bounds.test.ts'

/** All rows of all tables, without their heads. */
const promised = readFileSync(join(root, 'SECURITY.md'), 'utf8')
  .split('\n')
  .filter((line, at, lines) => /^\| (?!-)/.test(line) && !/^\| -/.test(lines[at + 1] ?? ''))

describe('SECURITY.md', () => {
  it('has its promises in tables', () => {
    expect(promised.length).to.be.at.least(18)
  })

  for (const line of promised) {
    const [, what = '', file = '', title = ''] = ROW.exec(line) ?? []
    it(`${what || line}: is held by a test that is there`, () => {
      expect(line).to.match(ROW)
      if (file !== OWN_TABLE) expect(title).to.not.equal('')
      const titles = readFileSync(join(root, file), 'utf8').replaceAll("\\'", "'")
      expect(titles).to.include(title)
      expect(titles).to.match(/\bit\(/)
    })
  }
})
