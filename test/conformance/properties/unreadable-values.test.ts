import 'reflect-metadata'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Column, type ColumnOptions, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { type Altered } from '../../support/grpc/altered.js'
import { collated } from '../repository/open-subject.js'
import { type Engine, engineOf, serviceWith } from './property-kinds.js'

interface Item {
  id: string
  title: string
  worth?: unknown
}

/** A field, and what its column may hold beside it. */
interface Wider {
  readonly name: string
  readonly type: Type
  readonly typeName?: string
  readonly repeated?: boolean
  readonly designType: unknown
  readonly column: ColumnOptions
  /** The type that the column has in the table. */
  readonly stored: Partial<Record<Engine, string>>
  /** Two values of the field, in their order. */
  readonly held: readonly [unknown, unknown]
  /** True if the field holds the nearest value instead. */
  readonly isRounded?: true
  /** SQL of values that the field cannot hold. */
  readonly unreadable: Partial<Record<Engine, readonly string[]>>
}

/** Stored in a column of numbers on SQLite. */
const OTHER_TYPES = [`''`, `'0x10'`, `'abc'`, `'it''s'`, `x''`, `x'ff00'`]

const WIDE = { postgres: 'bigint', mysql: 'bigint', sqlite: 'integer' } as const
const OVER_32 = ['2147483648', '4294967296', '9007199254740993', '9223372036854775807']

const FIELDS: readonly Wider[] = [
  {
    name: 'an int32',
    type: Type.INT32,
    designType: Number,
    column: { type: 'int' },
    stored: WIDE,
    held: [-1, 7],
    unreadable: {
      postgres: ['-9223372036854775808', '-2147483649', ...OVER_32],
      mysql: ['-9223372036854775808', '-2147483649', ...OVER_32],
      sqlite: ['-9223372036854775808', '-2147483649', '1.5', ...OVER_32, '1e300', ...OTHER_TYPES],
    },
  },
  {
    name: 'a uint32',
    type: Type.UINT32,
    designType: Number,
    column: { type: 'int', unsigned: true },
    stored: WIDE,
    held: [0, 2 ** 32 - 1],
    unreadable: {
      postgres: ['-9223372036854775808', '-1', ...OVER_32.slice(1)],
      mysql: ['-9223372036854775808', '-1', ...OVER_32.slice(1)],
      sqlite: ['-9223372036854775808', '-1', '1.5', ...OVER_32.slice(1), ...OTHER_TYPES],
    },
  },
  {
    name: 'an int64',
    type: Type.INT64,
    designType: BigInt,
    column: { type: 'bigint' },
    stored: { postgres: 'numeric(20)', mysql: 'bigint unsigned', sqlite: 'integer' },
    held: [5n, 2n ** 63n - 1n],
    unreadable: {
      postgres: ['-9223372036854775809', '9223372036854775808', '99999999999999999999'],
      mysql: ['9223372036854775808', '18446744073709551615'],
      sqlite: ['1.5', '9223372036854775808', '1e300', ...OTHER_TYPES],
    },
  },
  {
    name: 'an int64 in a string',
    type: Type.INT64,
    designType: String,
    column: { type: 'bigint' },
    stored: { postgres: 'numeric(20)', mysql: 'bigint unsigned', sqlite: 'integer' },
    held: ['5', '9223372036854775807'],
    unreadable: {
      postgres: ['-9223372036854775809', '9223372036854775808'],
      mysql: ['9223372036854775808', '18446744073709551615'],
      sqlite: ['1.5', '1e300', ...OTHER_TYPES],
    },
  },
  {
    name: 'an int64 in a number',
    type: Type.INT64,
    designType: Number,
    column: { type: 'bigint' },
    stored: { postgres: 'numeric(20)', mysql: 'bigint', sqlite: 'integer' },
    held: [-5, 2 ** 53 - 1],
    unreadable: {
      postgres: ['-9223372036854775809', '9007199254740993', '9223372036854775808'],
      mysql: ['-9007199254740993', '9223372036854775807'],
      sqlite: ['-9007199254740993', '1.5', '9223372036854775807', '1e300', ...OTHER_TYPES],
    },
  },
  {
    name: 'a uint64',
    type: Type.UINT64,
    designType: BigInt,
    column: { type: 'bigint', unsigned: true },
    stored: WIDE,
    held: [0n, 2n ** 63n - 1n],
    unreadable: {
      postgres: ['-9223372036854775808', '-2', '-1'],
      mysql: ['-9223372036854775808', '-2', '-1'],
      sqlite: ['-9223372036854775808', '-1', '1.5', '1e300', ...OTHER_TYPES],
    },
  },
  {
    name: 'a uint64 in a string',
    type: Type.UINT64,
    designType: String,
    column: { type: 'bigint', unsigned: true },
    stored: WIDE,
    held: ['0', '9223372036854775807'],
    unreadable: {
      postgres: ['-9223372036854775808', '-1'],
      mysql: ['-9223372036854775808', '-1'],
      sqlite: ['-9223372036854775808', '-1', '1.5', ...OTHER_TYPES],
    },
  },
  {
    name: 'a uint64 in a number',
    type: Type.UINT64,
    designType: Number,
    column: { type: 'bigint', unsigned: true },
    stored: WIDE,
    held: [0, 2 ** 53 - 1],
    unreadable: {
      postgres: ['-9223372036854775808', '-1', '9007199254740993'],
      mysql: ['-9223372036854775808', '-1', '9007199254740993'],
      sqlite: ['-9223372036854775808', '-1', '1.5', '9007199254740993', ...OTHER_TYPES],
    },
  },
  {
    name: 'a duration',
    type: Type.MESSAGE,
    typeName: '.google.protobuf.Duration',
    designType: BigInt,
    column: { type: 'bigint' },
    stored: { postgres: 'numeric(20)', mysql: 'bigint unsigned', sqlite: 'integer' },
    held: [5n, 2n ** 63n - 1n],
    unreadable: {
      postgres: ['-9223372036854775809', '9223372036854775808'],
      mysql: ['9223372036854775808', '18446744073709551615'],
      sqlite: ['1.5', '1e300', ...OTHER_TYPES],
    },
  },
  {
    name: 'a boolean',
    type: Type.BOOL,
    designType: Boolean,
    column: { type: 'boolean' },
    stored: { mysql: 'tinyint', sqlite: 'boolean' },
    held: [false, true],
    unreadable: {
      mysql: ['-1', '2'],
      sqlite: ['-1', '0.5', '2', '9007199254740993', ...OTHER_TYPES],
    },
  },
  {
    name: 'a double',
    type: Type.DOUBLE,
    designType: Number,
    column: { type: 'double precision' },
    stored: { sqlite: 'double precision' },
    held: [-0.5, 2.25],
    unreadable: { sqlite: OTHER_TYPES },
  },
  {
    name: 'a float',
    type: Type.FLOAT,
    designType: Number,
    column: { type: 'real' },
    stored: { sqlite: 'real' },
    held: [-0.5, 2.25],
    unreadable: { sqlite: OTHER_TYPES },
  },
  {
    name: 'a decimal',
    type: Type.STRING,
    designType: String,
    column: { type: 'decimal', precision: 12, scale: 2 },
    stored: { postgres: 'numeric', mysql: 'decimal(30,5)', sqlite: 'decimal(12,2)' },
    held: ['-0.50', '10.10'],
    unreadable: {
      postgres: [`'NaN'`],
      sqlite: ['1e300', ...OTHER_TYPES],
    },
  },
  {
    name: 'a decimal in a finer column',
    type: Type.STRING,
    designType: String,
    column: { type: 'decimal', precision: 12, scale: 2 },
    stored: { postgres: 'numeric', mysql: 'decimal(30,5)', sqlite: 'decimal(12,2)' },
    held: ['-0.50', '10.10'],
    isRounded: true,
    unreadable: {
      postgres: ['-1.005', '1.005', '1.0051', '12.34567'],
      mysql: ['-1.005', '1.005', '1.0051', '12.34567'],
      sqlite: ['-1.005', '1.005', '1.0051', '12.34567', '0.1 + 0.2'],
    },
  },
  {
    name: 'a decimal in a number',
    type: Type.DOUBLE,
    designType: Number,
    column: { type: 'decimal', precision: 12, scale: 2 },
    stored: { postgres: 'numeric', mysql: 'decimal(30,5)', sqlite: 'decimal(12,2)' },
    held: [-0.5, 10.1],
    unreadable: {
      postgres: ['123456789012345678.5', `'NaN'`],
      mysql: ['123456789012345678.5'],
      sqlite: ['1e300', ...OTHER_TYPES],
    },
  },
  {
    name: 'a time',
    type: Type.MESSAGE,
    typeName: '.google.protobuf.Timestamp',
    designType: Date,
    column: { type: Date, precision: 6 },
    stored: { sqlite: 'datetime(6)' },
    held: [new Date('2024-02-29T01:02:03.004Z'), new Date('2025-01-01T00:00:00.000Z')],
    unreadable: { sqlite: ['-1.5', '1709168523', `''`, `'tomorrow'`, `x''`, `x'ff00'`] },
  },
  {
    name: 'a date',
    type: Type.STRING,
    designType: String,
    column: { type: 'date' },
    stored: { sqlite: 'date' },
    held: ['2024-02-29', '2025-01-01'],
    unreadable: { sqlite: ['-1.5', '1709168523', `''`, `'tomorrow'`, `x''`, `x'ff00'`] },
  },
  {
    name: 'a label',
    type: Type.ENUM,
    typeName: '.plans.v1.Phase',
    designType: String,
    column: { type: 'simple-enum', enum: ['active', 'closed'] },
    stored: { sqlite: 'varchar' },
    held: ['active', 'closed'],
    unreadable: { sqlite: [`''`, `'gone'`, `x''`, `x'ff00'`] },
  },
  {
    name: 'a float in a column of doubles',
    type: Type.FLOAT,
    designType: Number,
    column: { type: 'real' },
    stored: { postgres: 'double precision', sqlite: 'real' },
    held: [-0.5, 2.25],
    isRounded: true,
    unreadable: {
      postgres: ['0.1', '0.1000000001', '1e300', '-1e300', '1e-300'],
      sqlite: ['0.1', '0.1000000001', '1e300', '-1e300', '1e-300'],
    },
  },
  {
    name: 'bytes',
    type: Type.BYTES,
    designType: Uint8Array,
    column: { type: 'blob' },
    stored: { sqlite: 'blob' },
    held: [Uint8Array.of(1), Uint8Array.of(2)],
    unreadable: { sqlite: ['-1.5', '7', `''`, `'abc'`] },
  },
]

interface Opened {
  readonly dataSource: DataSource
  close(): Promise<void>
}

function declared(
  { type, typeName = '', repeated = false, designType, column }: Wider,
  table: string,
): EntityClass<Item> {
  const addTo = (proto: Altered) => proto.addField('Task', 'worth', type, { typeName, repeated })
  const service = serviceWith({ addTo })
  class Task {
    @PrimaryColumn({ length: 40 }) id!: string
    @Column({ length: 40 }) title!: string
    @ETag() etag!: string
    worth!: unknown
    @Column({ length: 40 }) accountId!: string
  }
  Reflect.defineMetadata('design:type', designType, Task.prototype, 'worth')
  Column(column)(Task.prototype, 'worth')
  TenantScoped()(Task)
  Entity(table)(Task)
  Resource({ message: service.method.getTask.output, existing: true, naming: 'typeorm' })(Task)
  return Task
}

/** In their order, a row at a time. @throws if rows are repeated. */
async function pages(items: Repository<Item>, orderBy: string, most: number): Promise<string[]> {
  const ids: string[] = []
  for (let pageToken = ''; ;) {
    const page = await items.list({ orderBy, pageSize: 1, pageToken })
    ids.push(...page.items.map(({ id }) => id))
    if (ids.length > most) throw new Error(`repeats rows: ${ids.join()}`)
    if ((pageToken = page.nextPageToken) === '') return ids
  }
}

describeOn('a stored value that the field cannot hold', databases, (backend) => {
  const engine = engineOf(backend.name)
  const all = FIELDS.flatMap((field, at) => {
    const table = `wider_${at}`
    const unreadable = field.unreadable[engine]
    return unreadable === undefined
      ? []
      : [{ ...field, table, unreadable, entity: declared(field, table), stored: field.stored[engine] ?? '' }]
  })
  let database: Opened
  before(async () => {
    const entities = all.map(({ entity }) => entity)
    const { dataSource, database: of, close } = await backend.open(entities)
    database = { dataSource: dataSource as DataSource, close }
    await createTables(collated(dataSource as DataSource, backend), entities, of?.dialect.name as never)
    if (engine === 'sqlite') return
    for (const { table, stored } of all)
      await dataSource?.query(
        engine === 'postgres'
          ? `ALTER TABLE ${table} ALTER worth TYPE ${stored}`
          : `ALTER TABLE ${table} MODIFY worth ${stored} NOT NULL`,
      )
  })
  after(() => database?.close())

  for (const { name, table, entity, held, unreadable, isRounded } of all)
    describe(`of ${name}`, () => {
      const reports: string[] = []
      const failures: string[] = []
      let items: Repository<Item>
      const run = (test: () => Promise<void>) =>
        new RequestContext({
          principal: { subject: 'ada', tenant: 'acme', groups: [], scopes: [] },
          onFailure: ({ message, isWarning }) => (isWarning === true ? reports : failures).push(message),
        }).run(test)
      const ids = (prefix: string) => unreadable.map((_, at) => `${prefix}${String(at).padStart(2, '0')}`)
      const stored = (id: string) =>
        database.dataSource.query<unknown[]>(
          engine === 'sqlite'
            ? `SELECT typeof(worth) AS type, quote(worth) AS worth FROM ${table} WHERE id = '${id}'`
            : `SELECT CAST(worth AS CHAR(60)) AS worth FROM ${table} WHERE id = '${id}'`,
        )
      before(() =>
        run(async () => {
          items = new (repositoryOf(entity))(database.dataSource) as never
          for (const [at, worth] of held.entries()) await items.create({ id: `h${at}`, title: 't', worth })
          // Two rows of each, so that an order that loses its place repeats or omits one.
          for (const prefix of ['a', 'b'])
            for (const [at, id] of ids(prefix).entries()) {
              await items.create({ id, title: 't', worth: held[0] })
              await database.dataSource.query(
                `UPDATE ${table} SET worth = ${unreadable[at]} WHERE id = '${id}'`,
              )
            }
        }),
      )
      after(() => expect(failures).to.deep.equal([]))

      if (isRounded !== true)
        it('is unset in a list and a get', () =>
          run(async () => {
            const listed = await items.list({ orderBy: 'id', pageSize: 1000 })
            const expected = [...ids('a'), ...ids('b')].map((id) => [id, undefined])
            expect(listed.items.map(({ id, worth }) => [id, worth])).to.deep.equal([
              ...expected,
              ...held.map((worth, at) => [`h${at}`, worth]),
            ])
            for (const id of ids('a')) expect((await items.get(id)).worth, id).to.equal(undefined)
          }))

      if (isRounded !== true)
        it('is reported once for its column', () =>
          expect(reports.filter((text) => text.includes('the column worth'))).to.have.lengthOf(1))

      for (const direction of ['asc', 'desc'])
        it(`has a place in a list that is sorted by it (${direction})`, () =>
          run(async () => {
            const count = unreadable.length * 2 + held.length
            const paged = await pages(items, `worth ${direction}, id ${direction}`, count)
            const whole = await items.list({ orderBy: `worth ${direction}, id ${direction}`, pageSize: 1000 })
            expect(paged).to.deep.equal(whole.items.map(({ id }) => id))
            expect(paged).to.have.lengthOf(count)
            expect(await pages(items, `worth ${direction}`, count)).to.have.members(paged)
          }))

      it('does not match the values of the field', () =>
        run(async () => {
          expect(await items.count({ filter: `id > "h" AND title = "t"` })).to.equal(held.length)
          const listed = await items.list({ pageSize: 1000 })
          expect(listed.items).to.have.lengthOf(unreadable.length * 2 + held.length)
        }))

      if (isRounded !== true)
        it('stays if an update of everything leaves the field unset', () =>
          run(async () => {
            for (const id of ids('b')) {
              const before = await stored(id)
              const read = await items.get(id)
              for (const mask of [undefined, ['*']] as const) {
                read.title += 'u'
                const updated = await items.update(id, read, mask as never)
                expect([updated.title, updated.worth]).to.deep.equal([read.title, undefined])
                expect(await stored(id), id).to.deep.equal(before)
              }
              await items.batchUpdate([{ key: id, entity: read, fieldMask: ['*'] }] as never)
              expect(await stored(id), id).to.deep.equal(before)
              const set = await items.update(id, { ...read, worth: held[1] })
              expect(set.worth).to.deep.equal(held[1])
            }
          }))
    })
})
