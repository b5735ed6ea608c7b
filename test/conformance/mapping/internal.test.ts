import { expect } from 'chai'
import {
  Column,
  type DataSource,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  type Relation,
} from 'typeorm'
import {
  CreateTime,
  Emits,
  ETag,
  Internal,
  ProtoField,
  Resource,
  SoftDeletable,
  TenantScoped,
} from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { backends, describeOn, coalesced, type OpenBackend } from '../../support/databases/backends.js'
import { applyBaseline } from '../../support/databases/baseline.js'
import { rejection } from '../../support/rejection.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'

/** No resource: TypeORM alone knows it. */
@Entity('owners')
class Owner {
  @PrimaryColumn('int') id!: number
  @Column('varchar', { length: 20 }) name!: string
  @OneToMany(() => Boat, (boat) => boat.owner) boats?: Relation<Boat>[]
  @OneToOne(() => Boat, (boat) => boat.skipper) commands?: Relation<Boat>
}

/** Nor is this. */
@Entity('flags')
class Flag {
  @PrimaryColumn('int') id!: number
  @ManyToMany(() => Boat, (boat) => boat.flags) boats?: Relation<Boat>[]
}

@Resource({ type: 'boat' })
@Entity('boats', { comment: 'afloat', orderBy: { title: 'ASC' } })
@TenantScoped()
@SoftDeletable()
@Emits({ include: 'changed' })
@Index('boats_by_price', ['price'])
class Boat {
  @PrimaryColumn({ length: 40, primaryKeyConstraintName: 'pk' }) id!: string
  accountId!: string
  deleteTime?: Date
  @Column({ length: 40, comment: 'its name' }) title!: string
  /** Its key is a field, and TypeORM reads the rest. */
  @Column({ type: 'int', nullable: true }) ownerId?: number
  @Internal()
  @ManyToOne(() => Owner, (owner) => owner.boats, { cascade: true })
  @JoinColumn({ name: 'owner_id' })
  owner?: Relation<Owner>
  @Internal() @OneToOne(() => Owner, (owner) => owner.commands) @JoinColumn() skipper?: Relation<Owner>
  @Internal()
  @ManyToMany(() => Flag, (flag) => flag.boats, { cascade: true })
  @JoinTable()
  flags?: Relation<Flag>[]
  @Internal() @Column('decimal', { precision: 10, scale: 2, default: 7 }) price!: string
  @Internal() @Column('simple-array', { nullable: true }) berths?: string[]
  @Internal() @Column('varchar', { length: 20, default: 'none' }) note!: string
  @Internal()
  @Column({ type: 'int', asExpression: 'owner_id * 2', generatedType: 'STORED', nullable: true })
  twice?: number
  @ProtoField('create_time') @CreateTime() createdAt!: Date
  @ETag() etag!: string
}

const entities = [Boat, Owner, Flag] as const
const asAda = <T>(fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

/** What TypeORM's own migrations would make. */
async function makeTheRest(dataSource: DataSource, isExact: boolean): Promise<void> {
  const text = isExact ? 'varchar(40)' : 'varchar(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin'
  const tables = [
    'CREATE TABLE owners (id int PRIMARY KEY, name varchar(20) NOT NULL)',
    'CREATE TABLE flags (id int PRIMARY KEY)',
  ]
  for (const sql of tables) await dataSource.query(sql)
  const { junctionEntityMetadata } = dataSource.getMetadata(Boat).findRelationWithPropertyPath('flags') ?? {}
  const columns = junctionEntityMetadata?.columns.map(({ databaseName }) => databaseName) ?? []
  const typeOf = (name: string) => (/flag/i.test(name) ? 'int' : text)
  const quote = (name: string) => dataSource.driver.escape(name)
  await dataSource.query(
    `CREATE TABLE ${quote(junctionEntityMetadata?.tableName ?? '')} (${columns.map((name) => `${quote(name)} ${typeOf(name)}`).join(', ')})`,
  )
}

describeOn('what is left to TypeORM', [...backends, ...coalesced], (backend) => {
  let opened: OpenBackend
  let boats: Repository<Boat>
  const memory = new MemoryDatabase()

  before(async () => {
    opened = await backend.open(entities)
    const { dataSource, database } = opened
    if (dataSource === undefined || database === undefined) {
      boats = new (memoryRepositoryOf(Boat))({ database: memory })
      return
    }
    const isMysql = ['mysql', 'mariadb'].includes(dataSource.options.type)
    if (backend.name !== 'sqlite' && backend.name !== 'better-sqlite3')
      await makeTheRest(dataSource, !isMysql)
    await applyBaseline(dataSource)
    await createTables(dataSource, [Boat], backend.name === 'mysql8' ? 'mariadb' : database.dialect.name)
    if (!backend.name.includes('sqlite'))
      await dataSource.query(
        'ALTER TABLE boats ADD CONSTRAINT held FOREIGN KEY (owner_id) REFERENCES owners (id)',
      )
    boats = new (repositoryOf(Boat))(dataSource)
  })
  after(() => opened?.close())

  const manager = () => opened.dataSource?.manager

  it('is not a field, filter, order, mask or event', async () => {
    const { entityFields, columns, relations, writable } = resourceModel(Boat)
    const names = ['id', 'account_id', 'delete_time', 'title', 'owner_id', 'create_time', 'etag']
    expect(entityFields.map(({ proto }) => proto)).to.have.members(names)
    expect([Object.keys(columns), [...writable], relations]).to.deep.equal([
      ['id', 'title', 'owner_id'],
      ['title', 'owner_id'],
      [],
    ])
    await asAda(async () => {
      const made = await boats.create({
        id: 'a',
        title: 'Ark',
        price: '1',
        note: 'mine',
        owner: { id: 9 } as never,
      })
      expect(made).to.not.have.any.keys('price', 'note', 'owner', 'flags')
      for (const name of ['price', 'note', 'owner'])
        await rejection(boats.update('a', { note: 'x' }, [name]), InvalidArgument, /there is no field/)
      await rejection(boats.list({ filter: 'price = 1' }), InvalidArgument, /unknown field/)
      await rejection(boats.list({ orderBy: 'note' }), InvalidArgument, /unknown field/)
    })
  })

  it('has the defaults of its columns, and keeps what TypeORM has written', async () => {
    const typeorm = manager()
    await asAda(async () => {
      if (typeorm === undefined) {
        const { etag } = await boats.update('a', Object.assign(new Boat(), { title: 'Raft' }))
        expect(etag).to.not.equal('')
        return
      }
      const where = { id: 'a' }
      expect(await typeorm.findOneByOrFail(Boat, where)).to.deep.include({
        note: 'none',
        berths: null,
        twice: null,
      })
      const stored = await typeorm.findOneByOrFail(Boat, where)
      stored.owner = Object.assign(new Owner(), { id: 1, name: 'Noah' })
      stored.flags = [Object.assign(new Flag(), { id: 5 })]
      stored.note = 'kept'
      stored.berths = ['x', 'y']
      await typeorm.save(stored)
      await boats.update('a', Object.assign(new Boat(), { title: 'Raft', ownerId: 1 }))
      await boats.update('a', { title: 'Barge' }, ['title'])
      await boats.batchUpdate([{ key: 'a', entity: { title: 'Barque' }, fieldMask: ['title'] }])
      await boats.modify('a', () => ({ title: 'Brig' }))
      await boats.delete('a')
      await boats.undelete('a')
      const relations = { owner: true, flags: true, skipper: true }
      const found = await typeorm.findOneOrFail(Boat, { where, relations })
      expect(found).to.deep.include({ title: 'Brig', note: 'kept', berths: ['x', 'y'], skipper: null })
      expect([found.owner, found.flags]).to.deep.equal([{ id: 1, name: 'Noah' }, [{ id: 5 }]])
      expect(Number(found.twice)).to.equal(2)
      expect(Number(found.price)).to.equal(7)
      const owner = await typeorm.findOneOrFail(Owner, { where: { id: 1 }, relations: { boats: true } })
      expect(owner.boats?.map(({ id }) => id)).to.deep.equal(['a'])
    })
  })

  it('is held by the foreign key, whose violation names the field', async () => {
    if (opened.dataSource === undefined) return
    await asAda(async () => {
      for (const write of [
        () => boats.create({ id: 'b', title: 'b', ownerId: 404 }),
        () => boats.update('a', { ownerId: 404 }, ['owner_id']),
        () => boats.batchUpdate([{ key: 'a', entity: { ownerId: 404 }, fieldMask: ['owner_id'] }]),
      ])
        if (!backend.name.includes('sqlite'))
          await rejection(write(), InvalidArgument, /^owner_id: there is no such owner$/)
      expect((await boats.list({ filter: 'owner_id = 1' })).items.map(({ id }) => id)).to.deep.equal(['a'])
    })
  })

  it('is in the table that a comparison finds as declared', async () => {
    const { dataSource } = opened
    if (dataSource === undefined || !['postgres', 'mariadb'].includes(backend.name)) return
    const live = liveSchemaOf(dataSource)
    expect(await schemaComparison([Boat])(live)).to.deep.equal([])
    await dataSource.query('ALTER TABLE boats DROP COLUMN note')
    expect((await schemaComparison([Boat])(live)).map(({ text }) => text)).to.have.length(1)
  })
})
