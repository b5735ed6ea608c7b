import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LiveFile } from '../../lib/files/live-file.js'

describe('a file that is read live', () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'live-'))
    path = join(folder, 'file.txt')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const opened = () =>
    new LiveFile(path, 'file.txt', 'initial', (text = 'none') => {
      if (text === 'broken') throw new TypeError('it is broken')
      return { value: text, problems: [] }
    })
  const write = (text: string): void => {
    writeFileSync(path, text)
    utimesSync(path, 1_000_000_000, 1_000_000_000)
  }

  it('counts where it comes later, and where an edit keeps its time and its length', () => {
    const file = opened()
    expect(file.read().value).to.equal('none')
    write('one')
    expect(file.read().value).to.equal('one')
    write('two')
    expect(file.read().value).to.equal('two')
    rmSync(path)
    expect(file.read().value).to.equal('none')
  })

  it('keeps the last good value, and says what is wrong, until it is mended', () => {
    const file = opened()
    write('good')
    file.read()
    write('broken')
    for (let times = 0; times < 2; times++)
      expect(file.read()).to.deep.equal({
        ...{ value: 'good', isKnown: true },
        problems: ['file.txt: it is broken. The last good version stays in effect.'],
      })
    rmSync(path)
    mkdirSync(path)
    expect(file.read().problems).to.deep.equal([
      'file.txt: it is not a file. The last good version stays in effect.',
    ])
    rmSync(path, { recursive: true })
    write('x'.repeat((1 << 20) + 1))
    expect(file.read().problems).to.deep.equal([
      'file.txt: it is larger than 1 MiB. The last good version stays in effect.',
    ])
    write('mended')
    expect(file.read()).to.deep.equal({ value: 'mended', isKnown: true, problems: [] })
  })
})
