import { expect } from 'chai'
import { Column, DataSource, DefaultNamingStrategy, Entity, ManyToOne, PrimaryColumn } from 'typeorm'
import { CreateTime, Resource, Searchable, Secret, SoftDeletable } from '../../decorators/index.js'
import { DeclarationError } from '../../lib/errors.js'
import { postgres } from '../../lib/persistence/dialects/postgres.js'
import { tableNameOf } from '../../lib/persistence/schema/table-name-of.js'
import { SqliteDataSource } from '../../lib/persistence/sqlite-data-source.js'
import { type EntityClass, resourceModel } from '../../lib/resource/resource-model.js'
import { ProjectSchema } from '../support/gen/plans_pb.js'

class Snake extends DefaultNamingStrategy {
  override columnName(property: string, custom: string | undefined, prefixes: string[]) {
    const name = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return super.columnName(property, custom ? custom : name, prefixes)
  }
  override joinColumnName(relation: string, referenced: string) {
    return `${relation}_${referenced}`
  }
}

const columnsOf = (entity: EntityClass<object>) => resourceModel(entity).fields.map(({ column }) => column)

describe('the naming of a resource', () => {
  const problemsOf = (entity: EntityClass<object>): readonly string[] => {
    try {
      resourceModel(entity)
      return []
    } catch (error) {
      return (error as DeclarationError).problems
    }
  }

  @Entity()
  class Parent {
    @PrimaryColumn('bigint') code!: bigint
    @Column({ name: 'label_of' }) displayName!: string
    @CreateTime() createTime!: Date
    @Secret() signingKey?: Secret
    deleteTime?: Date
    @ManyToOne(() => Parent) nextOne?: Parent
  }
  SoftDeletable()(Parent)
  Resource({ shared: true, naming: 'typeorm' })(Parent)

  it("is TypeORM's, of columns that decorators add as well", () => {
    expect(columnsOf(Parent)).to.have.members([
      ...['code', 'label_of', 'createTime', 'signingKeyHash', 'signingKeyCipher', 'deleteTime'],
      'nextOneCode',
    ])
    const { byProperty, table } = resourceModel(Parent)
    expect(byProperty.get('nextOneId')).to.include({ kind: 'int64', nullable: true, proto: 'next_one_id' })
    expect(table).to.equal('parent')
  })

  it('is refused where it is none, and beside what names a column as well', () => {
    const named = (naming: unknown) => {
      class Other {
        @PrimaryColumn() id!: string
      }
      Entity()(Other)
      Resource({ shared: true, naming: naming as 'snake' })(Other)
      return problemsOf(Other)
    }
    for (const naming of ['camel', Snake, {}, null])
      expect(named(naming).join()).to.include(`'snake', 'typeorm' or a naming strategy of TypeORM`)
    expect(named(new Snake())).to.deep.equal([])
    class Shaped {
      @PrimaryColumn() id!: string
    }
    Entity()(Shaped)
    Resource({ shared: true, naming: 'typeorm', shape: 'ent' })(Shaped)
    expect(problemsOf(Shaped)).to.deep.equal([
      'shape and naming both name the column of deleteTime: drop shape',
    ])
  })

  it('is refused where a column is shared with a resource that names it in snake_case', () => {
    abstract class Base {
      @PrimaryColumn() id!: string
      @Column() displayName!: string
    }
    class Theirs extends Base {}
    class Ours extends Base {}
    for (const [entity, naming] of [
      [Theirs, 'typeorm'],
      [Ours, 'snake'],
    ] as const) {
      Entity()(entity)
      Resource({ shared: true, naming })(entity)
    }
    expect(columnsOf(Ours)).to.deep.equal(['id', 'display_name'])
    expect(problemsOf(Theirs)).to.have.length(2)
    expect(problemsOf(Theirs)[1]).to.match(/displayName is inherited by a resource that names its columns/)
  })

  it('is refused where TypeORM would make another type of the column', () => {
    class Task {
      @PrimaryColumn() id!: string
      @Column() phase!: number
    }
    Entity()(Task)
    Resource({ shared: true, naming: 'typeorm', message: ProjectSchema })(Task)
    expect(problemsOf(Task)).to.include(
      'phase: TypeORM creates the column of a Number without a type, and phase is enum: write the column\'s type, as in @Column("varchar")',
    )
  })

  it('is refused for raw SQL that names a column without its quotes', () => {
    const searched = (sql: string) => {
      class Page {
        @PrimaryColumn() id!: string
        @Column() bodyText!: string
      }
      Entity()(Page)
      Searchable({ sources: [{ sql: { postgres: sql } }] })(Page)
      Resource({ shared: true, naming: 'typeorm' })(Page)
      return problemsOf(Page).join()
    }
    expect(searched('lower(bodyText)')).to.include(
      'names bodyText without quotes, which PostgreSQL converts to lower case: write "bodyText"',
    )
    expect(searched('lower("bodyText")')).to.equal('')
  })

  describe('and that of a DataSource', () => {
    const said = async (naming: 'typeorm' | Snake | undefined, strategy: Snake | undefined) => {
      class Invoice {
        @PrimaryColumn() id!: string
        @Column() dueDay!: string
        @ManyToOne(() => Invoice) before?: Invoice
      }
      Entity()(Invoice)
      Resource({ shared: true, ...(naming && { naming }) })(Invoice)
      const options = { database: ':memory:', entities: [Invoice] }
      const dataSource = new SqliteDataSource({ ...options, ...(strategy && { namingStrategy: strategy }) })
      const problems = () => {
        try {
          tableNameOf(resourceModel(Invoice), postgres, dataSource)
          return []
        } catch (error) {
          return (error as DeclarationError).problems
        }
      }
      const before = problems()
      await DataSource.prototype.initialize.call(dataSource).catch(() => undefined)
      const after = problems()
      if (dataSource.isInitialized) await dataSource.destroy()
      expect(after).to.deep.equal(before)
      return after
    }

    it('have to agree, before it is initialized as well', async () => {
      expect(await said('typeorm', undefined)).to.deep.equal([])
      expect(await said(new Snake(), new Snake())).to.deep.equal([])
      expect(await said(undefined, new Snake())).to.deep.equal([])
      expect(await said(new Snake(), undefined)).to.deep.equal([
        `dueDay is stored in due_day by the naming of @Resource(), but the DataSource's naming strategy calls it dueDay: give both the same strategy: write @Resource({ naming: 'typeorm' }), or change the namingStrategy of the DataSource; or name only this column with @Column({ name: "dueDay" })`,
        `before is stored in before_id by the naming of @Resource(), but the DataSource's naming strategy calls it beforeId: give both the same strategy: write @Resource({ naming: 'typeorm' }), or change the namingStrategy of the DataSource; or name only this column with @JoinColumn({ name: "beforeId" })`,
      ])
      expect((await said('typeorm', new Snake())).join()).to.match(
        /dueDay is stored in dueDay .* calls it due_day: give both the same strategy: write @Resource\(\{ naming: new Snake\(\) \}\)/,
      )
    })
  })
})
