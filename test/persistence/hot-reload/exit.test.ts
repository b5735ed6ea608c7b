import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serviceUrl } from '../../support/running/services.js'

const HOT = new URL('../../../lib/persistence/hot-reload/hot-data-source.js', import.meta.url).href

describe('a process that forgot its HotDataSource', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-hot-exit-'))
  after(() => rmSync(folder, { recursive: true }))

  it('ends once its connections were idle for long enough', async function () {
    const url = serviceUrl('postgres')
    if (url === undefined) return this.skip()
    const path = join(folder, 'dsn')
    writeFileSync(path, url)
    const script = `
      import { HotDataSource } from ${JSON.stringify(HOT)}
      const dataSource = new HotDataSource({
        dsn: ${JSON.stringify(`fsnotify://postgres${path}`)},
        extra: { idleTimeoutMillis: 100 },
      })
      await dataSource.initialize()
      await dataSource.query('SELECT 1')
      process.stdout.write('served')
    `
    const child = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 20_000,
    })
    expect((await child).stdout).to.equal('served')
  })
})
