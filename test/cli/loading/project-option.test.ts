import { expect } from 'chai'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { distributeOption, projectOption } from '../../../cli/loading/project-option.js'

describe('the key ashlar of package.json', () => {
  const before = process.cwd()
  let folder: string
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'ashlar-key-')))
    mkdirSync(join(folder, 'src'))
    process.chdir(folder)
  })
  afterEach(() => {
    process.chdir(before)
    rmSync(folder, { recursive: true })
  })
  const has = (ashlar: unknown) => writeFileSync(join(folder, 'package.json'), JSON.stringify({ ashlar }))

  it('has paths from its folder, and the name of the module', () => {
    has({ entities: 'dist/entities.js', module: 'shop' })
    const all = () => [projectOption('entities'), projectOption('files'), projectOption('module')]
    expect(all()).to.deep.equal(['dist/entities.js', undefined, 'shop'])
    process.chdir('src')
    expect(all()).to.deep.equal([join('..', 'dist', 'entities.js'), undefined, 'shop'])
  })

  it('need not be there', () => {
    has(undefined)
    expect(projectOption('files')).to.equal(undefined)
  })

  it('has the extension that distributes tables', () => {
    has({ distribute: 'citus' })
    expect(distributeOption()).to.equal('citus')
    has({ distribute: 'other' })
    expect(distributeOption).to.throw('distribute takes citus, not other')
  })

  for (const [what, key] of [
    ['is not an object', 'migrations'],
    ['has folder', { folder: 'migrations' }],
    ['has no string for files', { files: 7 }],
    ['has no string for entities', { entities: ' ' }],
  ] as const)
    it(`is refused where it ${what}`, () => {
      has(key)
      expect(() => projectOption('files')).to.throw(
        `the key ashlar of ${join(folder, 'package.json')} ${what}: it takes distribute, entities, files, module, server, each a string`,
      )
    })
})
