import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Column, type ColumnOptions, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Emits, Resource } from '../../../decorators/index.js'
import { DeclarationError, InvalidArgument } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { increment } from '../../../lib/resource/values/increment.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { backends, databases, describeOn, openWithTables } from '../../support/databases/backends.js'
import { NoteSchema, NoteService } from '../../support/gen/specimens_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { rejection } from '../../support/rejection.js'
import { inAcme } from '../repository/subject.js'

/** A value of the application's own. */
class Level {
  constructor(readonly rank: number) {}
}

const hex = {
  to: (text: string | undefined) => text && Buffer.from(text).toString('hex'),
  from: (stored: string | null) => stored && Buffer.from(stored, 'hex').toString(),
}
const twice = {
  to: (text: string) => text && `${text}${text}`,
  from: (text: string) => text?.slice(text.length / 2),
}

@Resource({ message: NoteSchema, type: 'note', shared: true })
@Entity('transformed_notes')
@Emits()
class Transformed {
  @PrimaryColumn({ length: 40 }) name!: string
  @Column({ length: 200, transformer: [hex, twice] }) text!: string
  @Column({ type: 'varchar', length: 20, transformer: { to: String, from: Number } }) stars!: number
  @Column({
    type: 'bigint',
    nullable: true,
    transformer: {
      to: (level: Level | undefined) => level?.rank,
      from: (stored: string | null) => (stored === null ? new Level(0) : new Level(Number(stored))),
    },
  })
  level?: Level
}

const opened = async <E extends object>(backend: (typeof backends)[number], entity: EntityClass<E>) => {
  const { dataSource, close } = await openWithTables(backend, [entity])
  if (dataSource !== undefined) await applyBaseline(dataSource)
  const rows =
    dataSource === undefined ? new MemoryRepository(entity) : new TypeormRepository(dataSource, entity)
  return { rows: rows as unknown as Repository<E>, dataSource, close }
}

describeOn('a column with a transformer', backends, (backend) => {
  it('is written and read by it, and is in no filter', async () => {
    const { rows, dataSource, close } = await opened(backend, Transformed)
    try {
      await inAcme(async () => {
        const made = await rows.create({ name: 'a', text: 'first', stars: 3, level: new Level(7) })
        expect(made).to.deep.include({ text: 'first', stars: 3, level: new Level(7) })
        expect(await rows.get('a')).to.deep.equal(made)
        expect((await rows.create({ name: 'b' })).level).to.deep.equal(new Level(0))
        expect((await rows.update('a', { text: 'second' }, ['text'])).text).to.equal('second')
        const whole = Object.assign(new Transformed(), { name: 'a', text: 'third', stars: 4 })
        expect(await rows.update('a', whole)).to.deep.include({
          text: 'third',
          stars: 4,
          level: new Level(7),
        })
        const items = [{ key: 'b', entity: { stars: 5 }, fieldMask: ['stars'] as const }]
        expect((await rows.batchUpdate(items))[0]?.stars).to.equal(5)
        expect((await rows.list({ orderBy: 'name' })).items.map(({ stars }) => stars)).to.deep.equal([4, 5])
        await rejection(rows.list({ filter: 'text = "third"' }), InvalidArgument)
        await rejection(rows.list({ orderBy: 'stars' }), InvalidArgument)
        await rejection(rows.list({}, { under: filter`stars = ${4}` }), Error)
        await rejection(rows.update('a', { stars: increment(1) as never }, ['stars']), TypeError)
        await rejection(rows.update('a', { text: 'x'.repeat(51) }, ['text']), InvalidArgument, 'text')
        await rejection(rows.update('a', { stars: 1.5 }, ['stars']), InvalidArgument, 'stars')
        if (dataSource === undefined) return
        const [stored] = await dataSource.query<Record<string, string>[]>(
          `SELECT text, stars, level FROM transformed_notes WHERE name = 'a'`,
        )
        const text = Buffer.from('third').toString('hex')
        expect({ ...stored, level: String(stored?.['level']) }).to.deep.equal({
          ...{ text: `${text}${text}`, stars: '4', level: '7' },
        })
        const manager = dataSource.getRepository(Transformed)
        expect(await manager.findOneByOrFail({ name: 'a' })).to.deep.include({
          text: 'third',
          level: new Level(7),
        })
        await manager.save(Object.assign(new Transformed(), { name: 'c', text: 'theirs', stars: 9 }))
        expect(await rows.get('c')).to.deep.include({ text: 'theirs', stars: 9, level: new Level(0) })
      })
    } finally {
      await close()
    }
  })
})

const { output: message } = altered(NoteService, (proto) => {
  proto.addField('Note', 'flags', Type.BOOL)
}).method.getNote

@Resource({ message, type: 'note', shared: true })
@Entity('filled_notes')
@Emits()
class Filled {
  @PrimaryColumn({ length: 40 }) name!: string
  @Column({ type: 'varchar', length: 40, default: () => "'new'" }) text!: string
  @Column({ insert: false, default: 7 }) stars!: number
  @Column({ update: false }) flags!: boolean
  @Column({ type: Date, default: () => 'CURRENT_TIMESTAMP' }) seenAt!: Date
}

describeOn('columns that the table fills, or that are written once', databases, (backend) => {
  it('hold what the table generates, and are never written', async () => {
    const { rows, dataSource, close } = await opened(backend, Filled)
    const events = async () => {
      const text = 'SELECT payload FROM outbox ORDER BY position'
      const found = await (dataSource as DataSource).query<{ payload: Buffer }[]>(text)
      return found.map(({ payload }) => Buffer.from(payload).toString())
    }
    try {
      await inAcme(async () => {
        const made = await rows.create({ name: 'a', stars: 3, flags: true })
        expect(made).to.include({ text: 'new', stars: 7, flags: true })
        expect(made.seenAt).to.be.instanceOf(Date)
        expect(await rows.get('a')).to.deep.equal(made)
        const seenAt = new Date('2026-01-02T03:04:05.678Z')
        expect(await rows.create({ name: 'b', text: 'given', seenAt })).to.deep.include({
          text: 'given',
          seenAt,
        })
        const many = await Promise.all(['c', 'd'].map((name) => rows.create({ name })))
        expect(many.map(({ text, stars }) => [text, stars])).to.deep.equal([
          ['new', 7],
          ['new', 7],
        ])
        expect((await rows.update('a', { stars: 4 }, ['stars'])).stars).to.equal(4)
        await rejection(rows.update('a', { flags: false }, ['flags']), InvalidArgument, 'set at create')
        const outputOnly = { outputOnly: true }
        await rejection(rows.update('a', { flags: false }, ['flags'], outputOnly), InvalidArgument)
        const whole = Object.assign(new Filled(), { name: 'a', text: 'x', stars: 1, flags: false })
        expect(await rows.update('a', whole)).to.deep.include({
          text: 'x',
          stars: 1,
          flags: true,
          seenAt: made.seenAt,
        })
        await rows.delete('b')
        expect((await events())[0]).to.match(/"text": ?"new"/)
      })
    } finally {
      await close()
    }
  })

  it('leave values that a client does not set to the table', () => {
    const { fromMessage, leaveToDefaults, required } = resourceModel(Filled)
    const entity = fromMessage({
      $typeName: message.typeName,
      name: 'a',
      text: '',
      stars: 0,
      flags: false,
    } as never)
    leaveToDefaults(entity)
    expect(entity).to.include({ text: undefined, stars: undefined, flags: false })
    expect(required).to.deep.equal([])
  })

  it('fail in memory, which does not have a table', () => {
    expect(() => new MemoryRepository(Filled)).to.throw(
      DeclarationError,
      /text is declared as filled by the table/,
    )
  })
})

@Resource({ message: NoteSchema, type: 'note', shared: true })
@Entity('stamped_notes')
class Stamped {
  @PrimaryColumn({ length: 40 }) name!: string
  @Column() text!: string
  @Column() stars!: number
  @Column({ type: Date, nullable: true, onUpdate: 'CURRENT_TIMESTAMP(6)' }) touchedAt?: Date
}

describeOn('a column with onUpdate', databases, (backend) => {
  it('is set by tables of MySQL, and by no others', async () => {
    const { rows, close } = await opened(backend, Stamped)
    const isMysql = backend.name === 'mariadb' || backend.name === 'mysql8'
    try {
      await inAcme(async () => {
        expect((await rows.create({ name: 'a' })).touchedAt).to.equal(undefined)
        const { touchedAt } = await rows.update('a', { stars: 1 }, ['stars'])
        expect(touchedAt instanceof Date).to.equal(isMysql)
        expect((await rows.get('a')).touchedAt).to.deep.equal(touchedAt)
      })
    } finally {
      await close()
    }
  })
})

const { output: due } = altered(NoteService, (proto) => {
  proto.addField('Note', 'due_time', Type.MESSAGE, { typeName: '.google.protobuf.Timestamp' })
}).method.getNote

@Resource({ message: due, type: 'note', shared: true })
@Entity('once_notes')
class Once {
  @PrimaryColumn({ length: 40 }) name!: string
  @Column() text!: string
  @Column() stars!: number
  @Column({ update: false }) dueTime!: Date
}

describeOn('a required column that is written once', databases, (backend) => {
  it('is filled by the client of a create', async () => {
    const { rows, close } = await opened(backend, Once)
    try {
      const { unfilled = [] } = await (rows as unknown as TypeormRepository<Once>).startUpCheck()
      expect(unfilled).to.deep.equal([])
      await inAcme(async () => {
        await rejection(rows.create({ name: 'a' }), InvalidArgument, 'due_time')
        const made = await rows.create({ name: 'a', dueTime: new Date(0) })
        expect((await rows.update('a', { text: 'x' }, ['text'])).dueTime).to.deep.equal(made.dueTime)
      })
    } finally {
      await close()
    }
  })
})

/** A resource with one more column. */
function withColumn(
  declare: (prototype: object, entity: EntityClass<object>) => void,
  options: Parameters<typeof Resource>[0] = { shared: true },
): readonly string[] {
  class Widget {}
  PrimaryColumn({ type: String })(Widget.prototype, 'name')
  declare(Widget.prototype, Widget)
  Entity('widgets')(Widget)
  Resource(options)(Widget)
  try {
    resourceModel(Widget)
    return []
  } catch (error) {
    return (error as DeclarationError).problems
  }
}
const column = (property: string, options: ColumnOptions, type: unknown = String) =>
  withColumn((prototype) => {
    Reflect.defineMetadata('design:type', type, prototype, property)
    Column(options)(prototype, property)
  })

describe('a default in the format of a database', () => {
  const cases: readonly (readonly [type: unknown, options: ColumnOptions, held: unknown])[] = [
    [Number, { default: '0' }, 0],
    [Number, { type: 'double', default: '1.5' }, 1.5],
    [Boolean, { default: 'true' }, true],
    [Boolean, { default: 0 }, false],
    [Boolean, { default: '1' }, true],
    [String, { type: 'varchar', default: 5 }, '5'],
    [Date, { default: '2026-01-02 03:04:05' }, new Date('2026-01-02T03:04:05Z')],
    [Date, { default: '2026-01-02T03:04:05+01:00' }, new Date('2026-01-02T02:04:05Z')],
    [Object, { type: 'simple-json', default: '{"a":1}' }, { a: 1 }],
  ]
  for (const [at, [type, options, held]] of cases.entries())
    it(`is ${JSON.stringify(options)} of ${(type as { name: string }).name}`, () => {
      class Any {}
      PrimaryColumn({ type: String })(Any.prototype, 'id')
      Reflect.defineMetadata('design:type', type, Any.prototype, 'value')
      Column(options)(Any.prototype, 'value')
      Entity(`any_${at}`)(Any)
      Resource({ shared: true })(Any)
      expect(resourceModel(Any).byProperty.get('value')?.default?.make()).to.deep.equal(held)
    })

  it('is rejected if it is not a value of the type', () => {
    expect(column('size', { default: 'many' }, Number)).to.have.length(1)
    expect(column('open', { default: 'maybe' }, Boolean)).to.have.length(1)
    expect(column('at', { default: 'someday' }, Date)).to.have.length(1)
  })
})

describe('a column option that contradicts what the column is for', () => {
  const transformer = hex
  const rejected: readonly (readonly [what: string, problems: readonly string[], text: string])[] = [
    [
      'a transformer of a key',
      withColumn((prototype) => void PrimaryColumn({ type: String, transformer })(prototype, 'id')),
      'the column option transformer is not supported on the key',
    ],
    [
      'a transformer of a tenant',
      withColumn((prototype) => void Column({ type: String, transformer })(prototype, 'accountId'), {}),
      'the column option transformer is not supported on the tenant',
    ],
    [
      'a field of the message that is not selected',
      withColumn(
        (prototype) => {
          Column({ type: String, select: false })(prototype, 'text')
          Column({ type: 'int' })(prototype, 'stars')
        },
        { shared: true, message: NoteSchema },
      ),
      'select: false keeps it out of responses',
    ],
    ['a column that nothing fills', column('text', { insert: false }), 'NOT NULL without a default'],
  ]
  for (const [what, problems, text] of rejected)
    it(`fails at startup: ${what}`, () => {
      expect(problems.join('\n')).to.include(text)
    })
})

describe('a column with select: false', () => {
  it('is in no filter and no event of a class without a message', () => {
    @Resource({ shared: true })
    @Entity('hidden_notes')
    @Emits()
    class Hidden {
      @PrimaryColumn() id!: string
      @Column({ select: false }) digest!: string
    }
    const { columns, events } = resourceModel(Hidden)
    expect(Object.keys(columns)).to.deep.equal(['id'])
    expect(events?.toJson({ id: 'a', digest: 'x' })).to.deep.equal({ id: 'a' })
  })
})
