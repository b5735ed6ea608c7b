import { expect } from 'chai'
import { BeforeInsert, Column, type DataSource, Entity, Index, PrimaryColumn } from 'typeorm'
import { Resource, SoftDeletable, Tags, TenantScoped } from '../../../decorators/index.js'
import { ErrConflict } from '../../../lib/errors.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { mysql } from '../../../lib/persistence/dialects/mysql.js'
import { postgres } from '../../../lib/persistence/dialects/postgres.js'
import { tableOf } from '../../../lib/persistence/schema/table-of.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { databases, describeOn, openWithTables } from '../../support/databases/backends.js'
import { NoteSchema } from '../../support/gen/specimens_pb.js'
import { file, onEachEngine } from '../../migrations/each-engine.js'
import { migrate } from '../../../lib/migrations/index.js'
import { schemaModel } from '../../../lib/persistence/index.js'
import { rejection } from '../../support/rejection.js'
import { inAcme } from '../../conformance/repository/subject.js'

@Resource()
@Entity('partly_indexed')
@TenantScoped()
@SoftDeletable()
@Index(['code'], { unique: true, where: "state = 'open'" })
@Index('partly_by_state', ['state'], { where: "state <> 'gone'" })
class Partly {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) code!: string
  @Column({ length: 40 }) state!: string
  accountId!: string
  deleteTime?: Date
}

/** TypeORM itself knows such an index on PostgreSQL alone. */
@Resource()
@Entity('gin_indexed')
@TenantScoped()
@Index('gin_by_labels', ['labels'], { type: 'gin' })
class Gin {
  @PrimaryColumn({ length: 40 }) id!: string
  @Tags() labels!: Record<string, string>
  accountId!: string
}

/** A class whose place is left to TypeORM. */
function placedNote(isIndexed: boolean): EntityClass<object> {
  @Resource({ message: NoteSchema, shared: true, type: 'note' })
  @Entity('placed_notes')
  class Placed {
    @PrimaryColumn({ length: 40 }) name!: string
    @Column({ type: 'text' }) text!: string
    @Column() stars!: number
    @Column('point') place!: string
    @BeforeInsert() locate() {}
  }
  if (!isIndexed) return Placed
  Index('placed_by_text', ['text'], { fulltext: true })(Placed)
  Index('placed_by_place', ['place'], { spatial: true })(Placed)
  return Placed
}

@Resource({ shared: true, existing: true })
@Entity('anothers')
@Index(['code'], { unique: true, where: 'size > 1' })
@Index(['code'], { fulltext: true, parser: 'ngram' })
class Another {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) code!: string
}

describe('an index with a condition or a type', () => {
  it('is created as TypeORM does, with the tenant in front of columns that are compared', () => {
    const { indexes } = tableOf(resourceModel(Partly), postgres)
    const [unique, byState] = indexes
    const [byLabels] = tableOf(resourceModel(Gin), postgres).indexes
    expect(unique).to.deep.include({ columns: ['account_id', 'code'], unique: true, where: "state = 'open'" })
    expect(byState).to.deep.include({ name: 'partly_by_state', where: "state <> 'gone'" })
    expect(byLabels).to.deep.include({ columns: ['labels'], method: 'gin' })
    const onMysql = [resourceModel<object>(Partly), resourceModel<object>(Gin)].flatMap(
      (model) => tableOf(model, mysql).indexes,
    )
    expect(onMysql.flatMap(({ where, method }) => where ?? method ?? [])).to.deep.equal([])
  })

  it('is left to the table of another application', () => {
    const { uniques, indexes, internal } = resourceModel(Another)
    expect([uniques, indexes, internal().indexes.map(({ isMade }) => isMade)]).to.deep.equal([
      ...[[], []],
      [false, false],
    ])
  })
})

onEachEngine('a full-text and a spatial index', (database, dialect) => {
  for (const isLater of [false, true])
    it(`are created as TypeORM does in ${isLater ? 'an existing' : 'a new'} table, and are no difference then`, async () => {
      const files: Record<string, string> = {}
      const migrator = () => migrate({ url: database().url, files })
      let at = 1
      const applied = async (entity: EntityClass<object>) => {
        const { expand } = (await migrator().diff(schemaModel([entity]))).changes
        for (const { what, up, down } of expand) Object.assign(files, file(`000${++at}_${what}`, up, down))
        await migrator().up()
        return expand.map(({ up }) => up).join('\n')
      }
      if (isLater) await applied(placedNote(false))
      const text = await applied(placedNote(true))
      for (const word of dialect === 'postgres' ? ['USING gist'] : ['FULLTEXT', 'SPATIAL'])
        expect(text).to.include(word)
      expect(await applied(placedNote(true))).to.equal('')
    })
})

describeOn(
  'a unique index with a condition',
  databases.filter(({ name }) => name !== 'mariadb' && name !== 'mysql8'),
  (backend) => {
    it('holds for the rows that it is about', async () => {
      const entities: EntityClass<object>[] = backend.name === 'postgres' ? [Partly, Gin] : [Partly]
      const { dataSource, close } = await openWithTables(backend, entities)
      const rows = new TypeormRepository(dataSource as DataSource, Partly)
      try {
        await inAcme(async () => {
          await rows.create({ id: 'a', code: 'x', state: 'open' })
          await rows.create({ id: 'b', code: 'x', state: 'shut' })
          await rejection(rows.create({ id: 'c', code: 'x', state: 'open' }), ErrConflict)
          await rejection(rows.update('b', { state: 'open' }, ['state']), ErrConflict)
        })
      } finally {
        await close()
      }
    })
  },
)
