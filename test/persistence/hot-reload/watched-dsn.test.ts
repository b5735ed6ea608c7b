import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { resolveDsn } from '../../../lib/persistence/hot-reload/dsn.js'
import { HotDataSource } from '../../../lib/persistence/hot-reload/hot-data-source.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { type HotServer, hotServer } from './hot-server.js'

describe('HotDataSource', () => {
  let server: HotServer
  let base: string
  before(async function () {
    const found = await hotServer('postgres')
    if (found === undefined) return this.skip()
    server = found
    base = mkdtempSync(join(tmpdir(), 'ashlar-watch-'))
  })
  after(async () => {
    await server?.drop()
    if (base !== undefined) rmSync(base, { recursive: true, force: true })
  })

  it('follows a file whose folder was deleted and made again', async () => {
    const [a, b] = [await server.user('a', 'hunter2'), await server.user('b', 'hunter3')]
    const path = join(base, 'secrets', 'dsn')
    const make = (text: string) => {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
    make(a)
    const quiet = { info: () => {}, warn: () => {} }
    const hour = 3_600_000
    const dataSource = new HotDataSource({
      dsn: `fsnotify://postgres${path}`,
      debounceMs: 20,
      recheckMs: hour,
      reloadLogger: quiet,
    })
    await dataSource.initialize()
    try {
      const reloaded = async (change: () => void) => {
        const told = new Promise<void>((resolve) => {
          const stop = dataSource.on('reload', () => {
            stop()
            resolve()
          })
        })
        change()
        await told
        const [row] = await dataSource.query<{ who: string }[]>('SELECT current_user AS who')
        return row?.who.slice(-1)
      }
      rmSync(dirname(path), { recursive: true })
      expect(await reloaded(() => make(b))).to.equal('b')
      expect(await reloaded(() => writeFileSync(path, a))).to.equal('a')
    } finally {
      await dataSource.destroy()
    }
  })
})

describe('fsnotify://sqlite', () => {
  it('is resolved for SqliteDataSource', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-watch-'))
    try {
      writeFileSync(join(folder, 'dsn'), `sqlite://${join(folder, 'data.sqlite')}\n`)
      const { driver, dsn } = await resolveDsn(`fsnotify://sqlite${join(folder, 'dsn')}`)
      expect(driver).to.equal('sqlite')
      const dataSource = await new SqliteDataSource({ database: dsn }).initialize()
      expect(await dataSource.query('SELECT file FROM pragma_database_list')).to.deep.equal([
        { file: join(folder, 'data.sqlite') },
      ])
      await dataSource.destroy()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
