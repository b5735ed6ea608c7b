import { expect } from 'chai'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bufYaml, importExtension, writeMarked } from '../../../cli/from-entities/marked-files.js'
import { ChangedFiles } from '../../../cli/generate/changed-files.js'

describe('the files of a project with entities', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ashlar-files-'))))
  afterEach(() => rmSync(folder, { recursive: true }))
  const write = (text: string) => {
    const files = new ChangedFiles(folder)
    const state = writeMarked(files, 'a.proto', text)
    files.write()
    return state
  }

  it('replaces a file that it wrote, and leaves one that is the same', () => {
    expect([write('one\n'), write('one\n'), write('two\n')]).to.deep.equal(['new', 'unchanged', 'changed'])
    expect(readFileSync(join(folder, 'a.proto'), 'utf8')).to.match(/two\n$/)
  })

  it('replaces a file as a whole, so that a kill leaves no half, and keeps its permissions', () => {
    write('one\n')
    const path = join(folder, 'a.proto')
    chmodSync(path, 0o640)
    const before = statSync(path)
    write('two\n')
    const { ino, mode } = statSync(path)
    expect([ino === before.ino, mode & 0o777]).to.deep.equal([false, 0o640])
    expect(readdirSync(folder)).to.deep.equal(['a.proto'])
  })

  it('writes beside a file that was edited, or that another program wrote', () => {
    write('one\n')
    const path = join(folder, 'a.proto')
    const edited = `${readFileSync(path, 'utf8')}// mine\n`
    writeFileSync(path, edited)
    expect(write('two\n')).to.equal('beside')
    expect(readFileSync(path, 'utf8')).to.equal(edited)
    expect(readFileSync(`${path}.new`, 'utf8')).to.match(/two\n$/)
  })

  it('puts buf.yaml beside the packages that a monorepo shares', () => {
    const project = join(folder, 'apps/shop')
    mkdirSync(join(folder, 'node_modules/ashlar-annotations/proto'), { recursive: true })
    mkdirSync(project, { recursive: true })
    const { path, module, text } = bufYaml(project)
    expect([path, module]).to.deep.equal(['../../buf.yaml', 'apps/shop/proto'])
    expect(text).to.include('  - path: apps/shop/proto\n  - path: node_modules/ashlar-annotations/proto\n')
    expect(bufYaml(folder)).to.include({ path: 'buf.yaml', module: 'proto' })
  })

  it('fails without the package of the annotations', () => {
    expect(() => bufYaml(folder)).to.throw('ashlar-annotations is not installed')
  })

  for (const [type, extension] of [
    ['module', 'js'],
    ['commonjs', 'none'],
    [undefined, 'none'],
  ] as const)
    it(`imports with the extension ${extension} in a package of the type ${type}`, () => {
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }))
      expect(importExtension(folder)).to.equal(extension)
    })
})
