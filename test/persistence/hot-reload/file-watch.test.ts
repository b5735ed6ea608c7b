import { expect } from 'chai'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { resolveDsn } from '../../../lib/persistence/hot-reload/dsn.js'
import { HotDataSource } from '../../../lib/persistence/hot-reload/hot-data-source.js'
import { type FileWatch, watchFile } from '../../../lib/persistence/hot-reload/file-watch.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { type HotServer, hotServer } from './hot-server.js'

describe('watchFile', () => {
  let base: string
  let path: string
  let watch: FileWatch | undefined
  let hear: () => void = () => {}

  beforeEach(async () => {
    base = mkdtempSync(join(tmpdir(), 'ashlar-watch-'))
    path = join(base, 'etc', 'secrets', 'dsn')
    make('first')
    watch = await watchFile(
      path,
      () => hear(),
      (code) => expect.fail(code),
    )
  })
  afterEach(async () => {
    hear = () => {}
    await watch?.close()
    rmSync(base, { recursive: true, force: true })
  })

  const make = (text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const remove = (folder: string) => rmSync(folder, { recursive: true })
  /** Waits until the change is heard of, and then looks where the file is, as whoever reads it does. */
  const heard = async (change: () => void) => {
    const told = new Promise<void>((resolve) => (hear = resolve))
    change()
    await told
    await watch?.follow()
  }

  const COMEBACKS: readonly (readonly [what: string, gone: () => void, back: () => void])[] = [
    ['its folder', () => remove(dirname(path)), () => make('again')],
    ['the folder above', () => remove(join(base, 'etc')), () => make('again')],
    [
      'a folder that is moved away',
      () => renameSync(dirname(path), join(base, 'old')),
      () => renameSync(join(base, 'old'), dirname(path)),
    ],
  ]
  for (const [what, gone, back] of COMEBACKS)
    it(`hears of the file after ${what} was gone and came back, again and again`, async () => {
      for (let round = 0; round < 3; round++) {
        await heard(gone)
        await heard(back)
        await heard(() => writeFileSync(path, `round ${round}`))
      }
    })

  const REPLACED: readonly (readonly [what: string, change: () => void])[] = [
    [
      'removed and made again',
      () => {
        remove(dirname(path))
        make('at once')
      },
    ],
    [
      'moved away and made again',
      () => {
        renameSync(dirname(path), join(base, 'old'))
        make('at once')
        remove(join(base, 'old'))
      },
    ],
  ]
  for (const [what, change] of REPLACED)
    it(`hears of the file after its folder was ${what} at once`, async () => {
      for (let round = 0; round < 3; round++) {
        await heard(change)
        await heard(() => writeFileSync(path, `round ${round}`))
      }
    })

  it('hears of a file whose link leads into a folder that is made again', async () => {
    const elsewhere = join(base, 'elsewhere')
    const real = join(elsewhere, 'dsn')
    const lay = () => {
      mkdirSync(elsewhere)
      writeFileSync(real, 'real')
    }
    lay()
    await heard(() => {
      rmSync(path)
      symlinkSync(real, path)
    })
    await heard(() => writeFileSync(real, 'changed'))
    await heard(() => remove(elsewhere))
    await heard(lay)
    await heard(() => writeFileSync(real, 'changed again'))
  })

  it('tells nothing once it is closed while it looks where the file is', async () => {
    remove(dirname(path))
    const following = watch?.follow()
    await watch?.close()
    await following
    hear = () => expect.fail('heard')
    make('too late')
    await new Promise((resolve) => setTimeout(resolve, 50))
  })
})

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
