import { expect } from 'chai'
import { Column, Entity, Index, PrimaryColumn, VersionColumn } from 'typeorm'
import {
  Default,
  ETag,
  Internal,
  ProtoField,
  Resource,
  SoftDeletable,
  TenantScoped,
} from '../../../decorators/index.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { NoteSchema } from '../../support/gen/specimens_pb.js'
import { problemsOf } from './declarations.js'

class Place {
  @Column('int') row!: number
}

describe('@Internal()', () => {
  it('is refused where a repository has to know the property, and beside what contradicts it', () => {
    @Resource()
    @Entity('things')
    @TenantScoped()
    @SoftDeletable()
    class Thing {
      @Internal() @PrimaryColumn() id!: string
      @PrimaryColumn() key!: string
      accountId!: string
      @Internal() deleteTime?: Date
      @Internal() @ETag() etag!: string
      @Internal() @ProtoField('size') @Column() width!: number
      @Internal() @Default(() => 1) @Column() height!: number
      @Internal() nothing?: string
    }
    expect(problemsOf(Thing)).to.deep.equal([
      'id is @Internal(), and a part of the primary key: remove @Internal(): repositories need the column',
      'deleteTime is @Internal(), and written by the framework: remove @Internal(): repositories need the column',
      'etag is @Internal() and declared as etag: if only TypeORM uses it, keep only @Internal(), otherwise remove @Internal()',
      'width is @Internal() and has a @ProtoField(): if only TypeORM uses it, keep only @Internal(), otherwise remove @Internal()',
      'height is @Internal() and has a @Default(): if only TypeORM uses it, keep only @Internal(), otherwise remove @Internal()',
      'nothing is @Internal() but no TypeORM decorator: a property without a column or a relation is ignored anyway',
    ])
  })

  it('holds no field of the message', () => {
    @Resource({ message: NoteSchema, shared: true })
    @Entity('notes')
    class Noted {
      @PrimaryColumn() name!: string
      @Column() text!: string
      @Internal() @Column() stars!: number
    }
    expect(problemsOf(Noted)).to.deep.equal([
      'specimens.v1.Note has a field stars, but no property stars stores it: remove @Internal() from the property stars, or remove the field',
    ])
  })

  it('takes every column that TypeORM has, and warns of creates that would fail', async () => {
    @Resource({ shared: true })
    @Entity('things')
    @Index(['kind'])
    class Thing {
      @PrimaryColumn() id!: string
      @Internal() @Column('text') kind!: string
      @Internal() @VersionColumn() version!: number
      @Internal() @Column(() => Place) place!: Place
      @Internal() @Column('varchar', { nullable: true, unique: true }) code?: string
    }
    const { columns, indexes } = resourceModel(Thing).internal()
    expect(columns.map(({ column }) => column)).to.deep.equal(['kind', 'version', 'code', 'placeRow'])
    expect(indexes.map(({ columns: of, unique }) => [of, unique])).to.deep.equal([
      [['code'], true],
      [['kind'], false],
    ])
    const dataSource = new SqliteDataSource({ database: ':memory:', entities: [Thing] })
    await dataSource.initialize()
    try {
      const { warnings = [] } = (await new (repositoryOf(Thing))(dataSource).startUpCheck()) ?? {}
      expect(warnings).to.deep.equal(
        ['kind', 'version', 'place'].map(
          (property) =>
            `${property} of Thing is not managed by Ashlar, and its column is NOT NULL without a default: every create of the repository would fail; give the column a default, or make it nullable`,
        ),
      )
    } finally {
      await dataSource.destroy()
    }
  })
})
