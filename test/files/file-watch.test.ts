import { expect } from 'chai'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type FileWatch, watchFile } from '../../lib/files/file-watch.js'

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
