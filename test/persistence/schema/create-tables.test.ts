import { expect } from 'chai'
import {
  Column,
  DataSource,
  type DataSourceOptions,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  Unique,
} from 'typeorm'
import { Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { Widget } from '../../../examples/widgets/widget.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { DialectName } from '../../../lib/persistence/dialects/dialect.js'
import type { Statement } from '../../../lib/persistence/engines/executor/executor.js'
import { createTable } from '../../../lib/persistence/schema/create-table.js'
import { tableOf } from '../../../lib/persistence/schema/table-of.js'
import { Statements } from '../../../lib/persistence/sql/statements/statements.js'
import type { Field } from '../../../lib/resource/fields/field.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { liveSchemaOf } from '../comparison/live-schema.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { expectGolden } from '../../support/golden.js'
import { Note, Specimen } from '../../support/entities/specimen.js'
import { listText } from '../../../lib/persistence/sql/statements/list-text.js'
import { quoteTable } from '../../../lib/persistence/dialects/quote-table.js'
import { dialectNamed } from '../../../lib/persistence/dialects/dialect-named.js'

const DIALECTS: readonly DialectName[] = ['postgres', 'mariadb', 'mysql', 'sqlite']
const ENTITIES: readonly EntityClass<object>[] = [Specimen, Note, Widget]

describe('createTable', () => {
  for (const entity of ENTITIES)
    for (const dialect of DIALECTS)
      it(`declares ${entity.name} for ${dialect}`, () => {
        const model = resourceModel(entity)
        const texts = createTable(tableOf(model, dialectNamed(dialect)), dialectNamed(dialect))
        expectGolden(`sql/create-${model.table}.${dialect}.sql`, texts.map((text) => `${text};\n`).join(''))
      })
})

describe('Statements', () => {
  for (const entity of ENTITIES)
    for (const dialect of DIALECTS)
      it(`writes those of ${entity.name} for ${dialect}`, () => {
        const model = resourceModel(entity)
        const texts = Object.entries(statementsOf(entity, dialect)).map(
          ([name, { text }]) => `-- ${name}\n${text};\n`,
        )
        expectGolden(`sql/statements-${model.table}.${dialect}.sql`, texts.join('\n'))
      })
})

describeOn('the tables of resources', databases, (backend) => {
  let opened: OpenBackend
  before(async () => {
    opened = await backend.open([])
  })
  after(() => opened?.close())

  it('can be made, and made again', async () => {
    const dataSource = collated(opened.dataSource!, backend)
    for (let time = 0; time < (backend.name === 'mysql8' ? 1 : 2); time++)
      await createTables(dataSource, ENTITIES, opened.database!.dialect.name)
    for (const { table } of ENTITIES.map((entity) => resourceModel(entity)))
      expect(await dataSource.query(`SELECT * FROM ${table}`)).to.deep.equal([])
  })
})

describeOn(
  'a table that is there',
  databases.filter(({ name }) => name === 'sqlite' || name === 'better-sqlite3'),
  (backend) => {
    let opened: OpenBackend
    beforeEach(async () => {
      opened = await backend.open([])
    })
    afterEach(() => opened?.close())

    const indexes = (): Promise<readonly { name: string; sql: string }[]> =>
      opened.dataSource!.query(
        `SELECT name, sql FROM sqlite_master WHERE name LIKE 'seats%' AND sql IS NOT NULL`,
      )

    it('gets its unique indexes among live rows when it becomes soft-deletable, and keeps its rows', async () => {
      await createTables(opened.dataSource!, [Seat], 'sqlite')
      await opened.dataSource!.query(`INSERT INTO seats (id, number, account_id) VALUES ('1', 'A1', 'acme')`)
      const [before] = (await indexes()).filter(({ sql }) => sql.includes('UNIQUE'))
      expect(before?.sql).to.not.include('WHERE')
      await createTables(opened.dataSource!, [KeptSeat], 'sqlite')
      const [after] = (await indexes()).filter(({ name }) => name === before?.name)
      expect(after?.sql).to.include('WHERE').and.include('deleted_at')
      await opened.dataSource!.query(`UPDATE seats SET deleted_at = 1`)
      await opened.dataSource!.query(`INSERT INTO seats (id, number, account_id) VALUES ('2', 'A1', 'acme')`)
      const made = await indexes()
      await createTables(opened.dataSource!, [KeptSeat], 'sqlite')
      expect(await indexes()).to.deep.equal(made)
    })
  },
)

@Resource()
@Entity('seats')
@TenantScoped()
@Unique(['number'])
class Seat {
  @PrimaryColumn() id!: string
  @Column({ length: 20 }) number!: string
  accountId!: string
}

@Resource()
@Entity('seats')
@TenantScoped()
@Unique(['number'])
@SoftDeletable()
class KeptSeat {
  @PrimaryColumn() id!: string
  @Column({ length: 20 }) number!: string
  deleteTime?: Date
  accountId!: string
}

/** One of each shape. */
function statementsOf(entity: EntityClass<object>, dialect: DialectName): Record<string, Statement> {
  const model = resourceModel(entity)
  const statements = new Statements(model, dialectNamed(dialect))
  const { key, tenant, etag, deleteTime, expireTime, updateTime, credentials, secrets } = model
  const hasTenant = tenant !== undefined
  const serverSet = [etag, updateTime, deleteTime].filter((field): field is Field => field !== undefined)
  const patched = [model.fields.find(({ writable }) => writable) ?? key, ...serverSet]
  const predicate = { tenant: hasTenant }
  const isPostgres = dialect === 'postgres'
  return {
    get: statements.get(predicate),
    'get, deleted or not': statements.get(predicate, { showDeleted: true }),
    ...(etag !== undefined && {
      'get, if it matches': statements.get({ ...predicate, etag: true }),
    }),
    'get, locked': statements.get(predicate, { lock: { lock: 'update', wait: 'nowait' } }),
    'get, locked for share': statements.get(predicate, { lock: { lock: 'share', wait: 'block' } }),
    ...(hasTenant && { 'get, by the system': statements.get({ tenant: false }) }),
    ...(hasTenant && { tenantsOf: statements.tenantsOf() }),
    insert: statements.insert(model.fields),
    update: statements.update(patched, predicate),
    ...(etag !== undefined && {
      'update, if it matches': statements.update(patched, { ...predicate, etag: true }),
    }),
    delete: statements.delete(serverSet, predicate),
    ...(etag !== undefined && {
      'delete, if it matches': statements.delete(serverSet, { ...predicate, etag: true }),
    }),
    ...(deleteTime !== undefined && { undelete: statements.undelete(serverSet, predicate) }),
    batchGet: statements.batchGet(2, predicate),
    ...(isPostgres && { batchUpdate: statements.batchUpdate(patched, [], predicate) }),
    ...(isPostgres && { 'batchUpdate, values shared': statements.batchUpdate([], patched, predicate) }),
    ...(isPostgres && { batchDelete: statements.batchDelete(serverSet, predicate) }),
    ...Object.fromEntries(
      credentials.map(({ publicId }) => [
        `find by ${publicId.column}`,
        statements.find(publicId, { tenant: false }),
      ]),
    ),
    ...Object.fromEntries(
      secrets.map(({ hash }) => [`find by ${hash.column}`, statements.find(hash, predicate)]),
    ),
    ...(expireTime !== undefined && { purge: statements.purge({ tenant: hasTenant }) }),
    list: statements.written(
      listText(
        statements,
        {
          from:
            quoteTable(statements.table, statements.dialect) +
            (deleteTime === undefined ? '' : ` WHERE ${statements.liveCondition()}`),
          related: undefined,
        },
        statements.model.entityFields,
        ' LIMIT 51',
      ),
    ),
  }
}

describeOn(
  'tables of a search path',
  databases.filter(({ name }) => name === 'postgres'),
  (backend) => {
    @Resource({ type: 'shelf' })
    @Entity('shelves')
    @TenantScoped()
    class Shelf {
      @PrimaryColumn({ length: 40 }) id!: string
      @Column({ length: 40 }) title!: string
      @ManyToOne(() => Shelf) @JoinColumn({ name: 'parent_id' }) parent?: Shelf
    }

    it('are made once, and compared where statements find them', async () => {
      const opened = await backend.open([])
      const through = async (path: string) =>
        new DataSource({
          ...opened.dataSource!.options,
          entities: [Shelf],
          extra: { options: `-c search_path=${path}` },
        } as DataSourceOptions).initialize()
      const [later, both] = [await through('later'), await through('first,later')]
      try {
        await opened.dataSource!.query('CREATE SCHEMA first; CREATE SCHEMA later')
        await createTables(later, [Shelf], 'postgres')
        await createTables(both, [Shelf], 'postgres')
        expect(
          await both.query("SELECT schemaname FROM pg_tables WHERE tablename = 'shelves'"),
        ).to.deep.equal([{ schemaname: 'later' }])
        const compare = schemaComparison([Shelf])
        const live = liveSchemaOf(both)
        const kinds = async (named: object) => (await compare({ ...live, ...named })).map(({ kind }) => kind)
        expect(await kinds({})).to.deep.equal([])
        expect(await kinds({ isSchemaNamed: true })).to.deep.equal(['noTable'])
        expect(await kinds({ isSchemaNamed: true, schema: 'later' })).to.deep.equal([])
        await both.query('ALTER TABLE later.shelves ALTER title DROP NOT NULL')
        expect(await kinds({})).to.deep.equal(['otherSchema', 'nullable'])
        await both.query('CREATE TABLE first.shelves (id text)')
        expect(await kinds({})).to.include('primaryKey')
      } finally {
        await later.destroy()
        await both.destroy()
        await opened.close()
      }
    })
  },
)
