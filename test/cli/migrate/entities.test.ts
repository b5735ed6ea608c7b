import { expect } from 'chai'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../../cli/errors/failure.js'
import { emptyVersion, writeNextFiles } from '../../../cli/migrate/next-files.js'
import { onEachEngine } from '../../migrations/each-engine.js'
import { expectGolden } from '../../support/golden.js'
import { compiled, root } from '../../support/root.js'
import { jsonOf, runCommand } from '../../support/run-command.js'

const WIDGETS = join(compiled, 'examples', 'widgets', 'widget.js')
const SPECIMENS = join(compiled, 'test', 'support', 'entities', 'specimen.js')
const CONTACTS = join(compiled, 'test', 'support', 'entities', 'contacts.js')
const DEPOSITS = join(compiled, 'test', 'support', 'entities', 'deposit.js')
const NAMED = join(compiled, 'test', 'support', 'entities', 'named-contacts.js')
const UNFIT = join(compiled, 'test', 'support', 'entities', 'unfit-contacts.js')
const EXISTING = join(compiled, 'test', 'cli', 'migrate', 'hosts', 'existing.js')
const MISTAKES = join(compiled, 'test', 'cli', 'migrate', 'hosts', 'many-mistakes.js')
const NO_ENTITIES = join(compiled, 'test', 'support', 'root.js')

describe('ashlar migrate new --entities', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-new-'))
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  const create = (name: string, entities: string, ...args: readonly string[]) =>
    runCommand(['migrate', 'new', name, '--entities', entities, ...args], { cwd: folder })
  const at = (path: string) => join(folder, path)
  const filesIn = (path: string) => readdirSync(at(path)).sort()

  it('writes the table of an entity for both engines, and says what it wrote', async () => {
    const ran = await create('widgets', WIDGETS, '--json')
    expect([ran.exit, ran.stderr]).to.deep.equal([0, ''])
    const files = ['postgres', 'mysql'].flatMap((engine) =>
      ['up', 'down'].map((direction) => `migrations/${engine}/0002_widgets.${direction}.sql`),
    )
    expect(jsonOf(ran)).to.deep.equal({ names: ['0002_widgets'], files })
    for (const engine of ['postgres', 'mysql'])
      expectGolden(
        `sql/migrate-new-widgets.${engine}.sql`,
        files
          .filter((file) => file.includes(engine))
          .map((file) => `-- ${file}\n${readFileSync(at(file), 'utf8')}`)
          .join('\n'),
      )
  })

  it('says that no file makes the table of another application', async () => {
    const ran = await create('countries', EXISTING)
    expect([ran.exit, ran.stderr]).to.deep.equal([
      2,
      `ashlar: ${EXISTING}: every resource has existing: true, so no file creates its table: write a file yourself\n`,
    ])
  })

  it('writes constant defaults, and none that a function makes', async () => {
    expect((await create('deposits', DEPOSITS)).exit).to.equal(0)
    const defaultsOf = (engine: string) =>
      [
        ...readFileSync(at(`migrations/${engine}/0002_deposits.up.sql`), 'utf8').matchAll(
          /^.*DEFAULT .*,$/gm,
        ),
      ].map(([line]) => line.trim())
    expect(defaultsOf('postgres')).to.deep.equal([
      `"status" text COLLATE "C" NOT NULL DEFAULT ('it''s \\ new'),`,
      '"priority" integer NOT NULL DEFAULT 3,',
      '"open" boolean NOT NULL DEFAULT TRUE,',
    ])
    expect(defaultsOf('mysql')).to.deep.equal([
      "`status` longtext NOT NULL DEFAULT ('it''s \\\\ new'),",
      '`priority` int NOT NULL DEFAULT 3,',
      '`open` tinyint(1) NOT NULL DEFAULT 1,',
    ])
  })

  it('gives each table a version of its own, and leaves those alone that are there', async () => {
    await create('widgets', WIDGETS)
    const two = await create('stones', SPECIMENS, '--json')
    expect(JSON.parse(two.stdout)).to.deep.include({ names: ['0003_stones_notes', '0004_stones_specimens'] })
    rmSync(at('migrations/postgres/0004_stones_specimens.up.sql'))
    rmSync(at('migrations/postgres/0004_stones_specimens.down.sql'))
    rmSync(at('migrations/mysql/0004_stones_specimens.up.sql'))
    rmSync(at('migrations/mysql/0004_stones_specimens.down.sql'))
    const one = await create('again', SPECIMENS)
    expect(one.exit).to.equal(0)
    expect(one.stderr).to.match(/^note: notes .* 0003_stones_notes\b.*\n$/)
    expect(filesIn('migrations/mysql')).to.include('0004_again_specimens.up.sql')
    const none = await create('more', SPECIMENS, '--json')
    expect(none.exit).to.equal(0)
    expect(jsonOf(none)).to.deep.equal({ names: [], files: [] })
    expect(none.stderr).to.match(
      /^note: notes .* 0003_stones_notes\b.*\nnote: specimens .* 0004_again_specimens\b.*\n$/,
    )
  })

  it('writes a table again once a file drops it', async () => {
    await create('widgets', WIDGETS)
    for (const engine of ['postgres', 'mysql']) {
      writeFileSync(at(`migrations/${engine}/0003_gone.up.sql`), 'DROP TABLE widgets')
      writeFileSync(at(`migrations/${engine}/0003_gone.down.sql`), '-- gone is gone')
    }
    expect((await create('anew', WIDGETS)).exit).to.equal(0)
    expect(filesIn('migrations/postgres')).to.include('0004_anew.up.sql')
  })

  it('names tables as the entity and the DataSource of the module do, once each', async () => {
    const { stdout, stderr, exit } = await create('people', NAMED)
    expect(exit).to.equal(0)
    expect(stdout)
      .to.include('0003_people_app_contacts.up.sql')
      .and.include('_people_archive_2_x_app_contacts')
    const sql = (engine: string, name: string) =>
      readFileSync(at(`migrations/${engine}/${name}.up.sql`), 'utf8')
    expect(sql('postgres', '0003_people_app_contacts')).to.match(/^CREATE TABLE "app_contacts" \(/m)
    expect(sql('postgres', '0002_people_archive_2_x_app_contacts')).to.match(
      /^CREATE TABLE "Archive ""2""\.x"\."app_contacts" \(/m,
    )
    expect(sql('postgres', '0002_people_archive_2_x_app_contacts')).to.include(
      `EXECUTE 'CREATE SCHEMA "Archive ""2"".x"'`,
    )
    expect(sql('postgres', '0003_people_app_contacts')).to.not.include('SCHEMA')
    expect(sql('mysql', '0002_people_archive_2_x_app_contacts')).to.not.include('SCHEMA')
    expect(stderr).to.match(/\bMySQL\b.* app_contacts\b/)
    const again = await create('more', NAMED)
    expect(again.stderr).to.match(
      /note: Archive "2"\.x\.app_contacts .*\b0002_\S+.*\nnote: app_contacts .*\b0003/,
    )
  })

  it('takes a table for created whether or not only one of the two says its schema', async () => {
    mkdirSync(at('migrations/postgres'), { recursive: true })
    const write = (sql: string) => {
      writeFileSync(at('migrations/postgres/0002_x.up.sql'), sql)
      writeFileSync(at('migrations/postgres/0002_x.down.sql'), '-- gone')
    }
    const names = async () => {
      const { stdout } = await create('again', NAMED, '--dialect', 'postgres', '--json')
      for (const file of filesIn('migrations/postgres'))
        if (!file.includes('_x.')) rmSync(at(`migrations/postgres/${file}`))
      return (JSON.parse(stdout) as { names: string[] }).names
    }
    write('CREATE TABLE inventory.app_contacts ()')
    expect(await names()).to.deep.equal(['0003_again_archive_2_x_app_contacts'])
    write('CREATE TABLE "Archive ""2"".x".app_contacts ()')
    expect(await names()).to.deep.equal(['0003_again_app_contacts'])
    write('CREATE TABLE app_contacts (); DROP TABLE inventory.app_contacts')
    expect(await names()).to.have.lengthOf(2)
  })

  it('says what else INDEXED search needs', async () => {
    const { stderr } = await create('people', CONTACTS)
    expect(stderr).to.match(
      /^note: articles .*\bashlar search generate\b.*\nnote: contacts .*\bashlar search generate\b.*\n$/,
    )
  })

  it('writes for one engine alone where that is asked, and into a folder of files', async () => {
    await create('widgets', WIDGETS, '--dialect', 'mysql')
    expect(filesIn('migrations')).to.deep.equal(['mysql'])
    mkdirSync(at('flat'))
    writeFileSync(at('flat/0002_a.up.sql'), 'SELECT 1')
    writeFileSync(at('flat/0002_a.down.sql'), '-- nothing')
    await create('widgets', WIDGETS, '--dir', 'flat')
    expect(readFileSync(at('flat/0003_widgets.up.sql'), 'utf8')).to.match(/CREATE TABLE "widgets"/)
  })

  it('says that the entities are declared with another copy of ashlar, and where both are', async () => {
    for (const part of ['decorators', 'lib'])
      cpSync(join(compiled, part), at(`other/dist/${part}`), { recursive: true })
    writeFileSync(at('other/package.json'), '{"name":"ashlar","type":"module"}')
    symlinkSync(join(root, 'node_modules'), at('node_modules'))
    writeFileSync(
      at('entities.mjs'),
      `import { Resource } from './other/dist/decorators/index.js'
import { Entity, PrimaryColumn } from 'typeorm'
export class Parcel {}
PrimaryColumn({ type: String })(Parcel.prototype, 'id')
Entity('parcels')(Parcel)
Resource({ shared: true })(Parcel)
`,
    )
    const { exit, stdout, stderr } = await create('parcels', 'entities.mjs')
    expect([exit, stdout]).to.deep.equal([2, ''])
    expect(stderr).to.match(/\bParcel .*\bashlar in \S+\/other, .*\bnpx ashlar\b/)
  })

  const REFUSED: readonly (readonly [string, string, RegExp])[] = [
    ['a module that is not there', 'nowhere.js', /\bnowhere\.js\b/],
    ['a module that is not compiled', 'entities.ts', /\bentities\.ts\b/],
    ['a module of other things', NO_ENTITIES, /@Resource\(\)/],
    ['an entity that does not fit together', UNFIT, /unfit-contacts\.js: \w+: \S/],
  ]
  for (const [name, module, message] of REFUSED)
    it(`refuses ${name}, and writes nothing`, async () => {
      const { exit, stdout, stderr } = await create('things', module)
      expect([exit, stdout]).to.deep.equal([2, ''])
      expect(stderr).to.match(message)
      expect(readdirSync(folder)).to.deep.equal([])
    })

  it('refuses the same of verify', async () => {
    for (const [, module, message] of REFUSED) {
      const args = ['migrate', 'verify', '--entities', module, '--url', 'postgres://127.0.0.1:1/d']
      const { exit, stderr } = await runCommand(args, { cwd: folder })
      expect(exit).to.equal(2)
      expect(stderr).to.match(message)
    }
  })

  it('has each of many problems on a line of its own, to its end', async () => {
    const { exit, stderr } = await create('wrong', MISTAKES)
    expect(exit).to.equal(2)
    const [head, ...lines] = stderr.trimEnd().split('\n')
    expect(head).to.match(new RegExp(`^ashlar: .*: Invoice: ${lines.length} problems:$`))
    expect(lines).to.have.length(10)
    for (const line of lines) expect(line).to.match(/^ {2}\w+ has the column type interval, .*[^…]$/)
  })

  it('refuses files that are none', async () => {
    mkdirSync(at('migrations/postgres'), { recursive: true })
    writeFileSync(at('migrations/postgres/2_a.up.sql'), '')
    const { exit, stderr } = await create('widgets', WIDGETS)
    expect(exit).to.equal(2)
    expect(stderr).to.match(/\b2_a\.up\.sql: /)
  })

  it('leaves nothing behind when it cannot write all of them', async () => {
    mkdirSync(at('migrations/postgres'), { recursive: true })
    writeFileSync(at('migrations/mysql'), 'a file')
    const { exit, stdout, stderr } = await runCommand(['migrate', 'new', 'add_colour'], { cwd: folder })
    expect([exit, stdout]).to.deep.equal([5, ''])
    expect(stderr).to.match(/^ashlar: .*migrations\/mysql\b/)
    expect(filesIn('migrations/postgres')).to.deep.equal([])
    const two = [emptyVersion('good'), emptyVersion('no/such_folder')]
    expect(() => writeNextFiles(at('other'), undefined, two)).to.throw(Failure, 'no/such_folder')
    expect([...filesIn('other/postgres'), ...filesIn('other/mysql')]).to.deep.equal([])
  })
})

onEachEngine('ashlar migrate with a file that holds the connection string', (database, dialect) => {
  let folder: string
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-dsn-'))
    await runCommand(['migrate', 'new', 'widgets', '--entities', WIDGETS, '--dir', join(folder, 'sql')])
    writeFileSync(join(folder, 'dsn'), `${database().url}\n`)
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
  })

  const run = (verb: string, ...args: readonly string[]) =>
    runCommand(['migrate', verb, ...args, '--files', join(folder, 'sql')], {
      env: { ASHLAR_DATABASE_URL: `fsnotify://${dialect}${folder}/dsn` },
    })

  it('goes up, verifies the entities, shows where it is, and goes down', async () => {
    expect(jsonOf(await run('up', '--json'))).to.deep.include({ applied: ['0002_widgets'] })
    expect((await run('status', '--check')).exit).to.equal(0)
    const verify = () => run('verify', '--entities', WIDGETS, '--json')
    const same = await verify()
    expect(same.exit).to.equal(0)
    expect(jsonOf(same)).to.deep.include({ details: [], removed: [] })
    await database().rows('ALTER TABLE widgets DROP COLUMN size')
    const differs = await verify()
    expect(differs.exit).to.equal(1)
    expect(jsonOf(differs)).to.have.nested.include({
      ...{ 'removed[0].version': '0002_widgets', 'removed[0].isRecorded': false },
      ...{ 'removed[0].difference.table': 'widgets', 'removed[0].difference.column': 'size' },
    })
    expect((await run('verify')).exit).to.equal(0)
    const down = await run('down', '--to', '1', '--yes', '--json')
    expect(down.exit).to.equal(0)
    expect(jsonOf(down)).to.deep.include({ rolledBack: ['0002_widgets'] })
  })

  it('never shows a password of it', async () => {
    const scheme = dialect === 'postgres' ? 'postgres' : 'mysql'
    for (const [text, exit] of [
      [`${scheme}://ada:hunter22@127.0.0.1:1/d`, 6],
      [`${scheme}://ada:hunter22@[::1/d`, 2],
      ['ada:hunter22', 2],
      ['', 2],
    ] as const) {
      writeFileSync(join(folder, 'dsn'), text)
      for (const verb of ['up', 'down', 'status', 'verify']) {
        const ran = await run(verb, ...(verb === 'down' ? ['--to', '1', '--yes'] : []))
        expect([ran.exit, ran.stdout], `${verb} ${text}`).to.deep.equal([exit, ''])
        expect(ran.stderr)
          .to.match(/\nashlar: |^ashlar: /)
          .and.not.include('hunter22')
      }
    }
  })

  it('says that a file is not there, and that SQLite has no versions', async () => {
    rmSync(join(folder, 'dsn'))
    expect(await run('up')).to.include({ exit: 2, stdout: '' })
    const url = `fsnotify://sqlite${folder}/dsn`
    writeFileSync(join(folder, 'dsn'), `sqlite:${folder}/app.db`)
    const { exit, stderr } = await runCommand(['migrate', 'status', '--url', url])
    expect(exit).to.equal(2)
    expect(stderr).to.match(/\bSQLite\b/)
  })
})
