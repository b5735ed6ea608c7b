import { expect } from 'chai'
import {
  Column,
  type DataSource,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
} from 'typeorm'
import { ProtoField, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { ErrNotFound } from '../../../lib/errors.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { databases, describeOn, openWithTables } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { asTenant, inAcme } from '../repository/subject.js'

@Resource({ existing: true, naming: 'typeorm' })
@Entity('together_boxes')
@TenantScoped({ column: 'org' })
@SoftDeletable()
class TogetherBox {
  @PrimaryColumn({ type: 'varchar', length: 40 }) id!: string
  @Column({ type: 'varchar', length: 40 }) org!: string
  @DeleteDateColumn() @ProtoField('delete_time') deletedAt?: Date
}

@Resource({ existing: true, naming: 'typeorm' })
@Entity('together_things')
@TenantScoped({ column: 'org' })
@SoftDeletable()
class TogetherThing {
  @PrimaryColumn({ type: 'varchar', length: 40 }) id!: string
  @Column({ type: 'varchar', length: 40 }) org!: string
  @Column({ type: 'varchar', length: 40 }) boxId!: string
  @ManyToOne(() => TogetherBox, { onDelete: 'CASCADE' }) @JoinColumn({ name: 'boxId' }) box?: TogetherBox
  @DeleteDateColumn() @ProtoField('delete_time') deletedAt?: Date
}

const NOW = new Date('2026-01-02T03:04:05.678Z')

describeOn('rows of existing tables that are deleted together', databases, (backend) => {
  let dataSource: DataSource
  let close: () => Promise<void>
  before(async () => {
    const opened = await openWithTables(backend, [TogetherBox, TogetherThing])
    dataSource = opened.dataSource as DataSource
    close = opened.close
  })
  after(() => close?.())

  const repositories = () => {
    const options = { now: () => NOW }
    return {
      boxes: new TypeormRepository(dataSource, TogetherBox, options),
      things: new TypeormRepository(dataSource, TogetherThing, options),
    }
  }
  const timesOf = async (id: string) =>
    (await dataSource.getRepository(TogetherThing).findOneOrFail({ where: { id }, withDeleted: true }))
      .deletedAt

  it('are restored together, and rows that were deleted earlier stay deleted', async () => {
    const { boxes, things } = repositories()
    await inAcme(async () => {
      await boxes.create({ id: 'b' })
      for (const id of ['early', 'one', 'two']) await things.create({ id, boxId: 'b' })
      await things.delete('early')
      expect(await timesOf('early')).to.deep.equal(NOW)
      await boxes.delete('b')
      await rejection(boxes.get('b'), ErrNotFound)
      for (const id of ['early', 'one', 'two']) await rejection(things.get(id), ErrNotFound)
      expect(await timesOf('one')).to.deep.equal(new Date(NOW.getTime() + 1))
      await boxes.undelete('b')
      expect((await things.list({ orderBy: 'id' })).items.map(({ id }) => id)).to.deep.equal(['one', 'two'])
      await rejection(things.get('early'), ErrNotFound)
    })
  })

  it("come back within their tenant, whatever was deleted at the same time in another's", async () => {
    const { boxes, things } = repositories()
    await asTenant('globex', async () => {
      await boxes.create({ id: 'theirs' })
      await things.create({ id: 'their-thing', boxId: 'theirs' })
      await boxes.delete('theirs')
    })
    await inAcme(async () => {
      await boxes.create({ id: 'mine' })
      await things.create({ id: 'my-thing', boxId: 'mine' })
      await boxes.delete('mine')
      await boxes.undelete('mine')
      expect((await things.get('my-thing')).boxId).to.equal('mine')
    })
    await asTenant('globex', () => rejection(things.get('their-thing'), ErrNotFound))
    expect(await timesOf('their-thing')).to.not.equal(null)
  })

  it('fails at startup for an Undelete if the times have no milliseconds', async () => {
    const { boxes } = repositories()
    const time = backend.name === 'postgres' ? 'timestamp(0)' : 'datetime'
    if (backend.name.startsWith('sqlite') || backend.name === 'better-sqlite3') return
    await dataSource.query(
      backend.name === 'postgres'
        ? `ALTER TABLE together_things ALTER COLUMN "deletedAt" TYPE ${time}`
        : `ALTER TABLE together_things MODIFY deletedAt ${time} NULL`,
    )
    const { unrestorable = [] } = await boxes.startUpCheck()
    expect(unrestorable.map(({ text }) => text)).to.deep.equal([
      'Undelete of TogetherBox restores rows with the same deletion time, but deletedAt of TogetherThing stores no milliseconds: use a column that stores milliseconds, or remove Undelete from the service',
    ])
  })
})
