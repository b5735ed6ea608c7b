import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DataSource } from 'typeorm'
import { Widget } from '../../../examples/widgets/widget.js'
import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { DeclarationError } from '../../../lib/errors.js'
import { DIALECTS, migrate } from '../../../lib/migrations/index.js'
import {
  type RepositoryOptions,
  repositoryOf,
  schemaComparison,
  tableMigrations,
} from '../../../lib/persistence/index.js'
import { type ContractSubject, repositoryContract } from '../../../lib/testing/index.js'
import { repositoriesOn } from '../../conformance/repository/open-subject.js'
import { repositoryConformance } from '../../conformance/repository.js'
import { type Holder, subjectOptions } from '../../conformance/repository/subject.js'
import { type Backend, databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { drilling } from '../../support/drill.js'
import { compiled } from '../../support/root.js'
import { runCommand } from '../../support/run-command.js'
import { Note, Specimen } from '../../support/entities/specimen.js'

const MODULES = ['test/support/entities/specimen.js', 'examples/widgets/widget.js']
const FILES = ['0002_first_notes', '0003_first_specimens', '0004_second']

/** What `migrate new --entities` writes, applied: everything that a repository needs has to be in it. */
describeOn('tables made by the files of migrate new', databases.filter(isServer), (backend) => {
  let folder: string
  let opened: OpenBackend
  const dataSource = () => opened.dataSource as DataSource
  const migrator = () => migrate({ url: urlOf(dataSource()), files: folder })
  const clear = async () => {
    for (const table of ['notes', 'specimens', 'widgets']) await dataSource().query(`DELETE FROM ${table}`)
  }

  before(async function () {
    folder = mkdtempSync(join(tmpdir(), 'ashlar-tables-'))
    for (const [at, name] of ['first', 'second'].entries()) {
      const module = join(compiled, MODULES[at] ?? '')
      const { exit, stderr } = await runCommand([
        ...['migrate', 'new', name, '--entities', module],
        ...['--dir', folder],
      ])
      expect({ exit, stderr }).to.deep.equal({ exit: 0, stderr: '' })
    }
    opened = await backend.open([Specimen, Note, Widget])
    await migrator().up()
  })
  after(async function () {
    await opened?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('are as the files and the entities say, and lint has nothing to add', async () => {
    expect(await migrator().verify(schemaComparison({ Specimen, Note, Widget }))).to.deep.equal([])
    expect(await migrator().verify(schemaComparison([Specimen, Note, Widget]))).to.deep.equal([])
    const lint = await runCommand(['migrate', 'lint', '--strict', '--files', folder])
    expect(lint).to.include({ exit: 0, stdout: 'lint: nothing found\n' })
  })

  describe('keep a repository of everything a resource can have', () => {
    repositoryContract(async (): Promise<ContractSubject<Specimen>> => {
      await clear()
      return {
        repository: repositoriesOn(dataSource(), subjectOptions).specimens,
        make: (n) => ({ title: `title ${n}`, code: `code-${n}`, tags: { n: String(n) } }),
        change: { patch: { title: 'changed', count: 7 }, mask: ['title', 'count'] },
      }
    })
  })

  describe('keep a repository of widgets', () => {
    const Widgets = repositoryOf(Widget)
    repositoryContract(async (): Promise<ContractSubject<Widget>> => {
      await clear()
      return {
        repository: new Widgets(dataSource()),
        make: (n) => ({ displayName: `widget ${n}`, size: n }),
        change: { patch: { displayName: 'changed' }, mask: ['display_name'] },
      }
    })
  })

  if (drilling)
    describe('keep everything that a repository has to do', () => {
      const holder: Holder = {
        get subject() {
          const withOptions = (options: RepositoryOptions) => repositoriesOn(dataSource(), options)
          return { ...repositoriesOn(dataSource()), withOptions, clear, close: () => Promise.resolve() }
        },
      }
      beforeEach(clear)
      repositoryConformance(holder)
    })

  describe('after the down migration', () => {
    it('are gone', async function () {
      expect((await migrator().down(1)).rolledBack).to.deep.equal([...FILES].reverse())
      const differences = await migrator().verify(schemaComparison({ Specimen, Note, Widget }))
      expect(differences.filter(({ kind }) => kind === 'noTable')).to.have.length(3)
    })
  })
})

/** Its unique columns are too long for MySQL together. */
@Resource()
@Entity('wides')
@Unique(['a', 'b', 'c'])
@TenantScoped()
class Wide {
  @PrimaryColumn() id!: string
  @Column() a!: string
  @Column() b!: string
  @Column() c!: string

  accountId!: string
}

@Resource({ shared: true })
@Entity('notes')
class Paper {
  @PrimaryColumn() id!: string
}

const ODD = `O'dd "schema" $$ of.one`

@Resource({ shared: true })
@Entity({ name: 'boxes', schema: ODD })
class Box {
  @PrimaryColumn() id!: string
}
@Resource({ shared: true })
@Entity({ name: 'crates', schema: ODD })
class Crate {
  @PrimaryColumn() id!: string
}
@Resource({ shared: true })
@Entity({ name: 'plain_boxes', schema: 'boxed' })
class PlainBox {
  @PrimaryColumn() id!: string
}

describeOn(
  'the files of migrate new for entities with a schema',
  databases.filter(({ name }) => name === 'postgres'),
  (backend) => {
    const made = tableMigrations({ Box, Crate, PlainBox })
    const files = Object.fromEntries(
      made.flatMap(({ sqlFor }, at) => [
        [`000${at + 2}_step.up.sql`, sqlFor('postgres').up],
        [`000${at + 2}_step.down.sql`, sqlFor('postgres').down],
      ]),
    )

    it('make the schema where it is missing, and keep it on the way back', async () => {
      const opened = await backend.open([Box, Crate, PlainBox])
      const dataSource = opened.dataSource as DataSource
      const migrator = migrate({ url: urlOf(dataSource), files })
      try {
        await dataSource.query('CREATE SCHEMA boxed')
        await migrator.up()
        expect(await migrator.verify(schemaComparison({ Box, Crate, PlainBox }))).to.deep.equal([])
        const boxes = new (repositoryOf(Box))(dataSource)
        await boxes.create({ id: 'a' })
        expect((await boxes.list()).items).to.have.length(1)
        await migrator.down(1)
        await migrator.up()
        expect((await boxes.list()).items).to.deep.equal([])
      } finally {
        for (const schema of [`"${ODD.replaceAll('"', '""')}"`, 'boxed'])
          await dataSource.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
        await opened.close()
      }
    })

    it('ask for no right to make one that is there', async () => {
      const opened = await backend.open([])
      const dataSource = opened.dataSource as DataSource
      const url = new URL(urlOf(dataSource))
      const role = `boxer_${process.pid}`
      try {
        await dataSource.query(`CREATE ROLE ${role} LOGIN; CREATE SCHEMA boxed AUTHORIZATION ${role}`)
        await dataSource.query(`CREATE SCHEMA module_of_boxes AUTHORIZATION ${role}`)
        url.username = role
        const { up, down } = made.find(({ table }) => table === 'boxed.plain_boxes')!.sqlFor('postgres')
        const one = { '0002_step.up.sql': up, '0002_step.down.sql': down }
        const { applied } = await migrate({ url: url.href, module: 'module_of_boxes', files: one }).up()
        expect(applied).to.include('0002_step')
      } finally {
        await dataSource.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`)
        await opened.close()
      }
    })

    it('tell of a database of MySQL that they do not make', () => {
      @Resource({ shared: true })
      @Entity({ name: 'far', database: 'elsewhere' })
      class Far {
        @PrimaryColumn() id!: string
      }
      expect(tableMigrations({ Far }).flatMap(({ notes }) => notes)).to.deep.equal([
        'on MySQL elsewhere.far is in a database that its entity names, which these files do not create: CREATE DATABASE needs more privileges than a migration has',
      ])
    })
  },
)

describe('tableMigrations', () => {
  it('tells what MySQL refuses before it is run there', () => {
    const notes = tableMigrations({ Specimen, Note, Widget, Wide }).flatMap((table) => table.notes)
    expect(notes).to.deep.equal([
      'on MySQL wides_account_id_a_b_c_key of wides has 4080 bytes and may have 3072: give account_id, a, b, c shorter lengths',
    ])
  })

  it('refuses two resources of one table', () => {
    expect(() => tableMigrations({ Note, Paper })).to.throw(
      DeclarationError,
      /two resources have the table notes/,
    )
  })

  it('make tables of one name in two databases of MySQL, and refuse them on PostgreSQL', () => {
    const crates = (database: string) => {
      @Resource({ type: `crate_${database}`, shared: true })
      @Entity({ name: 'crates', database })
      @Index(['label'])
      class Crate {
        @PrimaryColumn() id!: string
        @Column() label!: string
      }
      return Crate
    }
    const made = tableMigrations({ a: crates('north'), b: crates('south') })
    expect(made.map(({ table }) => table)).to.deep.equal(['north.crates', 'south.crates'])
    expect(made.map(({ sqlFor }) => sqlFor('mysql').table)).to.deep.equal([
      { schema: 'north', name: 'crates' },
      { schema: 'south', name: 'crates' },
    ])
    for (const { sqlFor } of made)
      expect(() => sqlFor('postgres')).to.throw(DeclarationError, 'two resources have the table crates')
  })

  it('gives the same bytes for the same entities, in whatever order they are exported', () => {
    const written = (exports: Readonly<Record<string, unknown>>) =>
      tableMigrations(exports).map(({ table, sqlFor, notes }) => [table, DIALECTS.map(sqlFor), notes])
    expect(written({ Specimen, Note, Widget })).to.deep.equal(
      written({ Widget, again: Widget, Note, Specimen, other: 1 }),
    )
  })
})

function isServer({ name }: Backend): boolean {
  return name === 'postgres' || name === 'mariadb' || name === 'mysql8'
}

function urlOf({ options }: DataSource): string {
  return (options as { readonly url?: string }).url ?? ''
}
