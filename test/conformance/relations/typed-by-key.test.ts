import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm'
import { Resource, type ResourceOptions } from '../../../decorators/index.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { backends, describeOn, distributed, openWithTables } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { inAcme } from '../repository/subject.js'

interface Row {
  id: string
}

interface Holder extends Row {
  ownerId: string
  deskId: string
  townCode: string
  owner?: Row
}

/** Classes whose references state no type, or another one than the key that they hold. */
function classesOf(naming: NonNullable<ResourceOptions['naming']>) {
  @Resource({ shared: true, naming })
  @Entity('typed_owners')
  class TypedOwner {
    @PrimaryGeneratedColumn('uuid') id!: string
  }
  @Resource({ shared: true, naming })
  @Entity('typed_desks')
  class TypedDesk {
    @PrimaryColumn('bigint') id!: string
  }
  @Resource({ shared: true, naming })
  @Entity('typed_towns')
  class TypedTown {
    @PrimaryColumn({ length: 80 }) id!: string
  }
  @Resource({ shared: true, naming })
  @Entity('typed_holders')
  class TypedHolder {
    @PrimaryGeneratedColumn('uuid') id!: string
    @Column() ownerId!: string
    @ManyToOne('TypedOwner')
    @JoinColumn({ name: naming === 'snake' ? 'owner_id' : 'ownerId' })
    owner?: TypedOwner
    @Column('int') deskId!: string
    @ManyToOne(() => TypedDesk)
    @JoinColumn({ name: naming === 'snake' ? 'desk_id' : 'deskId' })
    desk?: TypedDesk
    @Column({ length: 4 }) townCode!: string
    @ManyToOne('typed_towns')
    @JoinColumn({ name: naming === 'snake' ? 'town_code' : 'townCode' })
    town?: TypedTown
    @ManyToOne(() => TypedOwner, { nullable: true }) @JoinColumn({ name: 'second_id' }) second?: TypedOwner
  }
  return { TypedOwner, TypedDesk, TypedTown, TypedHolder }
}

describe('a reference', () => {
  it('has the type of the key that it holds, whatever its column states', () => {
    for (const naming of ['snake', 'typeorm'] as const) {
      const { byProperty } = resourceModel<object>(classesOf(naming).TypedHolder)
      const kinds = ['ownerId', 'deskId', 'townCode', 'secondId'].map((name) => byProperty.get(name)?.kind)
      expect(kinds).to.deep.equal(['uuid', 'int64', 'string', 'uuid'])
    }
  })
})

describeOn('references that state no type', [...backends, ...distributed], (backend) => {
  for (const naming of ['snake', 'typeorm'] as const)
    it(`works for repositories and TypeORM with the naming ${naming}`, async () => {
      const classes = classesOf(naming)
      const all = Object.values(classes) as EntityClass<object>[]
      const opened = await openWithTables(backend, all)
      const { dataSource } = opened
      const database = new MemoryDatabase()
      const of = <E extends object>(entity: new () => object) =>
        (dataSource === undefined
          ? new MemoryRepository<E>(entity as EntityClass<E>, { database })
          : new TypeormRepository<E>(dataSource, entity as EntityClass<E>)) as unknown as TypeormRepository<E>
      try {
        await inAcme(async () => {
          const owner = await of<Row>(classes.TypedOwner).create({})
          const desk = await of<Row>(classes.TypedDesk).create({ id: '4294967297' })
          const town = await of<Row>(classes.TypedTown).create({ id: 'york' })
          const holders = of<Holder>(classes.TypedHolder)
          const made = await holders.create({ ownerId: owner.id, deskId: desk.id, townCode: town.id })
          expect(made).to.include({ ownerId: owner.id, deskId: '4294967297', townCode: 'york' })
          const { items } = await holders.list({
            filter: `owner_id = "${owner.id}" AND desk_id = 4294967297`,
            ...({ with: ['owner'] } as object),
          })
          expect(items.map((item) => item.owner?.id)).to.deep.equal([owner.id])
          await rejection(
            holders.create({ ownerId: owner.id, deskId: desk.id, townCode: 'a town of a longer name' }),
            InvalidArgument,
          )
          if (dataSource === undefined) return
          const { manager } = dataSource
          const found = await manager.findOneOrFail(classes.TypedHolder, { where: { id: made.id } })
          expect({ ...found, deskId: String(found.deskId) }).to.deep.include({
            ...{ ownerId: owner.id, deskId: '4294967297', townCode: 'york' },
          })
          const theirs = await manager.save(
            manager.create(classes.TypedHolder, { ...found, id: randomUUID() }),
          )
          expect((await holders.get(theirs.id)).ownerId).to.equal(owner.id)
        })
      } finally {
        await opened.close()
      }
    })
})
