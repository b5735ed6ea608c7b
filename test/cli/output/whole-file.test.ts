import { expect } from 'chai'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../../cli/errors/failure.js'
import { closeToOthers, readWholeFile, writeWholeFile } from '../../../cli/output/whole-file.js'

describe('writeWholeFile', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-whole-'))
    file = join(folder, 'clients.yaml')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const mode = (): number => statSync(file).mode & 0o777

  it('writes for the owner alone, whatever the umask is', () => {
    const before = process.umask(0)
    try {
      writeWholeFile(file, 'text\n', 'clients.yaml')
    } finally {
      process.umask(before)
    }
    expect(readFileSync(file, 'utf8')).to.equal('text\n')
    expect(mode()).to.equal(0o600)
  })

  it('replaces a file that others could read with one they cannot', () => {
    writeFileSync(file, 'old', { mode: 0o644 })
    writeWholeFile(file, 'new', 'clients.yaml')
    expect(mode()).to.equal(0o600)
  })

  it('leaves nothing beside the file', () => {
    writeWholeFile(file, 'text', 'clients.yaml')
    expect(readdirSync(folder)).to.deep.equal(['clients.yaml'])
  })

  it('keeps a symbolic link and writes what it leads to', () => {
    const real = join(folder, 'real.yaml')
    writeFileSync(real, 'old')
    symlinkSync(real, file)
    writeWholeFile(file, 'new', 'clients.yaml')
    expect(lstatSync(file).isSymbolicLink()).to.equal(true)
    expect(readFileSync(real, 'utf8')).to.equal('new')
  })

  it('removes the drafts of writers that were killed, and no other file', () => {
    const drafts = ['.clients.yaml.999999999.tmp', `.clients.yaml.${process.pid}.tmp`]
    const others = [`.clients.yaml.${process.ppid}.tmp`, '.clients.yaml.x.tmp', '.other.yaml.999999999.tmp']
    for (const name of [...drafts, ...others]) writeFileSync(join(folder, name), 'half')
    writeWholeFile(file, 'text', 'clients.yaml')
    expect(readdirSync(folder).sort()).to.deep.equal([...others, 'clients.yaml'].sort())
  })

  const FAILURES: readonly (readonly [string, () => string, RegExp])[] = [
    [
      'a folder that is missing',
      () => join(folder, 'none', 'c.yaml'),
      /its folder does not exist; create it first/,
    ],
    ['a path through a file', () => join(fileAt('plain'), 'c.yaml'), /is not a folder/],
    ['a folder in its place', () => folderAt('c.yaml'), /left as it was/],
  ]
  const fileAt = (name: string): string => {
    writeFileSync(join(folder, name), '')
    return join(folder, name)
  }
  const folderAt = (name: string): string => {
    mkdirSync(join(folder, name))
    return join(folder, name)
  }
  for (const [name, path, message] of FAILURES)
    it(`says what to do about ${name}, and leaves nothing behind`, () => {
      const target = path()
      expect(() => writeWholeFile(target, 'text', 'c.yaml')).to.throw(Failure, message)
      expect(readdirSync(folder).filter((one) => one.endsWith('.tmp'))).to.deep.equal([])
    })
})

describe('readWholeFile', () => {
  it('finds nothing where there is no file', () => {
    expect(readWholeFile(join(tmpdir(), 'ashlar-none', 'clients.yaml'), 'clients.yaml')).to.equal(undefined)
  })

  it('refuses what is not a file', () => {
    expect(() => readWholeFile('/dev/null', '/dev/null')).to.throw(Failure, '/dev/null is not a file')
  })
})

describe('closeToOthers', () => {
  it('says whether there was something to close', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-whole-'))
    const file = join(folder, 'clients.yaml')
    writeFileSync(file, '')
    chmodSync(file, 0o640)
    expect(closeToOthers(file, 'clients.yaml')).to.equal(true)
    expect(statSync(file).mode & 0o777).to.equal(0o600)
    expect(closeToOthers(file, 'clients.yaml')).to.equal(false)
    rmSync(folder, { recursive: true })
  })
})
