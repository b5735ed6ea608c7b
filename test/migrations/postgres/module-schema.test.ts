import { expect } from 'chai'
import { Column, DataSource, type DataSourceOptions, Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { type Dialect, lintFiles, migrate, searchMigrations } from '../../../lib/migrations/index.js'
import { HotDataSource } from '../../../lib/persistence/hot-reload/hot-data-source.js'
import { schemaComparison, searchTables, tableMigrations } from '../../../lib/persistence/index.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { SqlIdempotencyStore } from '../../../lib/server/idempotency/sql-idempotency-store.js'
import { SqlOperationStore } from '../../../lib/server/operations/sql-operation-store.js'
import { Contact } from '../../support/entities/contacts.js'
import { ArchivedContact, dataSource as named } from '../../support/entities/named-contacts.js'
import { testDatabase } from '../../support/databases/test-database.js'
import { valuesOf } from '../alteration.js'
import { file, onEachEngine } from '../each-engine.js'

const ODD = 'The "odd" one, $1?'

/** The files that the commands write for a module that exports these, after `first`. */
function filesOf(
  exports: Readonly<Record<string, unknown>>,
  dialect: Dialect,
  first: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const start = 2 + Object.keys(first).length / 2
  const made = tableMigrations(exports).map((table, at) =>
    file(`000${start + at}_t${at}`, table.sqlFor(dialect).up, table.sqlFor(dialect).down),
  )
  const search = searchMigrations(searchTables(exports).tables, {})
  return Object.assign({}, first, ...made, search) as Record<string, string>
}

onEachEngine(
  "a module's schema",
  (database) => {
    const opened: DataSource[] = []
    afterEach(async () => {
      for (const dataSource of opened.splice(0)) await dataSource.destroy()
    })

    const open = async (options: object) => {
      const all = { type: 'postgres', url: database().url, entities: [Contact, ArchivedContact], ...options }
      const dataSource = await new DataSource(all as DataSourceOptions).initialize()
      opened.push(dataSource)
      return dataSource
    }
    const migrator = (module: string, exports: object, first?: Readonly<Record<string, string>>) =>
      migrate({
        url: database().url,
        module,
        files: filesOf(exports as Record<string, unknown>, 'postgres', first),
      })

    /** Writes, and searches by the stored vector. */
    const useContacts = (dataSource: DataSource, name: string) =>
      RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
        const contacts = new (repositoryOf(Contact))(dataSource)
        await contacts.create({ id: 'a', name, email: 'ada@example.com', host: '' })
        expect((await contacts.list({ search: name })).items.map(({ id }) => id)).to.deep.equal(['a'])
        expect((await dataSource.getRepository(Contact).find()).map((one) => one.name)).to.deep.equal([name])
      })

    for (const schema of ['inventory', ODD])
      it(`is reached by DataSource({ schema }): ${schema}`, async () => {
        const exports = { Contact, dataSource: new DataSource({ type: 'postgres', schema }) }
        const migrations = migrator(schema, exports)
        await migrations.up()
        expect(await migrations.verify(schemaComparison(exports))).to.deep.equal([])
        await useContacts(await open({ schema }), 'Ada')
        const hot = new HotDataSource({ dsn: database().url, schema, entities: [Contact] })
        opened.push(await hot.initialize())
        const contacts = new (repositoryOf(Contact))(hot)
        const { name } = await RequestContext.as({ tenant: 'acme', subject: 'bob' }, () => contacts.get('a'))
        expect(name).to.equal('Ada')
        expect(await database().tables('public')).not.to.include('contacts')
        await migrations.down(0)
        expect(await database().tables(schema)).to.not.include('contacts')
      })

    it('keeps the tables of two modules apart that call them alike', async () => {
      const modules = ['billing', 'inventory']
      for (const module of modules) await migrator(module, { Contact }).up()
      for (const schema of modules) await useContacts(await open({ schema }), `of ${schema}`)
      for (const schema of modules) {
        const rows = await database().rows(`SELECT name FROM ${schema}.contacts`)
        expect(rows).to.deep.equal([{ name: `of ${schema}` }])
      }
    })

    it('is where the stores of responses and operations find their tables', async () => {
      for (const schema of ['inventory', ODD]) {
        await migrator(schema, { Contact }).up()
        const dataSource = await open({ schema })
        const answers = new SqlIdempotencyStore(dataSource)
        const key = { tenant: 'acme', subject: 'ada', method: '/m', requestId: schema }
        expect(await answers.claim(key, 'print', 1000)).to.include({ state: 'claimed' })
        expect(await answers.claim(key, 'print', 1000)).to.include({ state: 'running' })
        const operations = new SqlOperationStore(dataSource)
        const operation = { name: `operations/${schema.length}`, tenant: 'acme', method: '/m' }
        const empty = { metadata: undefined, response: undefined, failure: undefined }
        await operations.create({ ...operation, ...empty, status: 'pending' }, 'me', 1000)
        expect(await operations.list('acme', '', 10)).to.have.lengthOf(1)
      }
      expect(await database().rows('SELECT name FROM public.operations')).to.deep.equal([])
      expect(await database().rows('SELECT name FROM inventory.operations')).to.have.lengthOf(1)
    })

    it('may be another than that of an entity which names its own', async () => {
      const archive = ArchivedContact
      const schema = file('0002_archive', `CREATE SCHEMA "Archive ""2"".x"`, 'SELECT 1')
      const migrations = migrator('inventory', { archive }, schema)
      await migrations.up()
      expect(await migrations.verify(schemaComparison({ archive }))).to.deep.equal([])
      const contacts = new (repositoryOf(ArchivedContact))(await open({}))
      await contacts.create({ id: 'a', name: 'Ada' })
      expect((await contacts.list({ search: 'ada' })).items).to.have.lengthOf(1)
      expect(await database().tables('Archive "2".x')).to.deep.equal(['contacts'])
      await database().rows(`ALTER TABLE "Archive ""2"".x".contacts DROP COLUMN search_vector`)
      const found = await migrations.verify(schemaComparison({ archive }))
      expect(found.map(valuesOf)).to.deep.equal([
        { kind: 'noVector', table: 'Archive "2".x.contacts', column: 'search_vector', next: 'search' },
      ])
    })

    it('has tables with the prefix of the DataSource that the module exports', async () => {
      const exports = { Contact, named }
      const migrations = migrator('inventory', exports)
      await migrations.up()
      expect(await migrations.verify(schemaComparison(exports))).to.deep.equal([])
      expect(await database().tables('inventory'))
        .to.include('app_contacts')
        .and.not.include('contacts')
      await useContacts(await open({ schema: 'inventory', entityPrefix: 'app_' }), 'Ada')
      const found = await migrations.verify(schemaComparison({ Contact }))
      expect(found.map(valuesOf)).to.deep.equal([{ kind: 'noTable', table: 'contacts', next: 'expand' }])
    })

    it('differs when the DataSource looks in another one', async () => {
      const exports = { Contact, named }
      const migrations = migrator('billing', exports)
      await migrations.up()
      expect(await migrations.verify(schemaComparison(exports))).to.deep.equal([
        {
          ...{ kind: 'otherSchema', table: 'inventory', is: 'inventory', wanted: 'billing' },
          text: 'the DataSource has its tables in the schema inventory, but these migrations create them in billing',
          detail: 'pass --schema inventory, or give the DataSource { schema: "billing" }',
        },
      ])
    })
  },
  { dialects: ['postgres'] },
)

onEachEngine(
  'the database of an entity',
  (database) => {
    it('is where its table is made, compared and used', async () => {
      const { url, drop } = await testDatabase('mysql')
      const name = new URL(url).pathname.slice(1)
      try {
        @Resource({ shared: true })
        @Entity({ name: 'things', database: name })
        class Thing {
          @PrimaryColumn() id!: string
          @Column() title!: string
        }
        const files = filesOf({ Thing }, 'mysql')
        expect(await lintFiles(files, 'mysql')).to.deep.equal([])
        const migrations = migrate({ url: database().url, files })
        await migrations.up()
        expect(await database().tables()).not.to.include('things')
        expect(await migrations.verify(schemaComparison({ Thing }))).to.deep.equal([])
        await database().rows(`ALTER TABLE ${name}.things DROP COLUMN title`)
        const [missing] = await migrations.verify(schemaComparison({ Thing }))
        expect(missing).to.include({
          kind: 'addColumn',
          table: `${name}.things`,
          column: 'title',
          next: 'expand',
        })
        await migrations.down(0)
        expect(await database().rows(`SHOW TABLES IN ${name}`)).to.deep.equal([])
      } finally {
        await drop()
      }
    })
  },
  { dialects: ['mysql'] },
)

describe('a module that exports DataSources', () => {
  const options = { type: 'postgres' } as const

  it('is refused when they call its tables differently', () => {
    const exports = {
      Contact,
      one: new DataSource(options),
      two: new DataSource({ ...options, entityPrefix: 'x' }),
    }
    for (const read of [tableMigrations, searchTables, schemaComparison])
      expect(() => read(exports)).to.throw(
        TypeError,
        /exports DataSources that differ in schema, entityPrefix/,
      )
  })

  it('may export two that agree, and the same one twice', () => {
    const one = new DataSource(options)
    const exports = { Contact, one, two: one, three: new DataSource({ ...options, poolSize: 2 }) }
    expect(tableMigrations(exports).map(({ table }) => table)).to.deep.equal(['contacts'])
  })
})
