import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { compiled, root } from './support/root.js'

describe('ormconfig', () => {
  it('gives TypeORM’s own command line the DataSource of the example', async function () {
    const typeorm = join(root, 'node_modules/typeorm/cli.js')
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [typeorm, '-d', join(compiled, 'ormconfig.js'), 'schema:log'],
      { cwd: root, env: { ...process.env, WIDGETS_DATABASE: ':memory:' } },
    )
    // The output is coloured wherever it believes that somebody looks.
    expect(stripVTControlCharacters(stdout))
      .to.include('CREATE TABLE "widgets"')
      .and.include('"display_name"')
      .and.include('"deleted_at"')
  })
})
