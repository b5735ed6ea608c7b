import { expect } from 'chai'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as prettier from 'prettier'
import { AUTHENTICATIONS, checkName, type Choices } from '../../../cli/new/choices.js'
import { DATABASES } from '../../../cli/new/databases.js'
import { projectFilesOf } from '../../../cli/new/project-files.js'
import { checkEmpty, writeProject } from '../../../cli/new/write-project.js'
import { root } from '../../support/root.js'
import { runCli } from '../../support/run-cli.js'

const ALL: readonly Choices[] = DATABASES.flatMap((database) =>
  AUTHENTICATIONS.flatMap((authentication) =>
    [true, false].map((nest) => ({ name: 'task-board', database, authentication, nest })),
  ),
)

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>
  readonly overrides: Readonly<Record<string, unknown>>
}

describe('ashlar new', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-new-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('writes a project without asking where nobody can be asked', async () => {
    const { exit, stdout, stderr } = await runCli('ashlar', ['new', 'task-board', '--json'], { cwd: folder })
    expect([exit, stderr]).to.deep.equal([0, ''])
    const { files, ...choices } = JSON.parse(stdout) as { files: string[] }
    expect(choices).to.deep.equal({
      name: 'task-board',
      database: 'sqlite',
      nest: false,
      authentication: 'headers',
      folder: join(folder, 'task-board'),
    })
    expect(files).to.include.members(['package.json', 'proto/task_board/v1/project.proto', '.gitignore'])
    const there = readdirSync(join(folder, 'task-board'), { recursive: true, withFileTypes: true })
    expect(there.filter((entry) => entry.isFile())).to.have.length(files.length)
  })

  it('publishes ports of compose on the loopback address alone', () => {
    for (const choices of ALL) {
      const ports = [...(projectFilesOf(choices).get('compose.yaml') ?? '').matchAll(/ports: \[(.*)\]/g)]
      expect(ports).to.have.length(choices.database === 'sqlite' ? 1 : 2)
      for (const port of ports.flatMap(([, list = '']) => list.split(', ')))
        expect(port).to.match(/^'127\.0\.0\.1:\d+:\d+'$/)
    }
  })

  it('writes versions that npm installs without a conflict or a warning, and a server that normalizes masks and stores keys in its database', () => {
    const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
    for (const choices of ALL) {
      const files = projectFilesOf(choices)
      const written = JSON.parse(files.get('package.json') ?? '') as Manifest
      // This repository's own tests use openapi-typescript with this override.
      expect(written.devDependencies['typescript']).to.equal(own.devDependencies['typescript'])
      expect(written.overrides).to.deep.include({
        '@nats-io/nuid': '2.0.3',
        'openapi-typescript': { typescript: '$typescript' },
      })
      expect(files.get(choices.nest ? 'src/app.module.ts' : 'src/server.ts')).to.include(
        "updateMask: 'normalize'",
      )
      expect(files.get(choices.nest ? 'src/app.module.ts' : 'src/server.ts')).to.include(
        'new SqlIdempotencyStore(dataSource)',
      )
    }
  })

  it('refuses a folder with something in it, and leaves it as it is', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'mine')
    const { exit, stderr } = await runCli('ashlar', ['new', '.', '--name', 'shop'], { cwd: folder })
    expect([exit, readdirSync(folder)]).to.deep.equal([2, ['notes.txt']])
    expect(stderr).to.include('. contains notes.txt: name a folder that is empty or does not exist yet')
  })

  it('refuses a file in the place of the folder', () => {
    writeFileSync(join(folder, 'shop'), '')
    expect(() => checkEmpty(join(folder, 'shop'), 'shop')).to.throw('shop is a file')
  })

  it('leaves an empty folder empty when a file cannot be written', () => {
    mkdirSync(join(folder, 'shop'))
    const files = new Map([
      ['a', 'text'],
      ['a/b', 'a is a file, and no folder'],
    ])
    expect(() => writeProject(join(folder, 'shop'), files, 'shop')).to.throw('shop cannot be written')
    expect(readdirSync(join(folder, 'shop'))).to.deep.equal([])
  })

  for (const name of [
    'Shop',
    '2do',
    'my_shop',
    'a--b',
    'a-',
    '',
    '../up',
    'google',
    'ashlar',
    'a'.repeat(61),
  ])
    it(`refuses the name ${JSON.stringify(name)}`, () => {
      expect(() => checkName(name)).to.throw("cannot be the project's name")
    })

  it('has a value for every word of every template', () => {
    for (const choices of ALL)
      for (const [path, text] of projectFilesOf(choices)) {
        expect(path).to.not.match(/PACKAGE|\.tmpl$|\.part\.|\.begin\./)
        expect(text, path).to.not.match(/\{\{\w/)
      }
  })

  it('writes TypeScript, JSON, YAML and Markdown as a formatter would', async () => {
    const { prettier: style } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      prettier: prettier.Options
    }
    const texts = new Map<string, string>()
    for (const choices of ALL)
      for (const [path, text] of projectFilesOf(choices))
        if (/\.(ts|ya?ml|json|md)$/.test(path)) texts.set(text, path)
    for (const [text, path] of texts)
      expect(await prettier.format(text, { ...style, filepath: path }), path).to.equal(text)
  })
})
