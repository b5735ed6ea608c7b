import { expect } from 'chai'
import { Column, type DataSource, Entity, Index, PrimaryColumn } from 'typeorm'
import { Resource, SoftDeletable, Tags, TenantScoped } from '../../../decorators/index.js'
import { ErrConflict } from '../../../lib/errors.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { mysql } from '../../../lib/persistence/dialects/mysql.js'
import { postgres } from '../../../lib/persistence/dialects/postgres.js'
import { tableOf } from '../../../lib/persistence/schema/table-of.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { databases, describeOn, openWithTables } from '../../support/databases/backends.js'
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
