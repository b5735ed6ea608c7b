import { expect } from 'chai'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataSource } from 'typeorm'
import type { ProjectCheck } from '../../../cli/check/project-check.js'
import { onEachEngine } from '../../migrations/each-engine.js'
import { expectGolden } from '../../support/golden.js'
import { compiled } from '../../support/root.js'
import { jsonOf, runCommand } from '../../support/run-command.js'

const hosts = (name: string) => join(compiled, 'test', 'cli', 'check', 'hosts', `${name}.js`)
const MISTAKES = hosts('mistakes')
const SERVERS = hosts('servers')
const TABLES = hosts('tables')
const WIDGETS = join(compiled, 'examples', 'widgets', 'widget.js')

const kindsIn = ({ problems }: ProjectCheck) => [...new Set(problems.map(({ kind }) => kind))].sort()

describe('ashlar check', () => {
  it('prints the fields that clients see, and exits with 0 if there is no problem', async () => {
    const { exit, stdout, stderr } = await runCommand(['check', '--entities', WIDGETS])
    expect([exit, stderr]).to.deep.equal([0, ''])
    expectGolden('cli/check-widgets.txt', stdout)
  })

  it('lists the problems of model, relations, rules and table names in one round', async () => {
    const { exit, stdout } = await runCommand(['check', '--entities', MISTAKES])
    expect(exit).to.equal(1)
    expectGolden('cli/check-mistakes.txt', stdout)
    const ran = await runCommand(['check', '--entities', MISTAKES, '--json'])
    const found = jsonOf<ProjectCheck>(ran)
    expect(ran.exit).to.equal(1)
    expect(kindsIn(found)).to.deep.equal(['column', 'relation', 'rule', 'table'])
    const note = found.resources.find(({ entity }) => entity === 'Note')
    expect(note).to.deep.include({
      ...{ type: 'note', table: 'notes', message: 'specimens.v1.Note' },
      ...{ fields: ['name', 'text', 'stars'], code: ['draft'], unmanaged: ['readers'] },
    })
    expect(note?.notes.some((text) => text.includes(`onDelete: 'CASCADE'`))).to.equal(true)
    const reader = found.resources.find(({ entity }) => entity === 'Reader')
    expect(reader?.notes.some((text) => text.startsWith('in memory: rank'))).to.equal(true)
  })

  it('checks a server that is not started, beside the classes of its repositories', async () => {
    const ran = await runCommand(['check', '--server', SERVERS, '--json'])
    const found = jsonOf<ProjectCheck>(ran)
    expect(ran.exit).to.equal(1)
    expect(ran.stderr).to.include('building')
    expect(kindsIn(found)).to.deep.equal(['noImplementation', 'rule'])
    expect(found.resources.map(({ entity }) => entity)).to.deep.equal(['Note'])
  })

  it('lists resource types of rules that no class has', async () => {
    const ran = await runCommand(['check', '--server', SERVERS, '--export', 'sound', '--json'])
    const { notes, problems } = jsonOf<ProjectCheck>(ran)
    expect([ran.exit, problems]).to.deep.equal([0, []])
    expect(notes).to.have.length(1)
    expect(notes[0]).to.match(
      /^no class is the resource "echo" in the rule of \/specimens\.v1\.EchoService\//,
    )
  })

  it('checks the classes if the server cannot be built, and says why', async () => {
    const args = ['--entities', WIDGETS, '--server', SERVERS, '--export', 'away', '--json']
    const ran = await runCommand(['check', ...args])
    const { notes, resources } = jsonOf<ProjectCheck>(ran)
    expect([ran.exit, resources.length]).to.deep.equal([0, 1])
    expect(notes.join()).to.include('no database')
  })

  it('reads the modules from the key ashlar of package.json', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ashlar-check-')))
    const inside = join(folder, 'src')
    mkdirSync(inside)
    const from = (path: string) => `export * from ${JSON.stringify(path)}\n`
    writeFileSync(join(folder, 'entities.mjs'), from(WIDGETS))
    writeFileSync(join(folder, 'server.mjs'), `export { sound as builder } from ${JSON.stringify(SERVERS)}\n`)
    const ashlar = { entities: 'entities.mjs', server: 'server.mjs' }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ashlar }))
    const ran = await runCommand(['check', '--json'], { cwd: inside })
    rmSync(folder, { recursive: true })
    const { resources, notes } = jsonOf<ProjectCheck>(ran)
    expect([ran.exit, resources.map(({ entity }) => entity)]).to.deep.equal([0, ['Widget']])
    expect(notes.join()).to.include('"note"')
  })

  it('exits with 2 without a module, and for one without a class', async () => {
    expect((await runCommand(['check'])).exit).to.equal(2)
    const { exit, stderr } = await runCommand(['check', '--entities', SERVERS])
    expect([exit, stderr.includes('exports no class with @Resource()')]).to.deep.equal([2, true])
  })

  it('checks the classes if the database cannot be reached, and says so', async () => {
    const url = 'postgres://nobody@127.0.0.1:1/none'
    const ran = await runCommand(['check', '--entities', TABLES, '--url', url, '--json'])
    const { notes, resources } = jsonOf<ProjectCheck>(ran)
    expect([ran.exit, resources.length, notes.length]).to.deep.equal([0, 2, 1])
    expect(notes[0]).to.include('cannot be reached')
  })
})

onEachEngine(
  'ashlar check of a database',
  (database, dialect) => {
    it('lists how tables differ from new ones, and counts as a problem only what isolation needs', async () => {
      const { url } = database()
      const dataSource = await new DataSource({ type: dialect, url }).initialize()
      const author = dialect === 'postgres' ? 'varchar(40)' : 'varchar(40) CHARACTER SET latin1'
      await dataSource.query(`CREATE TABLE authors (id ${author} PRIMARY KEY)`)
      await dataSource.query(
        'CREATE TABLE books (id varchar(40) PRIMARY KEY, title varchar(20) NOT NULL, author_id varchar(40) NOT NULL)',
      )
      await dataSource.destroy()
      const ran = await runCommand(['check', '--entities', TABLES, '--url', url, '--json'])
      const { problems, resources } = jsonOf<ProjectCheck>(ran)
      const [authors, books] = resources.map(({ differences }) => differences.map(({ kind }) => kind))
      // On PostgreSQL every collation of the server compares these strings exactly.
      const isExact = dialect === 'postgres'
      expect([...new Set(problems.map(({ kind }) => kind))]).to.deep.equal(isExact ? [] : ['collation'])
      expect(ran.exit).to.equal(isExact ? 0 : 1)
      expect(authors).to.include('collation')
      expect(books).to.include.members(['collation', 'type', 'addForeignKey'])
    })
  },
  { empty: true },
)
