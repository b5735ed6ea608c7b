import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './support/root.js'
import { textOf } from './support/sources/documents.js'

/** The last cell of a row: a test by its path with a part of its title, or words of the specification. */
const HELD = /\| (?:`(test\/[^`]+)`: ([^|]+?)|Specification: "[^"|]+") +\|$/

/** The rows of all tables, without their heads. */
const rows = textOf('docs/reference/aips.md')
  .split('\n')
  .filter((line, at, lines) => /^\| (?!-)/.test(line) && !/^\| -/.test(lines[at + 1] ?? ''))

describe('the page about the AIPs', () => {
  it('has tables', () => expect(rows.length).to.be.at.least(30))

  for (const row of rows)
    it(`${row.split('|')[2]?.trim()}: is held`, () => {
      const [, file, title = ''] = HELD.exec(row) ?? []
      expect(row).to.match(HELD)
      if (file === undefined) return
      expect(existsSync(join(root, file)), file).to.equal(true)
      const titles = readFileSync(join(root, file), 'utf8').match(/\bit\(\s*(['"`]).*?\1,/g) ?? []
      expect(
        titles.some((one) => one.includes(title)),
        `${file} has no test ${title}`,
      ).to.equal(true)
    })
})
