import { expect } from 'chai'
import { Column, Entity, In, MoreThan, PrimaryColumn, type DataSource, type ObjectLiteral } from 'typeorm'
import {
  CreateTime,
  Credential,
  ETag,
  Expirable,
  Resource,
  Secret,
  SoftDeletable,
  Tags,
  TenantScoped,
  UpdateTime,
} from '../../../decorators/index.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { watchStatements } from '../../../lib/persistence/engines/watch-statements.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { KindName } from '../../../lib/resource/kinds/kind.js'
import { KINDS } from '../../../lib/resource/kinds/kinds.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { inAcme, subjectOptions } from '../../conformance/repository/subject.js'
import { databases, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { Specimen, type SpecimenOrigin } from '../../support/entities/specimen.js'
import { DepositSchema, SpecimenSchema, Specimen_Phase } from '../../support/gen/specimens_pb.js'

/** A specimen whose columns say no type, wherever the class of the property says enough. */
@Resource({ message: SpecimenSchema })
@Entity('untyped_specimens')
@TenantScoped()
@SoftDeletable()
@Expirable()
class Untyped {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column({ nullable: true }) note?: string
  @Column() active!: boolean
  @Column() count!: number
  @Column() weight!: number
  @Column() big!: bigint
  @Column() huge!: bigint
  @Column() ratio!: number
  @Column() score!: number
  @Column() blob!: Uint8Array
  @Column() phase!: Specimen_Phase
  @Column({ nullable: true }) dueTime?: Date
  @Column({ nullable: true }) span?: bigint
  @Column() labels!: string[]
  @Column({ nullable: true }) origin?: SpecimenOrigin
  @Tags() tags!: Record<string, string>
  @Column({ nullable: true }) rank?: number
  @Column() code!: string
  @Column() serial!: string
  @CreateTime() createTime!: Date
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string
  @Secret() webhookSecret?: Secret
  @Credential() apiKey?: Credential
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
}

/** Lists of every scalar, in the column types that hold objects. */
@Resource({ message: DepositSchema, shared: true })
@Entity('spelled_deposits')
class Spelled {
  @PrimaryColumn() id!: string
  @Column({ type: 'json', nullable: true }) place?: object
  @Column('simple-array') labels!: string[]
  @Column('json') depths!: number[]
  @Column() codes!: bigint[]
  @Column('simple-json') grades!: number[]
  @Column('simple-array') checks!: boolean[]
  @Column('json') phases!: Specimen_Phase[]
  @Column() stops!: object[]
  @Column('json') samples!: Uint8Array[]
  @Column('simple-json') ratios!: number[]
  @Column() status!: string
  @Column() priority!: number
  @Column({ nullable: true }) owner?: string
  @Column() open!: boolean
  @Column() summary!: string
}

/** Times fit all databases to the millisecond, and floats are of 32 bits. */
const VALUES: Readonly<
  Record<
    Exclude<KindName, 'uuid' | 'date' | 'decimal'>,
    Readonly<Partial<Record<keyof Specimen, readonly unknown[]>>>
  >
> = {
  string: { title: ['', '\'"\\ ä\u{1F600}%_', 'null', '1'], note: [undefined, '', 'x'.repeat(255)] },
  bool: { active: [false, true] },
  int32: { count: [-(2 ** 31), 0, 2 ** 31 - 1], rank: [undefined, 0, 7] },
  uint32: { weight: [0, 2 ** 32 - 1] },
  int64: { big: [-(2n ** 63n), 0n, 2n ** 53n + 1n, 2n ** 63n - 1n] },
  uint64: { huge: [0n, 2n ** 53n + 1n, 2n ** 63n - 1n] },
  float: { ratio: [0, 1.5, Math.fround(0.1), Math.fround(16777215), Math.fround(-3.4e38)] },
  double: { score: [0, 0.1 + 0.2, 1.5, 5e-324, -1.7976931348623157e308] },
  bytes: { blob: [new Uint8Array(), Uint8Array.from({ length: 256 }, (_, byte) => byte)] },
  enum: { phase: [Specimen_Phase.PHASE_UNSPECIFIED, Specimen_Phase.CUT] },
  timestamp: {
    dueTime: [
      undefined,
      new Date('1000-01-01T00:00:00.000Z'),
      new Date('1969-12-31T23:59:59.999Z'),
      new Date('2026-03-29T01:30:00.007Z'),
      new Date('9999-12-31T23:59:59.999Z'),
    ],
  },
  duration: { span: [undefined, 0n, -1n, 2n ** 63n - 1n] },
  json: {
    labels: [[], ['a', 'b,c', '"', '']],
    origin: [
      undefined,
      { quarry: '', depth: 0n, crew: [] },
      { quarry: 'Q', depth: 2n ** 62n, crew: ['x', '[]'] },
    ],
  },
  tags: { tags: [{}, { 'a"b': '1', 'a.b': '2', '': '4', ä: '6' }] },
}

const LISTS: Readonly<Partial<Record<keyof Spelled, readonly unknown[]>>> = {
  place: [
    undefined,
    {
      city: 'A',
      since: new Date(1),
      seal: new Uint8Array([1]),
      population: 5n,
      names: ['n'],
      marks: { m: '1' },
    },
  ],
  labels: [[], ['a', 'b,c', '']],
  depths: [[], [1, -1]],
  codes: [[], [2n ** 63n - 1n]],
  grades: [[], [0.1 + 0.2, 1]],
  checks: [[], [true, false]],
  phases: [[], [Specimen_Phase.SET, Specimen_Phase.PHASE_UNSPECIFIED]],
  stops: [[], [{ city: 'B', population: 2n ** 60n }]],
  samples: [[], [new Uint8Array([0, 255])]],
  ratios: [[], [0.5]],
}

/** Which values of which property of a class. */
const CASES = [Specimen, Untyped].flatMap((entity) =>
  Object.values(VALUES).flatMap((properties) =>
    Object.entries(properties).map(([property, values]) => ({ entity, property, values })),
  ),
)
const OF_LISTS = Object.entries(LISTS).map(([property, values]) => ({ entity: Spelled, property, values }))

describe('the table of values that TypeORM and repositories exchange', () => {
  it('has a property of every kind', () => {
    const { byProperty } = resourceModel(Specimen)
    for (const [kind, properties] of Object.entries(VALUES))
      for (const property of Object.keys(properties))
        expect(byProperty.get(property)?.kind, property).to.equal(kind)
    // `test/resource/kinds`, `test/conformance/keys` and `…/properties` have resources of their own.
    expect([...Object.keys(VALUES), 'uuid', 'date', 'decimal']).to.have.members(Object.keys(KINDS))
  })
})

/** MySQL sends six digits of a float as text, which is how TypeORM asks. */
const rounded = (value: unknown): number => Math.fround(Number((value as number).toPrecision(6)))

/** No equality of JSON is the same on all databases, and a float is compared as a double. */
const isComparable = (kind: KindName): boolean => !['json', 'tags', 'float'].includes(kind)

/** By default PostgreSQL sends every digit. */
const EVERY_DIGIT = `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET extra_float_digits', current_database()); END $$`

const valuesOf = async (repository: { get(key: string): Promise<object> }, key: string) =>
  (await repository.get(key)) as Readonly<Record<string, unknown>>

describeOn("a column in TypeORM's own manager", databases, (backend) => {
  let opened: OpenBackend & { dataSource: DataSource }
  let count = 0
  const sent: string[] = []
  let stop: () => void

  before(async () => {
    const one = await backend.open([Specimen, Untyped, Spelled])
    opened = one as typeof opened
    if (backend.name === 'postgres') {
      await opened.dataSource.query(EVERY_DIGIT)
      await opened.dataSource.destroy()
      await opened.dataSource.initialize()
    }
    await createTables(
      collated(opened.dataSource, backend),
      [Specimen, Untyped, Spelled],
      opened.database?.dialect.name as 'sqlite',
    )
    stop = watchStatements(opened.dataSource, ({ text }) => sent.push(text))
  })
  after(() => {
    stop()
    return opened.close()
  })

  for (const { entity, property, values } of [...CASES, ...OF_LISTS])
    it(`reads and writes what a repository does: ${property} of ${entity.name}`, () =>
      inAcme(async () => {
        const { dataSource } = opened
        const { manager } = dataSource
        const repository = new (repositoryOf(entity as typeof Specimen))(dataSource, subjectOptions)
        const { table, byProperty, key } = resourceModel<object>(entity)
        const { column, kind } = byProperty.get(property) as { column: string; kind: KindName }
        const isRounded = kind === 'float' && ['mariadb', 'mysql8'].includes(backend.name)
        for (const value of values) {
          const id = `${property} ${++count}`
          const written = { [property]: value }
          await repository.create({ id, code: `c${count}`, ...written })
          const held = (await valuesOf(repository, id))[property]
          const found = (await manager.findOneByOrFail<ObjectLiteral>(entity, { id })) as Record<
            string,
            unknown
          >
          expect(found[property] ?? undefined, 'what a repository wrote').to.deep.equal(
            isRounded ? rounded(held) : held,
          )

          const copy = `${id} copy`
          const { apiKey_public_id: _, ...rest } = found
          await manager.insert<ObjectLiteral>(entity, { ...rest, ...written, id: copy, code: `d${count}` })
          const copied = await valuesOf(repository, copy)
          expect(copied[property], 'what the manager wrote').to.deep.equal(held)
          const [rows] = (await dataSource.query(
            `SELECT COUNT(DISTINCT ${dataSource.driver.escape(column)}) AS one FROM ${table} WHERE ${key.column} IN ('${id}', '${copy}')`,
          )) as [{ one: unknown }]
          expect(Number(rows.one), 'the values that are stored').to.equal(value === undefined ? 0 : 1)

          if (isComparable(kind) && value !== undefined)
            expect(
              await manager.countBy<ObjectLiteral>(entity, { [property]: In([value]), id: In([id, copy]) }),
              'found by the value',
            ).to.equal(2)

          sent.length = 0
          await manager.save(entity, found)
          expect(
            sent.filter((text) => text.startsWith('UPDATE')),
            'saved as it was found',
          ).to.deep.equal([])
        }
        expect((await repository.list({ pageSize: 1000 })).items).to.not.be.empty
      }))

  it('compares a time as a repository does', () =>
    inAcme(async () => {
      const { manager } = opened.dataSource
      const times = ['2026-01-31T10:00:00.000Z', '2026-01-31T10:00:00.001Z', '2026-01-31T23:00:00.000Z']
      const repository = new (repositoryOf(Specimen))(opened.dataSource, subjectOptions)
      for (const time of times)
        await repository.create({ id: time, code: `at ${time}`, serial: 'compared', dueTime: new Date(time) })
      const later = await manager.findBy(Specimen, {
        serial: 'compared',
        dueTime: MoreThan(new Date(times[0] as string)),
      })
      expect(later.map(({ id }) => id)).to.have.members(times.slice(1))
    }))
})
