import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { compiled } from '../support/root.js'
import { type PageFolder, pageFolder } from '../support/sources/page-module.js'

/** The tests that the guide shows, as they are on the page. */
describe('docs/guides/testing.md', function () {
  let page: PageFolder

  before(function () {
    if (basename(compiled) !== 'dist') return this.skip()
    page = pageFolder('docs/guides/testing.md')
  })
  after(() => page?.remove())

  for (const file of ['retire.test.js', 'sell-off.test.js', 'login.test.js'])
    it(`has a ${file} that passes`, async () => {
      const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--test', '--test-reporter=tap', join(page.folder, file)],
        { env },
      )
      expect(stdout)
        .to.match(/^# pass 1$/m)
        .and.match(/^# fail 0$/m)
    })
})
